# SPDX-License-Identifier: Apache-2.0
"""Motions of `ga motion` and `ga sim`: their table, and files of via points that are refused."""

import re
import subprocess

import pytest

from sim_bench import GA, PUMA_URDF, ga, via


def test_motion_prints_the_line_with_its_rates():
    done = ga('motion', PUMA_URDF, '--rate', 100)
    assert done.returncode == 0, done.stderr
    header, *rows = [line.split(',') for line in done.stdout.splitlines()]
    assert header[:2] == ['t', 'joint1'] and header[-1] == 'acceleration_joint6'
    times = [float(row[0]) for row in rows]
    assert times[0] == 0 and times[-1] == pytest.approx(8.85, abs=0.3)
    middle = len(rows) // 2
    for joint in range(1, 7):  # the velocities are those of the positions
        difference = (float(rows[middle + 1][joint]) - float(rows[middle - 1][joint])) / 0.02
        assert float(rows[middle][joint + 6]) == pytest.approx(difference, abs=1e-4)


@pytest.mark.parametrize('text, message', [
    ('0,0,-1,1,0,0,0\n1,0.2,-1,1,0,0\n', 'line 2: 6 fields'),
    ('0,0,-1,1,0,0,0\n1,0.2,-1,1,0,x,0\n', "line 2, column 6 (q5): 'x'"),
    ('0,0,-1,1,0,0,0\n', 'two'),
    ('', 'no via point'),
    ('# nothing but a comment\n\n', 'no via point'),
    ('t,q1,q2,q3,q4,q5,q6\n', 'no via point'),
    ('0,0,-1,1,0,0,0\n0,0.2,-1,1,0,0,0\n', 'increas'),
    ('0,0,-1,1,0,0,0\n2,0,-1,1,0,0,0\n1,0.2,-1,1,0,0,0\n', 'point 3 is at 1 s, after 2 s'),
    ('0,0,-1,1,0,0,0\n1e-200,0.2,-1,1,0,0,0\n', 'increase by 1 ns'),
    ('1,0,-1,1,0,0,0\n2,0.2,-1,1,0,0,0\n', 'first point is at 1 s'),
    ('0,0,-1,1,0,0,0\n1,4,-1,1,0,0,0\n', 'joint1')])
def test_a_bad_file_of_via_points_is_explained(tmp_path, text, message):
    file = tmp_path / 'via.csv'
    file.write_text(text)
    result = ga('sim', PUMA_URDF, '--trajectory', file, cwd=tmp_path)
    assert result.returncode == 2
    assert f'--trajectory {file}' in result.stderr and message in result.stderr
    assert 'make_' not in result.stderr  # no C++ names


def test_a_folder_is_no_file_of_via_points(tmp_path):
    result = ga('sim', PUMA_URDF, '--trajectory', tmp_path, cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr == (f'ga: --trajectory {tmp_path}: is a folder; name a CSV file of via '
                             'points\n')


@pytest.mark.parametrize('seconds', ['0.2', '1e-3', '1e-9'])
@pytest.mark.parametrize('command', ['sim', 'motion'])
def test_via_points_beyond_a_velocity_limit_are_refused(tmp_path, command, seconds):
    file = via(tmp_path, '0, 0,-1,1,0,0.4,0', f'{seconds}, 1,-1,1,0,0.6,0')
    result = ga(command, PUMA_URDF, '--trajectory', file, cwd=tmp_path)
    assert result.returncode == 2
    # The largest velocity of a cubic from rest to rest is 1.5 times the mean one, in the middle.
    peak, half = 1.5 / float(seconds), float(seconds) / 2
    found = re.search(r': joint1 moves at (\S+) rad/s after (\S+) s; its velocity limit is 1.92 '
                      r'rad/s; multiply the times by (\S+) or more', result.stderr)
    assert found, result.stderr
    assert [float(value) for value in found.groups()] == pytest.approx(
        [peak, half, peak / 1.92], rel=0.02)
    assert [path.name for path in tmp_path.iterdir()] == ['via.csv']


def test_a_short_leap_between_slow_via_points_is_refused(tmp_path):
    file = via(tmp_path, '0, 0,-1,1,0,0.4,0', '2, 0.1,-1,1,0,0.4,0', '2.0001, 0.1,-1,1,0,0.4,0.001',
               '5, 0,-1,1,0,0.4,0')
    result = ga('sim', PUMA_URDF, '--trajectory', file, cwd=tmp_path)
    assert result.returncode == 2
    assert ': joint6 moves at ' in result.stderr and 'after 2.0000' in result.stderr, result.stderr


def test_the_remedy_for_a_velocity_beyond_its_limit_works(tmp_path):
    points = ['0,-1,1,0,0.4,0', '1,-0.8,1,0,0.6,0', '0.5,-1,1.2,0,0.6,0']

    def attempt(factor):
        lines = [f'{factor * t}, {point}' for t, point in zip([0, 0.3, 0.5], points)]
        return ga('motion', PUMA_URDF, '--trajectory', via(tmp_path, *lines))
    factor = float(re.search(r'by (\S+) or more', attempt(1).stderr).group(1))
    assert attempt(factor).returncode == 0
    assert attempt(0.98 * factor).returncode == 2


@pytest.mark.parametrize('command', ['sim', 'motion'])
def test_a_motion_of_many_hours_is_refused(tmp_path, command):
    file = via(tmp_path, '0, 0,-1,1,0,0.4,0', '1e9, 1,-1,1,0,0.6,0')
    result = ga(command, PUMA_URDF, '--trajectory', file, cwd=tmp_path)
    assert result.returncode == 2
    assert f'--trajectory {file}: ' in result.stderr
    assert '1e+09 s' in result.stderr and '3600 s' in result.stderr


@pytest.mark.parametrize('arguments', [['motion', PUMA_URDF], ['motion', '--help']])
def test_a_full_disk_is_an_error(arguments):
    with open('/dev/full', 'wb') as full:
        done = subprocess.run([GA, *arguments], stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 1
    assert done.stderr == b'ga: cannot write to standard output: No space left on device\n'


def test_a_reader_that_leaves_early_is_no_error():
    done = subprocess.run(['bash', '-c', '"$0" motion "$1" --rate 10000 | head -1', GA, PUMA_URDF],
                          capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith('t,joint1') and done.stderr == ''


@pytest.mark.parametrize('value', ['nan', 'NaN', '-nan', 'inf', '0.5', '1e5', 'fast'])
def test_motion_refuses_a_rate_that_is_no_number_in_its_range(value):
    result = ga('motion', PUMA_URDF, f'--rate={value}')
    assert result.returncode == 2 and result.stdout == ''
    assert '--rate' in result.stderr and value in result.stderr


@pytest.mark.parametrize('command', ['sim', 'motion', 'report'])
def test_help_shows_examples(command):
    result = ga(command, '--help')
    assert result.returncode == 0
    assert f'\n  ga {command}' in result.stdout.split('Example')[1]
