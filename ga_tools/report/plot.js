// SPDX-License-Identifier: Apache-2.0
// One plot over time (dygraphs) with its limits, events, cursor and the values at the cursor.
'use strict';

const Plot = (() => {
  const DECADES = 5; // of a logarithmic axis

  function shortNumber(value) {
    if (value === 0) return '0';
    const size = Math.abs(value);
    return size < 1e-3 || size >= 1e5 ? value.toExponential(0) : String(Number(value.toPrecision(6)));
  }

  // One label and grid line per decade.
  function decadeTicks(from, to) {
    const ticks = [];
    for (let n = Math.ceil(Math.log10(from) - 1e-9); n <= Math.log10(to) + 1e-9; n++) {
      ticks.push({ v: 10 ** n, label: n >= -3 && n <= 3 ? String(Number((10 ** n).toPrecision(1))) : `1e${n}` });
    }
    return ticks;
  }

  class Plot {
    constructor(element, spec, board, withValues) {
      Object.assign(this, { element, spec, board, withValues, drawn: false, limitPixels: [] });
      element.classList.add('plot');
      const head = element.appendChild(document.createElement('div'));
      head.className = 'plot-head';
      const title = head.appendChild(document.createElement('span'));
      title.textContent = spec.unit ? `${spec.label}, ${spec.unit}` : spec.label;
      this.readout = head.appendChild(document.createElement('span'));
      this.readout.className = 'readout';
      this.area = element.appendChild(document.createElement('div'));
      this.area.className = 'plot-area';
      this.cursor = document.createElement('div');
      this.cursor.className = 'cursor';
    }

    logarithmic() {
      return this.board.logErrors && !['position', 'torque'].includes(this.spec.quantity);
    }

    // On a logarithmic axis: magnitudes, cut off DECADES below the largest (less is noise around zero).
    rows() {
      const rows = ReportData.rows(this.spec.series);
      if (!this.logarithmic()) return rows;
      const floor = this.decades()[0] / 10;
      const size = (v) => (v === null ? null : Math.max(Math.abs(v), floor));
      return rows.map(([t, ...values]) => [t, ...values.map(size)]);
    }

    decades() {
      let largest = 0;
      this.spec.series.forEach(({ values }) => values.forEach((v) => {
        if (Math.abs(v) > largest) largest = Math.abs(v);
      }));
      const top = Math.ceil(Math.log10(largest || 1));
      return [10 ** (top - DECADES), 10 ** top];
    }

    // The range of a torque: its limits with a margin, unless the axis fits the data.
    valueRange() {
      const { quantity, limits } = this.spec;
      if (this.logarithmic()) return this.decades();
      if (quantity !== 'torque' || !limits.length || this.board.torqueToData) return null;
      return [1.12 * limits[0], 1.12 * limits[1]];
    }

    seriesOptions() {
      const options = {};
      const labels = ['s'];
      this.spec.series.forEach((series, i) => {
        const label = String(i);
        labels.push(label);
        options[label] = {
          color: this.board.colorOf(series),
          strokePattern: series.reference ? [6, 4] : null,
          strokeWidth: series.reference ? 1.6 : 1.3,
        };
      });
      return { series: options, labels };
    }

    visibility() {
      return this.spec.series.map((series) => this.board.isShown(series));
    }

    draw() {
      const { board } = this;
      this.release();
      const axis = { gridLineColor: board.colors.grid, axisLineColor: board.colors.axis, axisLabelFontSize: 11 };
      this.graph = new Dygraph(this.area, this.rows(), {
        ...this.seriesOptions(),
        visibility: this.visibility(),
        legend: 'never',
        connectSeparatedPoints: true,
        logscale: this.logarithmic(),
        valueRange: this.valueRange(),
        dateWindow: board.window,
        yRangePad: this.logarithmic() ? 0 : 6,
        xRangePad: 0,
        highlightCircleSize: 2.5,
        interactionModel: board.interaction,
        axes: {
          x: { ...axis, axisLabelFormatter: (t) => `${shortNumber(t)} s`, pixelsPerLabel: 60 },
          y: {
            ...axis, axisLabelFormatter: shortNumber, axisLabelWidth: 46, pixelsPerLabel: 26,
            ...(this.logarithmic() ? { ticker: decadeTicks } : {}),
          },
        },
        underlayCallback: (context, area, graph) => this.drawUnderlay(context, area, graph),
        drawCallback: (graph, first) => { if (!first) board.windowMoved(this); this.moveCursor(); },
        highlightCallback: (event, t) => board.hover(t),
        unhighlightCallback: () => board.hover(null),
        clickCallback: (event, t) => board.onSeek(t),
      });
      this.area.appendChild(this.cursor);
      this.drawn = true;
      this.moveCursor();
      this.showValues();
    }

    // Limits with the forbidden side shaded, zero, and the selected run's events.
    drawUnderlay(context, area, graph) {
      const { colors } = this.board;
      const { limits, quantity } = this.spec;
      const horizontal = (y) => { context.moveTo(area.x, y); context.lineTo(area.x + area.w, y); };
      const inside = (y) => y >= area.y && y <= area.y + area.h;
      const pixel = (y) => Math.round(y) + 0.5;
      this.limitPixels = [];
      context.save();
      context.strokeStyle = colors.axis;
      context.lineWidth = 1;
      const zero = this.logarithmic() ? NaN : pixel(graph.toDomYCoord(0));
      context.beginPath();
      if (inside(zero)) horizontal(zero);
      context.stroke();
      limits.forEach((limit, i) => {
        const y = pixel(graph.toDomYCoord(limit));
        if (!inside(y)) return;
        const upper = i === 1;
        context.fillStyle = colors.forbidden;
        context.fillRect(area.x, upper ? area.y : y, area.w, upper ? y - area.y : area.y + area.h - y);
        context.strokeStyle = colors.limit;
        context.setLineDash(quantity === 'torque' ? [] : [2, 3]);
        context.beginPath();
        horizontal(y);
        context.stroke();
        this.limitPixels.push(y);
      });
      context.strokeStyle = colors.axis;
      context.setLineDash([2, 4]);
      this.board.run().events.forEach(({ t }) => {
        const x = pixel(graph.toDomXCoord(t));
        context.beginPath();
        context.moveTo(x, area.y);
        context.lineTo(x, area.y + area.h);
        context.stroke();
      });
      context.restore();
    }

    moveCursor() {
      if (!this.graph) return;
      const { x, y, w, h } = this.graph.getArea();
      const at = this.graph.toDomXCoord(this.board.cursorTime());
      this.cursor.hidden = !(at >= x - 1 && at <= x + w + 1);
      Object.assign(this.cursor.style, { transform: `translateX(${at}px)`, top: `${y}px`, height: `${h}px` });
      this.cursor.classList.toggle('hovering', this.board.hovered !== null);
    }

    showValues() {
      if (!this.withValues) return;
      const t = this.board.cursorTime();
      const visible = this.visibility();
      this.readout.textContent = '';
      const digits = this.spec.quantity === 'torque' ? 1 : 3;
      this.spec.series.forEach((series, i) => {
        if (!visible[i]) return;
        const value = this.readout.appendChild(document.createElement('span'));
        value.textContent = ReportData.text(ReportData.valueAt(series.time, series.values, t), digits);
        value.title = `${series.label} at ${t.toFixed(3)} s`;
        value.style.color = this.board.colorOf(series);
      });
    }

    release() {
      if (this.graph) this.graph.destroy();
      this.graph = null;
    }

    destroy() {
      this.release();
      this.element.remove();
    }
  }

  return Plot;
})();
