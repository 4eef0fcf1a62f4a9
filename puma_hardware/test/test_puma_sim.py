# SPDX-License-Identifier: Apache-2.0
"""`puma sim`, `puma report` and `puma motion`: the commands of `ga` with the PUMA as their arm."""

import json
import math
import os
import pathlib
import re
import subprocess

import pytest

PUMA = os.environ['PUMA_COMMAND']
ROBOTS = pathlib.Path(__file__).parents[2] / 'ga_dynamics/robots'
QUICK = ['--trajectory', 'quintic', '--settle', '0.5', '--law', 'tracking']
JOINTS = [f'joint{i}' for i in range(1, 7)]


def puma(*arguments, cwd=None):
    return subprocess.run([PUMA, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          cwd=cwd)


def test_the_simulated_arm_is_the_puma_and_the_folder_is_puma_sim(tmp_path):
    done = puma('sim', *QUICK, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ['puma_sim']
    data = json.loads((tmp_path / 'puma_sim/data.json').read_text(encoding='utf-8'))
    made = data['made_with']
    assert made['command'] == 'puma sim ' + ' '.join(QUICK)
    assert made['robot']['file'].endswith('puma560.urdf')
    assert (made['robot']['tip'], made['robot']['joints']) == ('tool0', JOINTS)
    assert data['notes'] == []  # every mesh was found


def test_another_arm_is_named_with_urdf(tmp_path):
    done = puma('sim', '--urdf', ROBOTS / 'seven_joints.urdf', '--law', 'tracking', '--settle',
                '0.5', '--output', tmp_path)
    assert done.returncode == 0, done.stderr
    data = json.loads((tmp_path / 'data.json').read_text(encoding='utf-8'))
    assert len(data['robot']['joints']) == 7


def test_a_missing_description_is_named(tmp_path):
    done = puma('sim', '--urdf', 'missing.urdf', cwd=tmp_path)
    assert done.returncode == 2
    assert '--urdf' in done.stderr and 'missing.urdf' in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_motion_prints_the_line_of_the_puma():
    done = puma('motion')
    assert done.returncode == 0, done.stderr
    header, *rows = [line.split(',') for line in done.stdout.splitlines()]
    assert header[:7] == ['t', *JOINTS]
    assert float(rows[-1][0]) == pytest.approx(8.85, abs=0.3)


def test_recorded_runs_are_those_of_the_puma(tmp_path):
    time = [k / 100 for k in range(301)]
    start = [0.0, -1.0, 1.0, 0.0, 0.4, 0.0]
    q = [[angle + 0.1 * math.sin(min(t, 2)) for t in time] for angle in start]
    file = tmp_path / 'recording.json'
    file.write_text(json.dumps({'recordings': [{
        'id': 'tracking', 'label': 'Tracking', 'duration': 2.0, 'time': time, 'q': q, 'q_ref': q,
        'tau': [[0.5] * len(time)] * 6}]}))
    done = puma('report', file, '--output', tmp_path / 'report.html')
    assert done.returncode == 0, done.stderr
    page = (tmp_path / 'report.html').read_text()
    made = json.loads(re.search('"made_with":(.*?),"notes"', page).group(1))
    assert made['command'].startswith('puma report ') and made['robot']['tip'] == 'tool0'


def test_data_that_are_no_report_are_refused_with_the_command_that_writes_them(tmp_path):
    file = tmp_path / 'data.json'
    file.write_text('{}')
    done = puma('report', file, '--output', tmp_path / 'report.html')
    assert done.returncode == 2 and 'puma sim' in done.stderr


@pytest.mark.parametrize('seconds, message', [
    ('0.2', '1.92 rad/s'), ('1e-3', '1.92 rad/s'), ('1e-9', '1.92 rad/s'), ('1e9', '3600 s')])
def test_run_refuses_via_points_that_are_too_fast_or_too_long(tmp_path, seconds, message):
    file = tmp_path / 'via.csv'
    file.write_text(f'0, 0,-1,1,0,0.4,0\n{seconds}, 1,-1,1,0,0.6,0\n')
    done = puma('run', '--fast', '--trajectory', file, cwd=tmp_path)
    assert done.returncode == 2
    assert f'--trajectory {file}: ' in done.stderr and message in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ['via.csv']


@pytest.mark.parametrize('arguments', [['motion'], ['motion', '--help'], ['urdf']])
def test_a_full_disk_is_an_error(arguments):
    with open('/dev/full', 'wb') as full:
        done = subprocess.run([PUMA, *arguments], stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith(b'puma: cannot write to standard output: ')
    assert b'No space left on device' in done.stderr or arguments == ['urdf']  # one large write


def test_a_reader_that_leaves_early_is_no_error():
    done = subprocess.run(['bash', '-c', '"$0" motion --rate 10000 | head -1', PUMA],
                          capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith('t,joint1') and done.stderr == ''


@pytest.mark.parametrize('command', ['sim', 'report'])
def test_help_shows_examples(command):
    done = puma(command, '--help')
    assert done.returncode == 0
    assert f'\n  puma {command}' in done.stdout.split('Example')[1]
