// SPDX-License-Identifier: Apache-2.0
// How the report was made: command, version, robot, motion, gains of each joint, disturbances unknown to the laws.
'use strict';

const MadeWith = (() => {
  // Up to six digits.
  const number = (value) => (Number.isFinite(value) ? String(Number(value.toPrecision(6))).replace('-', '−') : '–');

  function robotText(robot) {
    const chain = `${robot.base} to ${robot.tip}, ${robot.joints.length} joints`;
    const gravity = robot.gravity ? `; gravity (${robot.gravity.map(number).join(', ')}) m/s²` : '';
    return `${robot.file}: ${chain}${gravity}`;
  }

  // What is given and differs from the described arm; payload, masses, friction and noise always.
  function unknownText(unknown) {
    const { payload, mismatch, stiction, noise } = unknown;
    const com = unknown.payload_com || [];
    const percent = (key, what) => unknown[key] > 0 && `${what} off by up to ${number(100 * unknown[key])} %`;
    return [
      `payload ${number(payload)} kg` + (com.some((x) => x !== 0) ? ` at (${com.map(number).join(', ')}) m` : ''),
      `masses and inertias off by up to ${number(100 * mismatch)} %`,
      unknown.com_error > 0 && `centers of mass off by up to ${number(1e3 * unknown.com_error)} mm`,
      percent('friction_error', 'friction'),
      percent('armature_error', 'rotor inertias'),
      percent('torque_constant_error', 'torque constants'),
      `break-away friction ${number(stiction)} × Coulomb friction`,
      unknown.delay > 0 && `delay ${number(unknown.delay)} cycles`,
      unknown.lag > 0 && `amplifier lag ${number(1e3 * unknown.lag)} ms`,
      unknown.torque_limit < 1 && `motors limited to ${number(100 * unknown.torque_limit)} % of their torque`,
      unknown.elastic_frequency > 0 && `elastic drives with a resonance at ${number(unknown.elastic_frequency)} Hz, `
        + `motor over link inertia ${number(unknown.elastic_ratio)}, damping ${number(unknown.elastic_damping)}`,
      `position noise ${number(1e3 * noise)} mrad`,
    ].filter(Boolean).join(', ');
  }

  // [label, text] for everything that is given.
  function facts(made) {
    const { robot, motion } = made;
    return [
      ['Version', made.version && `ga_tools ${made.version}`],
      ['Robot', robot && robotText(robot)],
      ['SHA-256 of the file', robot && robot.sha256],
      ['Motion', motion && `${motion.name}: ${motion.description}; ${number(motion.duration)} s, then `
        + `${number(motion.settle)} s at rest`],
      ['Loop', made.rate && `${number(made.rate)} Hz, seed ${made.seed}`],
      ['Adaptation', made.adaptation && 'on'],
      ['Friction fed forward', made.friction_feed_forward !== undefined
        && `${number(100 * made.friction_feed_forward)} %`],
      ['Unknown to the laws', made.unknown_to_the_laws && unknownText(made.unknown_to_the_laws)],
    ].filter(([, text]) => text);
  }

  // One row per joint: gains, signals, and the factors of its body's mass and inertia.
  function jointTable(made) {
    const unknown = made.unknown_to_the_laws || {};
    const factors = (condition) => (condition ? unknown.body_factors : null);
    const bodies = factors(unknown.mismatch > 0);
    const perfect = (value) => (value > 0 ? number(value) : 'ideal');
    const columns = [['Joint', (i) => made.gains[i].joint], ['Kp, 1/s²', (i) => number(made.gains[i].kp)],
      ['Kd, 1/s', (i) => number(made.gains[i].kd)], ['Ki, 1/s³', (i) => number(made.gains[i].ki)]];
    if (made.signals) {
      columns.push(['Encoder, counts/rad', (i) => perfect(made.signals[i].counts_per_rad)]);
      columns.push(['Amplifier, N·m/V', (i) => perfect(made.signals[i].torque_per_volt)]);
    }
    if (bodies) {
      columns.push(['Mass ×', (i) => number(bodies[i].mass)]);
      columns.push(['Inertia ×', (i) => number(bodies[i].inertia)]);
    }
    [['friction_error', 'Friction ×', 'friction'], ['armature_error', 'Rotor inertia ×', 'armature'],
      ['torque_constant_error', 'Torque constant ×', 'torque_constant']].forEach(([key, label, factor]) => {
      const errors = factors(unknown[key] > 0);
      if (errors) columns.push([label, (i) => number(errors[i][factor])]);
    });
    if (unknown.com_error > 0) {
      columns.push(['Center of mass +, mm', (i) => unknown.body_factors[i].com.map((x) => number(1e3 * x)).join(', ')]);
    }
    return columns;
  }

  function element(parent, name, text = '') {
    const result = parent.appendChild(document.createElement(name));
    result.textContent = text;
    return result;
  }

  function fill(section, made) {
    section.hidden = !made;
    if (!made) return;
    const [command, list, table] = ['#command', '#made', '#joint-settings'].map((id) => section.querySelector(id));
    command.textContent = made.command || '';
    command.hidden = !made.command;
    facts(made).forEach(([label, text]) => {
      element(list, 'dt', label);
      element(list, 'dd', text);
    });
    table.hidden = !made.gains;
    if (!made.gains) return;
    const columns = jointTable(made);
    const head = element(element(table, 'thead'), 'tr');
    columns.forEach(([label]) => { element(head, 'th', label).scope = 'col'; });
    const body = element(table, 'tbody');
    made.gains.forEach((_, i) => {
      const row = element(body, 'tr');
      columns.forEach(([, text], c) => { element(row, c === 0 ? 'th' : 'td', text(i)); });
    });
  }

  return { fill };
})();
