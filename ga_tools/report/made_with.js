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

  function unknownText({ payload, mismatch, stiction, noise }) {
    return [
      `payload ${number(payload)} kg`,
      `masses and inertias off by up to ${number(100 * mismatch)} %`,
      `break-away friction ${number(stiction)} × Coulomb friction`,
      `position noise ${number(1e3 * noise)} mrad`,
    ].join(', ');
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
      ['Friction fed forward', made.friction_feed_forward !== undefined
        && `${number(100 * made.friction_feed_forward)} %`],
      ['Unknown to the laws', made.unknown_to_the_laws && unknownText(made.unknown_to_the_laws)],
    ].filter(([, text]) => text);
  }

  // One row per joint: gains, signals, and the factors of its body's mass and inertia.
  function jointTable(made) {
    const unknown = made.unknown_to_the_laws || {};
    const bodies = unknown.mismatch > 0 ? unknown.body_factors : null;
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
