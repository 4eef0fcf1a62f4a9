# SPDX-License-Identifier: Apache-2.0
"""The program bench_laws: its short form against the committed baseline, its files and messages."""

import json
import os
import pathlib
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
PUMA_URDF = HERE.parents[1] / 'puma_description/urdf/puma560.urdf'
BASELINE = HERE / 'law_score.json'
QUICK = ['--rows', '5', '--laws', 'tracking,pd']


def bench_laws(*arguments):
    return subprocess.run([os.environ['BENCH_LAWS'], str(PUMA_URDF), *map(str, arguments)],
                          capture_output=True, text=True, timeout=570)


def test_no_figure_is_worse_than_the_baseline_by_a_quarter():
    result = bench_laws('--short', '--check', BASELINE)
    assert result.returncode == 0, result.stdout + result.stderr
    assert 'no figure is worse' in result.stdout


def test_a_figure_that_is_worse_by_a_quarter_is_named(tmp_path):
    score = json.loads(BASELINE.read_text())
    row = next(row for row in score['rows'] if row['id'] == '5')
    row['laws']['pd']['rms'] /= 1.3
    better = tmp_path / 'better.json'
    better.write_text(json.dumps(score))
    result = bench_laws(*QUICK, '--check', better)
    assert result.returncode == 1
    worse = [line for line in result.stdout.splitlines() if line.startswith('worse: ')]
    assert len(worse) == 1 and 'row 5' in worse[0] and 'pd: rms' in worse[0]


def test_writes_json_and_one_self_contained_page(tmp_path):
    files = tmp_path / 'score.json', tmp_path / 'score.html'
    result = bench_laws(*QUICK, '--json', files[0], '--html', files[1])
    assert result.returncode == 0 and result.stderr == ''
    score = json.loads(files[0].read_text())
    assert [row['id'] for row in score['rows']] == ['5']
    assert set(score['rows'][0]['laws']) == {'tracking', 'pd'}
    assert 0 < score['rows'][0]['laws']['tracking']['rms'] < 1
    page = files[1].read_text()
    assert page.count('<polyline') == 2 and 'tracking' in page
    assert 'http' not in page and 'src=' not in page  # nothing is loaded


def test_the_baseline_has_every_row_and_law_of_the_short_form():
    listed = bench_laws('--list').stdout.split('\n')
    score = json.loads(BASELINE.read_text())
    laws = {law for row in score['rows'] for law in row['laws']}
    assert score['short'] and len(score['rows']) >= 9
    for law in laws:
        assert any(line.startswith(law + ' ') for line in listed)


def test_the_integral_law_does_not_hunt_under_stiction():
    result = bench_laws('--stiction', '--laws', 'integral', '--seeds', '1')
    assert result.returncode == 0, result.stderr
    lines = [line.split() for line in result.stdout.splitlines()[1:]]
    assert [line[:4] for line in lines] == [['integral', level, '32', '0']
                                            for level in ('1.0', '1.5', '2.0')], result.stdout


def test_the_integral_law_does_not_hunt_where_its_dead_band_was_not_chosen():
    result = bench_laws('--stiction', '--other-motions', '--laws', 'integral,pid', '--seeds', '1',
                        '--first-seed', '101')
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    counts = [int(line.split()[3]) for line in lines[1:7]]
    assert counts[:3] == [0, 0, 0] and counts[5] > 5, result.stdout
    assert len(lines) == 7 + sum(counts)
    assert all(', seed 101: ' in line and line.startswith('  pid, ') for line in lines[7:])


def test_the_stiction_study_finds_a_law_that_hunts():
    result = bench_laws('--stiction', '--laws', 'pid', '--seeds', '1')
    lines = result.stdout.splitlines()
    counts = [int(line.split()[3]) for line in lines[1:4]]
    assert counts[2] > 5 and len(lines) == 4 + sum(counts), result.stdout
    assert lines[-1].startswith('  pid, med, stiction 2, '), result.stdout


def test_the_integral_law_beats_every_pid_of_the_sweep_on_the_disturbed_line():
    result = bench_laws('--pid-sweep', '--rows', '1,7', '--seeds', '1')
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[-3] == 'the best PID of the row beats the integral law in 7 (rms)'
    integral, pid = (lines[lines.index('1  line, A') + k] for k in (2, 3))
    assert integral.startswith('integral ') and pid.startswith('pid, Ki '), result.stdout
    assert 'hunts' in pid and 'hunts' not in integral


@pytest.mark.parametrize('arguments, named', [
    (['--stiction', '--rows', '1'], '--stiction'),
    (['--pid-sweep', '--laws', 'pid'], '--pid-sweep'),
    (['--other-motions'], '--stiction'),
    (['--first-seed', '0'], '--first-seed'),
    (['--rows', '99'], "row '99' is unknown; give 1, 1h, 2"),
    (['--laws', 'magic'], "law 'magic' is unknown; give integral"),
    (['--seeds', '0'], '--seeds'), (['--seeds', 'nan'], '--seeds'),
    (['--check', 'missing.json'], '--check missing.json: cannot be read'),
    (['--check', __file__], 'is not valid JSON'),
    ([*QUICK, '--json', '/dev/null/x'], '--json /dev/null/x: cannot be written'),
    (['--ur10e', 'missing.urdf'], 'missing.urdf')])
def test_bad_input_ends_with_2_and_a_message_that_names_it(arguments, named):
    result = bench_laws(*arguments)
    assert result.returncode == 2
    assert named in result.stderr
