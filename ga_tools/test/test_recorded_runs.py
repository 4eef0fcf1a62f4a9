# SPDX-License-Identifier: Apache-2.0
"""`ga report` of runs that were recorded elsewhere."""

import copy
import json
import math
import re

import pytest

from sim_bench import PUMA_URDF, ga

START = [0.0, -1.0, 1.0, 0.0, 0.4, 0.0]


def recorded(error=0.001):
    """A run of 2 s in which every joint is off by `error` while it moves, and then by nothing."""
    time = [k / 100 for k in range(301)]
    q_ref = [[q + 0.1 * math.sin(min(t, 2)) for t in time] for q in START]
    q = [[r + (error if t <= 2 else 0) for r, t in zip(joint, time)] for joint in q_ref]
    return {'id': 'tracking', 'label': 'Tracking', 'duration': 2.0, 'time': time, 'q': q,
            'q_ref': q_ref, 'tau': [[0.5 * (j + 1)] * len(time) for j in range(6)]}


def report(data, folder, code=0):
    file = folder / 'recording.json'
    file.write_text(json.dumps(data))
    done = ga('report', file, '--urdf', PUMA_URDF, '--output', folder / 'report.html')
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_writes_the_table_and_the_page(tmp_path):
    done = report({'recordings': [recorded()], 'title': 'A bag of mine'}, tmp_path)
    row = next(line for line in done.stdout.splitlines() if line.startswith('Tracking'))
    rms, largest = map(float, row.split()[1:3])
    assert rms == pytest.approx(1.0, rel=1e-3) and largest == pytest.approx(1.0, rel=1e-3)
    page = (tmp_path / 'report.html').read_text()
    assert 'A bag of mine' in page and '"frames"' in page


def test_compares_several_runs(tmp_path):
    second = recorded(0.002)
    second.update(id='pid', label='Stock PID')
    done = report({'recordings': [recorded(), second]}, tmp_path)
    rms = {line[:24].strip(): float(line[24:].split()[0]) for line in done.stdout.splitlines()[2:]}
    assert rms == {'Tracking': pytest.approx(1, rel=1e-3), 'Stock PID': pytest.approx(2, rel=1e-3)}


def test_says_with_what_robot_and_command_it_was_made(tmp_path):
    report({'recordings': [recorded()]}, tmp_path)
    page = (tmp_path / 'report.html').read_text()
    made = json.loads(re.search('"made_with":(.*?),"notes"', page).group(1))
    assert made['command'].startswith('ga report ') and 'recording.json' in made['command']
    assert made['robot']['tip'] == 'tool0' and len(made['robot']['sha256']) == 64


def test_finds_the_joints_by_their_names(tmp_path):
    plain, shuffled = recorded(), recorded()
    shuffled['joints'] = [f'joint{j}' for j in range(6, 0, -1)]
    for key in ['q', 'q_ref', 'tau']:
        shuffled[key].reverse()
    tables = [report({'recordings': [run]}, tmp_path).stdout for run in [plain, shuffled]]
    assert tables[0] == tables[1]


@pytest.mark.parametrize('change, named', [
    (lambda run: run.update(joints=['joint1', 'elbow']), 'joint2'),
    (lambda run: run.pop('tau'), 'tau'),
    (lambda run: run.update(q=run['q'][:5]), "'q'"),
    (lambda run: run['q_ref'][2].pop(), "'q_ref'"),
    (lambda run: run.update(time=run['time'][::-1]), 'increasing'),
    (lambda run: run.update(duration=99), 'duration')])
def test_says_what_does_not_fit(tmp_path, change, named):
    run = copy.deepcopy(recorded())
    change(run)
    assert named in report({'recordings': [run]}, tmp_path, code=2).stderr


def test_refuses_a_recording_of_nothing(tmp_path):
    assert 'no run' in report({'recordings': []}, tmp_path, code=2).stderr


def test_asks_for_the_robot_of_a_recording(tmp_path):
    file = tmp_path / 'recording.json'
    file.write_text(json.dumps({'recordings': [recorded()]}))
    done = ga('report', file, cwd=tmp_path)
    assert done.returncode == 2 and '--urdf' in done.stderr
