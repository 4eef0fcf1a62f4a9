# SPDX-License-Identifier: Apache-2.0
"""`ga experiments` as its user meets it."""

import os
import re
import subprocess

import pytest

GA = os.environ['GA_COMMAND']
NAMES = ['mata-table5', 'mata-line', 'provenzano-table2', 'control-figure4', 'dalembert-figures']


def run(*arguments):
    """From nowhere, with nothing: the command needs no file and no setting."""
    return subprocess.run([GA, 'experiments', *arguments], capture_output=True, text=True, cwd='/',
                          env={}, timeout=200)


@pytest.fixture(scope='module')
def everything():
    result = run()
    assert result.returncode == 0, result.stderr
    assert result.stderr == ''  # progress is for terminals
    return result.stdout


def table(text, name):
    """The part of the output that belongs to one experiment."""
    for part in text.split('\n\n'):
        if f'[{name}]' in part.splitlines()[0]:
            return part
    raise AssertionError(f'{name} is not there')


def row(text, start):
    """The cells of the one row that starts so."""
    rows = [line.strip() for line in text.splitlines() if line.strip().startswith(start)]
    assert len(rows) == 1, (start, rows)
    return [cell.strip() for cell in re.split(r'\s{2,}', rows[0])]


def test_all_run_in_order(everything):
    assert re.findall(r'\[([a-z]+-[a-z0-9]+)\]$', everything, re.M) == NAMES


def test_only_runs_what_it_names():
    result = run('--only', 'dalembert-figures', '--only', 'mata-table5')
    assert result.returncode == 0
    found = re.findall(r'\[([a-z]+-[a-z0-9]+)\]$', result.stdout, re.M)
    assert found == ['mata-table5', 'dalembert-figures']


def test_unknown_name_is_refused_before_anything_runs():
    result = run('--only', 'mata-table5', '--only', 'mata-table9')
    assert result.returncode == 2
    assert result.stdout == ''
    assert 'mata-table9' in result.stderr
    assert all(name in result.stderr for name in NAMES)


def test_list_and_help_name_them():
    for arguments in (['--list'], ['--help']):
        result = run(*arguments)
        assert result.returncode == 0
        assert all(name in result.stdout for name in NAMES)
    assert 'ga experiments --only' in run('--help').stdout


def test_table5_stands_beside_the_paper(everything):
    text = table(everything, 'mata-table5')
    ga = row(text, 'GA, as printed')
    aba = row(text, "ABA, base frame, (UU')/d")
    crba = row(text, 'CRBA, centers of mass')
    assert ga[-1] == '0.534002 / 0.0087611'
    assert aba[-1] == '0.497600 / 0.013240'
    assert crba[-1] == '1.292200 / 0.275063'
    maximum, mean = 1, 2
    assert float(ga[maximum]) < float(crba[maximum])
    assert float(aba[mean]) < float(ga[mean]) < float(crba[mean])
    assert "Not reproduced: GA's average as the smallest" in text


def test_line_of_mata_says_that_its_tables_are_lost(everything):
    text = table(everything, 'mata-line')
    for joint in '123456':
        cells = row(text, joint + ' ')
        assert cells[-1] == 'Table 6, lost'
        assert all(0 < float(cell) < 1e-4 for cell in cells[1:-1])
    for method in ('CRBA', 'ABA', 'GA ', 'GA, this library'):
        cells = row(text, method)
        assert cells[-1] == 'Table 7, lost'
        assert cells[2] == '224' and cells[5] == '350'
        assert all(float(cells[i]) > 0 for i in (3, 6))
    assert 'inertia tensors' in text and 'branch' in text


def test_table2_stands_beside_the_paper(everything):
    text = table(everything, 'provenzano-table2')
    position = row(text, 'position, m: max')
    assert position[-3:] == ['0.00224416', '0.00224506', '0.00224446']
    assert all(1e-6 < float(cell) < 1e-4 for cell in position[1:5])
    times = row(text, "processing time over GA's")
    assert times[-3:] == ['1.02', '1.16', '1']
    ours, paper = row(text, 'acceleration over position')[1:]
    assert float(ours) == pytest.approx(float(paper), rel=0.1)
    assert "Not reproduced: the errors' size" in text
    assert 'inertia tensors' in text and 'without feedback no such arm follows the line' in text


def test_figure4_gives_the_torques_and_what_is_lost(everything):
    text = table(everything, 'control-figure4')
    assert row(text, 'duration')[1:] == ['8.602', '8.6']
    branches = re.findall(r'^ +\+, \+ +(\S+) +-?\d', text, re.M)
    assert branches == ['(+,+,−)', '(+,−,+)', '(−,+,−)', '(−,−,+)']
    assert '-56.52 → -81.96 (-81.96 … -48.22)' in text
    assert 'curves, lost' in text and 'inertia tensors' in text


def test_hydraulic_arm_oscillates_as_linearized(everything):
    text = table(everything, 'dalembert-figures')
    modes = re.findall(r'^ +\d +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +curves, lost$', text, re.M)
    assert len(modes) == 5
    for undamped, linear, damping, seen, seen_damping in (map(float, mode) for mode in modes):
        assert linear < undamped
        assert seen == pytest.approx(linear, rel=0.005)
        assert seen_damping == pytest.approx(damping, rel=0.02)
    assert '3200 N' in text and 'stiffnesses, dampings' in text
