// SPDX-License-Identifier: Apache-2.0
// All plots of the page: their common time, window and runs, and the events that they share.
'use strict';

class PlotBoard {
  constructor(data, { onSeek }) {
    Object.assign(this, { data, onSeek, time: 0, hovered: null, window: null });
    Object.assign(this, { logErrors: false, torqueToData: false });
    this.shown = data.runs.map(() => true);
    this.selected = 0;
    this.plots = [];
    this.queue = [];
    // A finger on a plot scrolls the page; a tap still goes to a time.
    const { touchstart, touchmove, touchend, ...mouse } = Dygraph.defaultInteractionModel;
    this.interaction = { ...mouse, dblclick: () => this.setWindow(null) };
  }

  run() { return this.data.runs[this.selected]; }

  cursorTime() { return this.hovered === null ? this.time : this.hovered; }

  // A reference that all runs share is drawn once, in a color of its own, and stays when runs are hidden.
  isCommon(series) { return series.reference && this.data.sharedReference; }

  isShown(series) { return this.isCommon(series) || this.shown[series.run]; }

  colorOf(series) { return this.isCommon(series) ? this.colors.reference : this.colors.runs[series.run]; }

  add(host, spec, { withValues = false } = {}) {
    const plot = new Plot(host.appendChild(document.createElement('div')), spec, this, withValues);
    this.plots.push(plot);
    return plot;
  }

  remove(plots) {
    this.plots = this.plots.filter((plot) => !plots.includes(plot));
    this.queue = this.queue.filter((plot) => !plots.includes(plot));
    plots.forEach((plot) => plot.destroy());
  }

  // Draws one plot per frame, so that the page stays responsive.
  drawLater(plots = this.plots) {
    const idle = this.queue.length === 0;
    this.queue.push(...plots.filter((plot) => !this.queue.includes(plot)));
    const next = () => {
      const plot = this.queue.shift();
      if (plot) plot.draw();
      if (this.queue.length) setTimeout(next);
    };
    if (idle && this.queue.length) setTimeout(next);
  }

  drawNow(plots = this.plots) {
    this.queue = this.queue.filter((plot) => !plots.includes(plot));
    plots.forEach((plot) => plot.draw());
  }

  setTime(t) {
    this.time = t;
    this.plots.forEach((plot) => { plot.moveCursor(); plot.showValues(); });
  }

  hover(t) {
    this.hovered = t;
    this.setTime(this.time);
  }

  setShown(shown) {
    this.shown = shown;
    this.plots.forEach((plot) => {
      if (plot.graph) plot.graph.updateOptions({ visibility: plot.visibility() });
      plot.showValues();
    });
  }

  setWindow(range) {
    this.moving = true;
    this.window = range;
    this.plots.forEach((plot) => {
      if (plot.graph) plot.graph.updateOptions({ dateWindow: range, valueRange: plot.valueRange() });
    });
    this.moving = false;
  }

  // After a zoom or shift of one plot the others follow, with their own value axes.
  windowMoved(source) {
    if (this.moving || !source.graph) return;
    const [from, to] = source.graph.xAxisRange();
    const [oldFrom, oldTo] = this.window || source.graph.xAxisExtremes();
    if (Math.abs(from - oldFrom) + Math.abs(to - oldTo) < 1e-9) return;
    this.moving = true;
    this.window = [from, to];
    this.plots.forEach((plot) => {
      if (plot !== source && plot.graph) plot.graph.updateOptions({ dateWindow: this.window });
    });
    this.moving = false;
  }
}
