// SPDX-License-Identifier: Apache-2.0
// Reads the report's data (README.md describes the format), checks them and derives what the page shows.
'use strict';

const ReportData = (() => {
  function fail(what) {
    throw new Error(`The report's data cannot be shown: ${what}.`);
  }

  // Values of a diverging run that are not finite are null, and drawn as gaps.
  const numbers = (column) => column.map((value) => (value === null ? NaN : value));

  function checkColumns(run, key, count) {
    const columns = run[key];
    if (!Array.isArray(columns) || columns.length !== count) {
      fail(`run '${run.id}': ${key} needs ${count} columns`);
    }
    columns.forEach((column, i) => {
      if (column.length !== run.time.length) {
        fail(`run '${run.id}': ${key}[${i}] has ${column.length} samples, time has ${run.time.length}`);
      }
    });
    run[key] = columns.map(numbers);
  }

  function checkFrames(run, linkCount) {
    const { time, poses } = run.frames || {};
    if (!time || !poses || !time.length || time.length !== poses.length) {
      fail(`run '${run.id}': frames needs as many poses as times, at least one`);
    }
    const wrong = poses.findIndex((pose) => pose.length !== 7 * linkCount);
    if (wrong >= 0) fail(`run '${run.id}': frames.poses[${wrong}] needs 7 numbers for each of ${linkCount} links`);
  }

  function difference(a, b) {
    return a.map((column, j) => column.map((value, i) => value - b[j][i]));
  }

  // The tool's error in mm: its magnitude and its components along and across the direction of the reference. For a
  // straight line the latter is the distance from the line. At rest the last direction is kept, at the start the next.
  function toolError({ tool, tool_ref: ref }) {
    const count = tool[0].length;
    const tangents = new Array(count);
    for (let i = 0; i < count; i++) {
      const next = Math.min(i + 1, count - 1);
      const step = ref.map((axis) => axis[next] - axis[i]);
      const length = Math.hypot(...step);
      tangents[i] = length > 1e-6 ? step.map((v) => v / length) : tangents[i - 1];
    }
    const first = tangents.find((tangent) => tangent) || [0, 0, 0];
    const result = { distance: [], along: [], across: [] };
    for (let i = 0; i < count; i++) {
      const e = tool.map((axis, k) => 1e3 * (axis[i] - ref[k][i]));
      const t = tangents[i] || first;
      const along = e[0] * t[0] + e[1] * t[1] + e[2] * t[2];
      result.distance.push(Math.hypot(...e));
      result.along.push(along);
      result.across.push(Math.hypot(...e.map((v, k) => v - along * t[k])));
    }
    return result;
  }

  function prepareRun(run, runs, robot) {
    const joints = robot.joints.length;
    if (!Array.isArray(run.time) || !run.time.length) fail(`run '${run.id}' has no times`);
    if (run.reference_run) {
      const other = runs.find((candidate) => candidate.id === run.reference_run);
      if (!other) fail(`run '${run.id}': reference_run '${run.reference_run}' is no run`);
      run.q_ref = other.q_ref;
      run.tool_ref = other.tool_ref;
    }
    ['q', 'q_ref', 'tau'].forEach((key) => checkColumns(run, key, joints));
    ['tool', 'tool_ref'].forEach((key) => checkColumns(run, key, 3));
    run.error = run.error || difference(run.q, run.q_ref);
    checkColumns(run, 'error', joints);
    checkFrames(run, robot.links.length);
    run.events = (run.events || []).slice().sort((a, b) => a.t - b.t);
    run.toolError = toolError(run);
  }

  function parse(text) {
    let data;
    try {
      data = JSON.parse(text);
    } catch (error) {
      fail(`they are no valid JSON (${error.message})`);
    }
    const { robot, runs } = data;
    if (!robot || !robot.joints || !robot.joints.length) fail('robot.joints is missing or empty');
    if (!robot.links) fail('robot.links is missing');
    if (!runs || !runs.length) fail('runs is missing or empty');
    runs.forEach((run) => prepareRun(run, runs, robot));
    data.notes = data.notes || [];
    data.duration = Math.max(...runs.map((run) => run.time[run.time.length - 1]));
    data.sharedReference = runs.every((run) => same(run.time, runs[0].time)
      && run.q_ref.every((column, j) => same(column, runs[0].q_ref[j])));
    return data;
  }

  function same(a, b) {
    return a === b || (a.length === b.length && a.every((value, i) => value === b[i]));
  }

  // The last index whose time is not after t.
  function indexAt(time, t) {
    let low = 0;
    let high = time.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (time[middle] <= t) low = middle; else high = middle - 1;
    }
    return low;
  }

  function valueAt(time, values, t) {
    const i = indexAt(time, t);
    const next = Math.min(i + 1, time.length - 1);
    const span = time[next] - time[i];
    const part = span > 0 ? Math.min(Math.max((t - time[i]) / span, 0), 1) : 0;
    return values[i] + part * (values[next] - values[i]);
  }

  function text(value, digits) {
    return Number.isFinite(value) ? value.toFixed(digits).replace('-', '−') : '–';
  }

  // Rows of [time, value, value, ...] for series {time, values}, which need not share their times.
  function rows(series) {
    const { time } = series[0];
    if (series.every((one) => same(one.time, time))) {
      return time.map((t, i) => [t, ...series.map((one) => one.values[i])]);
    }
    const byTime = new Map();
    series.forEach((one, column) => one.time.forEach((t, i) => {
      if (!byTime.has(t)) byTime.set(t, [t, ...series.map(() => null)]);
      byTime.get(t)[column + 1] = one.values[i];
    }));
    return [...byTime.values()].sort((a, b) => a[0] - b[0]);
  }

  function csv(run, robot) {
    const columns = [['time_s', run.time]];
    [['q', 'q'], ['q_ref', 'q_ref'], ['error', 'error'], ['tau', 'effort']].forEach(([key, name]) => {
      run[key].forEach((column, j) => columns.push([`${robot.joints[j].name}_${name}`, column]));
    });
    [['tool', 'tool'], ['tool_ref', 'tool_ref']].forEach(([key, name]) => {
      run[key].forEach((column, k) => columns.push([`${name}_${'xyz'[k]}_m`, column]));
    });
    const lines = run.time.map((_, i) => columns.map(([, column]) => column[i]).join(','));
    return `${columns.map(([name]) => name).join(',')}\n${lines.join('\n')}\n`;
  }

  return { parse, indexAt, valueAt, text, rows, csv };
})();
