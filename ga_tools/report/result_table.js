// SPDX-License-Identifier: Apache-2.0
// The table of results: one row per run, the best value of each column emphasized.
'use strict';

const ResultTable = (() => {
  // Values are compared as they are shown: equal text is equally good.
  function bestOf(column, rows) {
    const better = column.better || 'lower';
    const values = rows.map((row) => row[column.key]).filter(Number.isFinite).map((v) => Number(shown(v, column)));
    if (better === 'none' || values.length < 2) return NaN;
    const best = better === 'higher' ? Math.max(...values) : Math.min(...values);
    return values.every((v) => v === best) ? NaN : best;
  }

  function shown(value, column) {
    if (value === undefined || value === null) return '–';
    return Number.isFinite(value) ? value.toFixed(column.digits === undefined ? 3 : column.digits) : String(value);
  }

  function element(parent, name, text = '') {
    const result = parent.appendChild(document.createElement(name));
    result.textContent = text;
    return result;
  }

  function fill(table, data, onRun) {
    const { columns, rows } = data.table;
    table.textContent = '';
    const head = element(element(table, 'thead'), 'tr');
    element(head, 'th', 'Law').scope = 'col';
    columns.forEach((column) => {
      const cell = element(head, 'th', column.label);
      cell.scope = 'col';
      if (column.unit) element(cell, 'small', column.unit);
    });
    const best = columns.map((column) => bestOf(column, rows));
    const body = element(table, 'tbody');
    rows.forEach((row) => {
      const line = element(body, 'tr');
      const index = data.runs.findIndex((run) => run.id === row.run);
      const name = element(line, 'th');
      name.scope = 'row';
      if (index >= 0) {
        line.dataset.run = index;
        const button = element(name, 'button', data.runs[index].label);
        button.type = 'button';
        button.title = 'Show this law in the view';
        button.style.setProperty('--run', `var(--run-${index})`);
        button.addEventListener('click', () => onRun(index));
      } else {
        name.textContent = row.run;
      }
      columns.forEach((column, c) => {
        const cell = element(line, 'td', shown(row[column.key], column).replace(/^-/, '−'));
        cell.classList.toggle('best', Number(shown(row[column.key], column)) === best[c]);
        cell.classList.toggle('wrong', column.key === 'state' && row.state !== undefined && row.state !== 'ok');
      });
    });
  }

  return { fill };
})();
