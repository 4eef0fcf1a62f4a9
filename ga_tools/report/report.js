// SPDX-License-Identifier: Apache-2.0
// The page: common time and selected run of the view, the plots, the table and the controls.
'use strict';

(() => {
  const $ = (id) => document.getElementById(id);
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const PALETTE = {
    light: ['#0b63c5', '#c8500a', '#12805c', '#8a2fb0', '#8a6d00', '#b3124a', '#007a8a', '#555f6d'],
    dark: ['#5aa9ff', '#ff9650', '#4fd0a0', '#d08bf0', '#e0c040', '#ff7da3', '#4fd0e0', '#aab4c2'],
  };

  class Page {
    constructor(data) {
      Object.assign(this, { data, time: 0, run: 0, tab: 0, playing: false, speed: 1 });
      this.shown = data.runs.map(() => true);
      this.view = new RobotView($('scene'), data);
      this.board = new PlotBoard(data, { onSeek: (t) => this.seek(t) });
      this.step = this.frameStep();
      this.fillTexts();
      this.fillControls();
      this.makeTabs();
      this.makeLegend();
      this.makeOverview();
      this.applyTheme();
      this.openTab(0);
      this.setRun(0);
      this.setTime(0);
      this.listen();
      this.board.drawLater();
    }

    frameStep() {
      const { time } = this.data.runs[0].frames;
      return time.length > 1 ? time[1] - time[0] : 0.02;
    }

    // --- contents ---

    fillTexts() {
      const { data } = this;
      document.title = data.title || 'Simulation report';
      $('title').textContent = document.title;
      $('subtitle').textContent = data.subtitle || '';
      $('generated').textContent = data.generated || '';
      data.notes.forEach((note) => { $('notes').appendChild(document.createElement('li')).textContent = note; });
      $('notes-section').hidden = data.notes.length === 0;
      if (data.table) ResultTable.fill($('table'), data, (index) => this.setRun(index));
      $('table-section').hidden = !data.table;
      MadeWith.fill($('made-section'), data.made_with);
      const wrong = data.runs.filter((run) => run.verdict && run.verdict.state !== 'ok');
      wrong.forEach(({ label, verdict: { state, time, reason } }) => {
        $('verdicts').appendChild(document.createElement('li')).textContent =
          `${label}: ${state} at ${time.toFixed(3)} s: ${reason}`;
      });
      $('verdicts').hidden = wrong.length === 0;
      $('view-note').hidden = this.view.webgl;
      $('view-note').textContent = 'No WebGL: drawn in 2D, without hidden-surface removal.';
    }

    fillControls() {
      this.data.runs.forEach((run, n) => $('run').add(new Option(run.label, n)));
      $('time').max = this.data.duration;
      $('time').step = 0.001;
    }

    makeTabs() {
      const names = [...this.data.robot.joints.map((joint) => joint.name), 'tool'];
      this.tabs = names.map((name, n) => {
        const tab = $('tabs').appendChild(document.createElement('button'));
        Object.assign(tab, { type: 'button', textContent: name });
        tab.setAttribute('role', 'tab');
        tab.addEventListener('click', () => this.openTab(n));
        return tab;
      });
    }

    makeLegend() {
      this.data.runs.forEach((run, n) => {
        const label = $('legend').appendChild(document.createElement('label'));
        label.style.setProperty('--run', `var(--run-${n})`);
        const box = label.appendChild(document.createElement('input'));
        Object.assign(box, { type: 'checkbox', checked: true });
        box.addEventListener('change', () => this.show(n, box.checked));
        label.append(run.label);
      });
      [['reference', 'reference'], ['limit', 'limit']].forEach(([style, text]) => {
        const key = $('legend').appendChild(document.createElement('span'));
        key.className = `key ${style}`;
        key.textContent = text;
      });
    }

    makeOverview() {
      this.data.robot.joints.forEach((joint, j) => {
        const row = $('overview').appendChild(document.createElement('div'));
        row.className = 'joint-row';
        const name = row.appendChild(document.createElement('h3'));
        name.textContent = joint.name;
        Object.keys(PlotSpecs.QUANTITIES).forEach((quantity) => {
          this.board.add(row, PlotSpecs.ofJoint(this.data, j, quantity));
        });
      });
    }

    openTab(n) {
      this.tab = n;
      this.tabs.forEach((tab, i) => tab.setAttribute('aria-selected', String(i === n)));
      this.board.remove(this.detail || []);
      const joints = this.data.robot.joints.length;
      const specs = n < joints
        ? Object.keys(PlotSpecs.QUANTITIES).map((quantity) => PlotSpecs.ofJoint(this.data, n, quantity))
        : PlotSpecs.TOOL.map((quantity) => PlotSpecs.ofTool(this.data, quantity));
      this.detail = specs.map((spec) => this.board.add($('detail-plots'), spec, { withValues: true }));
      this.board.drawNow(this.detail);
    }

    // --- state ---

    setRun(index) {
      this.run = index;
      this.board.selected = index;
      $('run').value = index;
      this.view.setRun(index);
      document.querySelectorAll('#table tr[data-run]').forEach((row) => {
        row.classList.toggle('selected', Number(row.dataset.run) === index);
      });
      const ticks = $('event-ticks');
      ticks.textContent = '';
      this.data.runs[index].events.forEach(({ t, text }) => {
        const tick = ticks.appendChild(document.createElement('i'));
        tick.style.left = `${100 * t / this.data.duration}%`;
        tick.title = `${t.toFixed(2)} s: ${text}`;
      });
      this.board.plots.forEach((plot) => { if (plot.graph) plot.graph.updateOptions({}); });
      this.setTime(this.time);
    }

    // A touch sends no leave event: the cursor must not stay.
    seek(t) {
      this.board.hover(null);
      this.setTime(t);
    }

    setTime(t) {
      this.time = Math.min(Math.max(t, 0), this.data.duration);
      $('time').value = this.time;
      $('time').style.setProperty('--done', `${100 * this.time / this.data.duration}%`);
      $('clock').textContent = `${this.time.toFixed(2)} / ${this.data.duration.toFixed(2)} s`;
      this.view.setTime(this.time);
      this.board.setTime(this.time);
      const run = this.data.runs[this.run];
      const tool = run.tool.map((axis) => ReportData.text(ReportData.valueAt(run.time, axis, this.time), 4));
      const error = ReportData.valueAt(run.time, run.toolError.distance, this.time);
      $('tool-readout').textContent = `tool  x ${tool[0]}  y ${tool[1]}  z ${tool[2]} m\n`
        + `error ${ReportData.text(error, 3)} mm`;
      const past = run.events.filter((event) => event.t <= this.time);
      const event = past[past.length - 1];
      $('event').textContent = event ? `${event.t.toFixed(2)} s: ${event.text}` : '';
    }

    show(n, shown) {
      this.shown[n] = shown;
      this.view.setShown(this.shown);
      this.board.setShown(this.shown);
    }

    setPlaying(playing) {
      if (playing === this.playing) return;
      this.playing = playing;
      $('play').textContent = playing ? '❚❚' : '▶';
      $('play').setAttribute('aria-label', playing ? 'Pause' : 'Play');
      if (!playing) return;
      this.board.hover(null);
      if (this.time >= this.data.duration) this.setTime(0);
      let before = performance.now();
      const advance = (now) => {
        if (!this.playing) return;
        this.setTime(this.time + this.speed * Math.max(now - before, 0) / 1e3);
        before = now;
        if (this.time >= this.data.duration) this.setPlaying(false);
        else requestAnimationFrame(advance);
      };
      requestAnimationFrame(advance);
    }

    // Canvases take their colors from here, everything else from the style sheet.
    applyTheme(theme = dark.matches ? 'dark' : 'light') {
      const root = document.documentElement;
      root.dataset.theme = theme;
      const runs = this.data.runs.map((run, n) => run.color || PALETTE[theme][n % PALETTE[theme].length]);
      runs.forEach((color, n) => root.style.setProperty(`--run-${n}`, color));
      const style = getComputedStyle(root);
      const color = (name) => style.getPropertyValue(`--${name}`).trim();
      this.view.setColors({
        background: color('scene'), grid: color('scene-grid'), gridStrong: color('scene-grid-strong'),
        reference: color('text'), shadow: Number(color('shadow')), runs });
      this.board.colors = {
        grid: color('plot-grid'), axis: color('plot-axis'), reference: color('muted'), limit: color('limit'),
        forbidden: color('forbidden'), runs };
      this.board.drawNow(this.board.plots.filter((plot) => plot.drawn));
    }

    // --- events ---

    listen() {
      $('run').addEventListener('change', (event) => this.setRun(Number(event.target.value)));
      $('camera').addEventListener('change', (event) => this.view.look(event.target.value));
      $('exaggeration').addEventListener('change', (event) => this.view.setExaggeration(Number(event.target.value)));
      $('speed').addEventListener('change', (event) => { this.speed = Number(event.target.value); });
      $('play').addEventListener('click', () => this.setPlaying(!this.playing));
      $('time').addEventListener('input', (event) => this.setTime(Number(event.target.value)));
      $('error-scale').addEventListener('change', () => this.redraw());
      $('torque-range').addEventListener('change', () => this.redraw());
      $('reset-zoom').addEventListener('click', () => this.board.setWindow(null));
      $('save').addEventListener('click', () => this.save());
      document.addEventListener('keydown', (event) => this.key(event));
      dark.addEventListener('change', () => this.applyTheme());
      window.addEventListener('beforeprint', () => this.print(true));
      window.addEventListener('afterprint', () => this.print(false));
    }

    redraw() {
      this.board.logErrors = $('error-scale').value === 'log';
      this.board.torqueToData = $('torque-range').value === 'data';
      this.board.drawLater();
    }

    key(event) {
      const { target } = event;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const own = target.closest('button, select, summary, input:not([type=range])');
      const step = { ArrowLeft: -this.step, ArrowRight: this.step }[event.key];
      if (event.key === ' ' && !own) this.setPlaying(!this.playing);
      else if (step && !target.closest('select')) this.setTime(this.time + step * (event.shiftKey ? 10 : 1));
      else if (event.key === 'Home' && target === $('time')) this.setTime(0);
      else if (event.key === 'End' && target === $('time')) this.setTime(this.data.duration);
      else return;
      event.preventDefault();
    }

    // On paper: light, as wide as a page (report.css), every plot drawn, and canvases as pictures, because Chromium
    // leaves out what was drawn on a canvas within a clip.
    print(on) {
      document.querySelectorAll('.print-picture').forEach((picture) => picture.remove());
      document.documentElement.toggleAttribute('data-print', on);
      this.applyTheme(on ? 'light' : undefined);
      this.view.resize();
      this.view.render();
      this.board.drawNow();
      if (!on) return;
      document.querySelectorAll('canvas').forEach((canvas) => {
        const picture = new Image(canvas.clientWidth, canvas.clientHeight);
        picture.className = 'print-picture';
        picture.src = canvas.toDataURL();
        canvas.before(picture);
      });
    }

    save() {
      const run = this.data.runs[this.run];
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([ReportData.csv(run, this.data.robot)], { type: 'text/csv' }));
      link.download = `${run.id}.csv`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    }

    // What is shown now, for tests.
    state() {
      const run = this.data.runs[this.run];
      return {
        time: this.time, run: run.id, playing: this.playing, webgl: this.view.webgl,
        tab: this.tabs[this.tab].textContent,
        joints: run.q.map((column) => ReportData.valueAt(run.time, column, this.time)),
        links: this.view.linkPositions(),
        pending: this.board.queue.length,
        plots: this.board.plots.map(({ spec, graph, drawn, limitPixels, withValues }) => ({
          joint: spec.joint, quantity: spec.quantity, series: spec.series.length, detail: withValues, drawn,
          window: graph && graph.xAxisRange(), limits: spec.limits, limitPixels })),
      };
    }
  }

  try {
    const data = ReportData.parse($('data').textContent);
    $('report').hidden = false;
    const page = new Page(data);
    Object.defineProperty(window, 'reportState', { get: () => page.state() });
  } catch (error) {
    $('failure').hidden = false;
    $('failure').textContent = error.message;
    throw error;
  }
})();
