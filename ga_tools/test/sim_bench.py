# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of `ga sim` and `ga motion`. GA_COMMAND names the program."""

import json
import os
import pathlib
import subprocess

GA = os.environ['GA_COMMAND']
SOURCES = pathlib.Path(__file__).parents[2]
ROBOTS = SOURCES / 'ga_dynamics/robots'
PUMA_URDF = SOURCES / 'puma_description/urdf/puma560.urdf'
JOINTS = [f'joint{i}' for i in range(1, 7)]
QUICK = ['--trajectory', 'quintic', '--settle', '0.5']
LABELS = {'integral': 'Tracking with integral', 'tracking': 'Tracking', 'ptp': 'Point to point',
          'hold': 'Gravity hold', 'pd': 'Joint PD, no model',
          'pd-gravity': 'Joint PD with gravity', 'pid': 'Joint PID, no model'}
USUAL = ['integral', 'tracking', 'ptp', 'pd', 'pd-gravity', 'pid']
COLUMNS = ['joint_rms', 'joint_max', 'tool_rms', 'tool_max', 'final', 'hunting', 'torque',
           'chatter', 'saturation', 'model_error', 'oscillation', 'time', 'state']


def ga(*arguments, cwd=None):
    return subprocess.run([GA, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          cwd=cwd)


def rows_of(stdout):
    """The rows of the table by label: the numbers, '-' as None, and the state in words."""
    lines = stdout.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith('law '))
    rows = {}
    for line in lines[begin + 1:]:
        cells = line[24:].split(None, len(COLUMNS) - 1)
        if line.startswith('report: ') or len(cells) != len(COLUMNS) or ': ' in line:
            break
        numbers = [None if cell == '-' else float(cell) for cell in cells[:-1]]
        rows[line[:24].strip()] = [*numbers, cells[-1]]
    return rows


def simulate(folder, *arguments, robot=PUMA_URDF, code=0):
    """Run `ga sim`; return its data, and the rows of its table by label."""
    result = ga('sim', robot, *arguments, '--output', folder)
    assert result.returncode == code, result.stdout + result.stderr
    assert result.stderr == ''  # the progress bar is for terminals
    data = json.loads((folder / 'data.json').read_text(encoding='utf-8'))
    assert result.stdout.splitlines()[-1] == f'report: {folder / "report.html"}'
    return data, rows_of(result.stdout)


def via(tmp_path, *lines):
    file = tmp_path / 'via.csv'
    file.write_text(''.join(line + '\n' for line in lines))
    return file
