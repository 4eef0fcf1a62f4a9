// SPDX-License-Identifier: Apache-2.0
// The contents of each plot: quantity, unit, limits and series.
'use strict';

const PlotSpecs = (() => {
  const QUANTITIES = { position: 'Position', error: 'Error', torque: 'Torque' };
  const TOOL = [
    { key: 'distance', label: 'Tool error' },
    { key: 'across', label: 'Tool error across the path' },
    { key: 'along', label: 'Tool error along the path' },
  ];

  const rotary = (joint) => (joint.unit || 'rad') === 'rad';

  // The contents of one plot of a joint. Errors are in mrad and mm.
  function ofJoint(data, jointIndex, quantity) {
    const joint = data.robot.joints[jointIndex];
    const spec = { joint: jointIndex, quantity, label: QUANTITIES[quantity], limits: [], series: [] };
    const add = (run, n, column, reference) => spec.series.push({
      run: n, reference, label: `${run.label}${reference ? ', reference' : ''}`, time: run.time, values: column });
    if (quantity === 'position') {
      spec.unit = joint.unit || 'rad';
      if (Number.isFinite(joint.lower) && Number.isFinite(joint.upper)) spec.limits = [joint.lower, joint.upper];
      const references = data.sharedReference ? data.runs.slice(0, 1) : data.runs;
      data.runs.forEach((run, n) => add(run, n, run.q[jointIndex], false));
      references.forEach((run, n) => add(run, n, run.q_ref[jointIndex], true));
    } else if (quantity === 'error') {
      spec.unit = rotary(joint) ? 'mrad' : 'mm';
      data.runs.forEach((run, n) => add(run, n, run.error[jointIndex].map((v) => 1e3 * v), false));
    } else {
      spec.unit = rotary(joint) ? 'N·m' : 'N';
      if (Number.isFinite(joint.effort_limit)) spec.limits = [-joint.effort_limit, joint.effort_limit];
      data.runs.forEach((run, n) => add(run, n, run.tau[jointIndex], false));
    }
    return spec;
  }

  function ofTool(data, { key, label }) {
    return {
      joint: null, quantity: key, label, unit: 'mm', limits: [],
      series: data.runs.map((run, n) => ({
        run: n, reference: false, label: run.label, time: run.time, values: run.toolError[key] })),
    };
  }

  return { QUANTITIES, TOOL, ofJoint, ofTool };
})();
