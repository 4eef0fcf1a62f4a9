# SPDX-License-Identifier: Apache-2.0
"""`ga time`: the fastest motion along a path; `ga check`: does a motion keep the limits?

`ga limits`: what the limits are.
"""

import csv
import json
import math
import re

import pytest

from sim_bench import JOINTS, PUMA_URDF, ga, rows_of

# Short moves: torques matter more than velocities.
POINTS = ['-0.10,-0.84,2.41,-1.18,1.11,2.38', '0.29,-0.96,2.06,-1.25,0.93,2.67',
          '0.22,-0.99,2.42,-0.92,0.98,2.21', '0.55,-1.15,2.18,-0.86,1.60,2.27',
          '0.10,-0.61,2.05,-1.23,1.30,2.83']
EFFORT = [97.6, 186.4, 89.4, 24.2, 20.1, 21.3]
PENDULUM = """<robot name="p"><link name="base"/><link name="bob"><inertial>
<origin xyz="1 0 0"/><mass value="1"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
<joint name="swing" type="revolute"><parent link="base"/><child link="bob"/>
<axis xyz="0 -1 0"/><limit lower="-3" upper="3" velocity="3" effort="{effort}"/>
<dynamics friction="1"/></joint></robot>"""


def write(folder, lines, name='path.csv'):
    file = folder / name
    file.write_text(''.join(line + '\n' for line in lines))
    return file


def timed(folder, *arguments, points=POINTS, robot=PUMA_URDF):
    file = folder / 'timed.csv'
    done = ga('time', write(folder, points), robot, '--output', file, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    with open(file, encoding='utf-8') as table:
        return done.stdout, [{name: float(value) for name, value in row.items()}
                             for row in csv.DictReader(table)]


def duration_of(stdout):
    return float(re.search(r'^duration: (\S+) s$', stdout, re.MULTILINE).group(1))


@pytest.fixture(scope='module')
def plan(tmp_path_factory):
    folder = tmp_path_factory.mktemp('plan')
    stdout, rows = timed(folder)
    return folder / 'timed.csv', stdout, rows


def test_the_motion_is_evenly_sampled_and_ends_at_rest_on_the_last_point(plan):
    _, stdout, rows = plan
    steps = [b['t'] - a['t'] for a, b in zip(rows, rows[1:])]
    assert max(steps) <= 0.005 + 1e-9 and max(steps) - min(steps) < 1e-9
    assert rows[0]['t'] == 0 and rows[-1]['t'] == pytest.approx(duration_of(stdout), abs=1e-5)
    for row, point in ((rows[0], POINTS[0]), (rows[-1], POINTS[-1])):
        assert [row[joint] for joint in JOINTS] == [float(value) for value in point.split(',')]
        assert all(row[f'velocity_{joint}'] == 0 for joint in JOINTS)
    assert all(rows[-1][f'acceleration_{joint}'] == 0 for joint in JOINTS)


def test_the_report_names_limits_and_the_comparison(plan):
    _, stdout, rows = plan
    assert 'with constant acceleration limits that keep the torque limits everywhere' in stdout
    # The reference durations of the tests of ga_motion: 1.12 s with other knots.
    assert 1.05 < duration_of(stdout) < 1.25
    # Like with like: both without torque ramps and samples.
    free = float(re.search(r'^without torque ramps and samples: (\S+) s', stdout,
                           re.MULTILINE).group(1))
    safe, ratio, over = (float(text) for text in re.search(
        r': (\S+) s, (\S+) times as long as (\S+) s$', stdout, re.MULTILINE).groups())
    assert ratio > 1.15
    assert over == pytest.approx(free, rel=1e-3) and ratio == pytest.approx(safe / free, abs=0.01)
    assert 'torque of joint1' in stdout and 'velocity of joint2' in stdout
    for joint, limit in zip(JOINTS, EFFORT):
        assert max(abs(row[f'effort_{joint}']) for row in rows) <= 1.005 * limit


def test_what_time_writes_passes_check_and_is_read_by_sim(plan, tmp_path):
    file = plan[0]
    checked = ga('check', file, PUMA_URDF)
    assert checked.returncode == 0, checked.stdout
    assert checked.stdout.endswith('within all limits\n')
    done = ga('sim', PUMA_URDF, '--trajectory', file, '--law', 'integral', '--output', tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert rows_of(done.stdout)['Tracking with integral'][-1] == 'ok'


def test_check_names_what_exceeds_its_limit_and_when(tmp_path):
    # Without ramps and fit, the interpolation between samples needs more than there is.
    timed(tmp_path, '--no-fit', '--torque-ramp', '0')
    done = ga('check', tmp_path / 'timed.csv', PUMA_URDF)
    assert done.returncode == 1
    found = re.search(r'^exceeded: (joint\d): torque (\S+) N m after (\S+) s, (\S+) % of its '
                      r'limit (\S+), beyond it for (\S+) s$', done.stdout, re.MULTILINE)
    assert found, done.stdout
    assert float(found.group(4)) > 102
    assert abs(float(found.group(2))) / float(found.group(5)) == pytest.approx(
        float(found.group(4)) / 100, rel=2e-3)
    assert ga('check', tmp_path / 'timed.csv', PUMA_URDF, '--tolerance', 100).returncode == 0


def test_check_as_json_has_every_joint(plan, tmp_path):
    done = ga('check', plan[0], PUMA_URDF, '--json')
    assert done.returncode == 0 and done.stderr == ''
    data = json.loads(done.stdout)
    assert data['within_limits'] is True and data['exceeded'] == []
    assert [joint['name'] for joint in data['joints']] == JOINTS
    assert [joint['torque']['limit'] for joint in data['joints']] == EFFORT
    assert max(joint['torque']['share'] for joint in data['joints']) > 0.98
    # The same motion with a payload that it was not planned for.
    heavy = ga('check', plan[0], PUMA_URDF, '--json', '--payload', 5)
    assert heavy.returncode == 1
    assert json.loads(heavy.stdout)['within_limits'] is False


def test_check_finds_velocities_and_positions_beyond_their_limits(tmp_path):
    file = write(tmp_path, ['t,' + ','.join(JOINTS), '0,0,-1,1,0,0,0', '1,2.5,-1,1,0,0,0',
                            '2,2.79,-1,1,0,0,0'])
    done = ga('check', file, PUMA_URDF)
    assert done.returncode == 1
    assert re.search(r'joint1: velocity \S+ rad/s after \S+ s, \S+ % of its limit 1.92',
                     done.stdout)
    assert re.search(r'joint1: position \S+ rad after \S+ s, \S+ beyond its limits -2.74 and 2.74',
                     done.stdout)


@pytest.mark.parametrize('arguments, low, high', [
    (['--payload', '2.5'], 1.04, 1.3), (['--reserve', '0.3'], 1.08, 1.4),
    (['--velocity-scale', '0.25'], 1.8, 4), (['--torque-ramp', '0.1'], 1.05, 1.3)])
def test_options_make_the_motion_slower(plan, tmp_path, arguments, low, high):
    stdout, _ = timed(tmp_path, *arguments)
    assert low < duration_of(stdout) / duration_of(plan[1]) < high


def test_the_rate_sets_the_samples(tmp_path):
    _, rows = timed(tmp_path, '--rate', 100)
    assert 0.009 < rows[1]['t'] <= 0.01


@pytest.mark.parametrize('arguments', [['--rate', 10], ['--rate', 10, '--torque-ramp', 0]])
def test_what_time_writes_at_low_rates_passes_check_too(tmp_path, arguments):
    timed(tmp_path, *arguments)
    checked = ga('check', tmp_path / 'timed.csv', PUMA_URDF)
    assert checked.returncode == 0, checked.stdout


LIFTED = ['0,-0.35,1.57,0,0,0', '0.8,-0.05,1.57,0,0,0', '0.2,-0.3,1.57,0.3,0.2,0']


@pytest.mark.parametrize('arguments, limit', [
    (['--payload', 15], r'186\.4'), (['--payload', 13, '--reserve', 0.1], r'167\.76')])
def test_a_payload_that_is_too_heavy_names_limit_and_reserve(tmp_path, arguments, limit):
    done = ga('time', write(tmp_path, LIFTED), PUMA_URDF, *arguments,
              '--output', tmp_path / 'out.csv')
    assert done.returncode == 2
    assert re.search(r'joint2 needs \S+ N m against gravity and Coulomb friction .* limit is '
                     rf'{limit} N m: ', done.stderr), done.stderr
    assert ('the limit is what --reserve 0.1 leaves' in done.stderr) == ('--reserve' in arguments)


def test_a_payload_at_the_limit_is_moved_slowly(tmp_path):
    stdout, _ = timed(tmp_path, '--payload', 14.5, '--torque-ramp', 0, points=LIFTED)
    assert 3 < duration_of(stdout) < 6
    assert 'slowed down by' in stdout
    checked = ga('check', tmp_path / 'timed.csv', PUMA_URDF, '--payload', 14.5)
    assert checked.returncode == 0, checked.stdout


def test_times_of_years_are_refused(tmp_path):
    rest = '-1,1,0,0.4,0'
    done = ga('check', write(tmp_path, [f'0,0,{rest}', f'2e9,1,{rest}']), PUMA_URDF)
    assert done.returncode == 2 and done.stdout == ''
    assert 'the motion takes 2e+09 s, more than 1e+07 steps' in done.stderr
    assert 'give a shorter motion (times are in s)' in done.stderr
    assert 'limit_use' not in done.stderr  # no C++ names


def test_velocities_out_of_this_world_are_refused_by_name(tmp_path):
    rest, still = '0,-1,1,0,0.4,0', '0,0,0,0,0,0'
    done = ga('check', write(tmp_path, [f'0,{rest},1e200,0,0,0,0,0', f'1,{rest},{still}']),
              PUMA_URDF)
    assert done.returncode == 2 and done.stdout == ''
    assert re.search(r'the torque of joint\d is not finite; check the units', done.stderr)


def test_columns_go_by_name_and_the_time_is_ignored(plan, tmp_path):
    order = [5, 0, 3, 2, 1, 4]
    points = ['t,' + ','.join(JOINTS[i] for i in order)]
    for k, line in enumerate(POINTS):
        values = line.split(',')
        points.append(f'{k},' + ','.join(values[i] for i in order))
    stdout, _ = timed(tmp_path, points=points)
    assert duration_of(stdout) == duration_of(plan[1])


REFUSED = [
    ([], 'has no way-point'),
    (['# nothing'], 'has no way-point'),
    (POINTS[:1], 'has one way-point'),
    ([POINTS[0], POINTS[0]], 'points 1 and 2 are the same; remove one'),
    ([POINTS[0], POINTS[1], POINTS[1], POINTS[2]], 'points 2 and 3 are the same; remove one'),
    ([POINTS[0], '0,0,0,0,0'], 'line 2: 5 fields'),
    ([POINTS[0], '0,-1,1,0,nan,0'], "line 2, column 5 (q5): 'nan' is not finite"),
    ([POINTS[0], '0,-1,1,0,x,0'], "line 2, column 5 (q5): 'x' is not a number"),
    (['joint1,joint2,joint3', '1,2,3'], 'the header lacks q4, q5, q6'),
    ([POINTS[0], '0,-1,1e9,0,0,0'], 'joint3 is at '),
    ([POINTS[0], '0,-1,1e300,0,0,0'], 'give a finite path'),
    ([POINTS[0], '0,-1,1,0,1.8,0'], 'joint5 is at 1.69'),
]


@pytest.mark.parametrize('points, message', REFUSED)
def test_a_path_that_is_none_is_refused_and_nothing_is_written(tmp_path, points, message):
    output = tmp_path / 'timed.csv'
    done = ga('time', write(tmp_path, points), PUMA_URDF, '--output', output)
    assert done.returncode == 2
    assert message in done.stderr and done.stderr.startswith(f'ga: {tmp_path / "path.csv"}: ')
    assert 'make_' not in done.stderr and 'PathTimer' not in done.stderr  # no C++ names
    assert done.stdout == '' and not output.exists()


def test_repeated_points_can_be_merged(plan, tmp_path):
    points = [POINTS[0], POINTS[0], *POINTS[1:], POINTS[-1]]
    stdout, _ = timed(tmp_path, '--merge', '1e-3', points=points)
    assert duration_of(stdout) == duration_of(plan[1])


@pytest.mark.parametrize('effort, points, message', [
    ('9', ['1.4', '1.7'], r'swing needs 9\.8\S* N m to hold the arm at rest at s = \S+ of 0\.3 '
     r'\(between points 1 and 2\); its torque limit is 9 N m'),
    ('10', ['1.4', '1.7'],
     r'swing needs 10\.8\S* N m against gravity and Coulomb friction at s = '),
    ('10', ['0', '2.5'], r'swing needs 10\.8\S* N m .*: the arm passes only with momentum, and '
     r'could not go on after a stop'),
    ('0', ['0', '1'], r'swing has no effort limit; give its <limit>')])
def test_an_arm_that_is_too_weak_is_named_with_its_place(tmp_path, effort, points, message):
    robot = tmp_path / 'pendulum.urdf'
    robot.write_text(PENDULUM.format(effort=effort))
    # Hanging at 0: gravity along x.
    done = ga('time', write(tmp_path, points), robot, '--gravity', 9.81, 0, 0,
              '--output', tmp_path / 'out.csv')
    assert done.returncode == 2, done.stdout
    assert re.search(message, done.stderr), done.stderr
    assert not (tmp_path / 'out.csv').exists()


def test_an_arm_without_effort_limits_is_refused(tmp_path):
    robot = tmp_path / 'pendulum.urdf'
    robot.write_text(PENDULUM.format(effort='1').replace('type="revolute"', 'type="continuous"')
                     .replace('<limit lower="-3" upper="3" velocity="3" effort="1"/>', ''))
    for command in ('time', 'check'):
        done = ga(command, write(tmp_path, ['0,0', '1,1'] if command == 'check' else ['0', '1']),
                  robot)
        assert done.returncode == 2
        assert 'swing has no effort limit; give its <limit>' in done.stderr


@pytest.mark.parametrize('lines, message', [
    ([], 'has no line of numbers'),
    (['0,0,-1,1,0,0,0'], 'has one line of numbers'),
    (['1,0,-1,1,0,0,0', '2,0,-1,1,0,0,0'], 'the first line is at 1 s; begin with 0 s'),
    (['0,0,-1,1,0,0,0', '0,0,-1,1,0,0,0'], 'row 2 is at 0 s, after 0 s'),
    (['0,0,-1,1,0,0,0', '1,0,-1,1,0,0'], 'line 2: 6 fields'),
    (['t,' + ','.join(f'elbow{i}' for i in range(6)), '0,0,0,0,0,0,0'], 'the header lacks q1')])
def test_check_refuses_what_is_no_motion(tmp_path, lines, message):
    done = ga('check', write(tmp_path, lines), PUMA_URDF)
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert done.stdout == ''


def test_check_reads_tables_without_a_header_by_their_number_of_columns(tmp_path):
    rest = '0,-1,1,0,0.4,0'
    for more, text in (('', 'cubic spline'), (',0,0,0,0,0,0', 'third-order polynomials'),
                       (',0,0,0,0,0,0' * 2, 'fifth-order polynomials')):
        done = ga('check', write(tmp_path, [f'0,{rest}{more}', f'1,{rest}{more}']), PUMA_URDF)
        assert done.returncode == 0, done.stderr
        assert text in done.stdout


def limits(*arguments, robot=PUMA_URDF):
    done = ga('limits', robot, '--json', *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)['joints']


def test_limits_are_the_description_s_and_accelerations_that_are_safe_everywhere():
    found = limits()
    assert [joint['name'] for joint in found] == JOINTS
    assert [joint['torque'] for joint in found] == EFFORT
    assert [joint['velocity'] for joint in found] == [1.92, 1.51, 2.4, 5.34, 5.09, 5.74]
    margin = math.radians(3)  # of the soft limits
    assert found[0]['upper'] == pytest.approx(math.radians(160) - margin, abs=1e-9)
    assert found[1]['lower'] == pytest.approx(-math.radians(223) + margin, abs=1e-9)
    # As in docs/timing.md
    assert [float(f'{joint["acceleration"]:.3g}') for joint in found] == [8.05, 10.0, 48.3, 102,
                                                                          93.1, 99.7]
    table = ga('limits', PUMA_URDF).stdout.splitlines()
    assert table[1].split() == ['joint1', '-2.74', '2.74', '1.92',
                                f'{found[0]["acceleration"]:.4g}', '97.6']


def test_limits_leave_what_they_are_asked_to():
    every, some = limits(), limits('--reserve', 0.2, '--velocity-scale', 0.5)
    for whole, part in zip(every, some):
        assert part['velocity'] == pytest.approx(0.5 * whole['velocity'])
        assert part['torque'] == pytest.approx(0.8 * whole['torque'])
    product = [math.prod(joint['acceleration'] for joint in found)
               for found in (every, some, limits('--payload', 2.5))]
    assert product[1] < product[0] and product[2] < 0.2 * product[0]


def test_limits_that_do_not_exist_are_refused(tmp_path):
    robot = tmp_path / 'pendulum.urdf'
    robot.write_text(PENDULUM.format(effort='5'))  # gravity alone: 9.8 N m
    done = ga('limits', robot)
    assert done.returncode == 2 and 'gravity, friction and fast motion alone' in done.stderr
    robot.write_text(PENDULUM.format(effort='50').replace('velocity="3" ', ''))
    done = ga('limits', robot)
    assert done.returncode == 2 and 'swing has no velocity limit' in done.stderr


@pytest.mark.parametrize('option', ['--rate=0', '--reserve=1', '--velocity-scale=0',
                                    '--torque-ramp=-1', '--intervals=5', '--intervals=10001',
                                    '--payload=nan',
                                    '--merge=nan', '--rate=nan'])
def test_time_refuses_options_out_of_range(tmp_path, option):
    done = ga('time', write(tmp_path, POINTS), PUMA_URDF, option, '--output', tmp_path / 'o.csv')
    assert done.returncode == 2 and option.split('=')[0] in done.stderr
    assert not (tmp_path / 'o.csv').exists()


def test_an_output_that_cannot_be_written_is_an_error(tmp_path):
    done = ga('time', write(tmp_path, POINTS), PUMA_URDF, '--output', tmp_path / 'no/timed.csv')
    assert done.returncode == 2 and '--output ' in done.stderr and done.stdout == ''


@pytest.mark.parametrize('command', ['time', 'check'])
def test_missing_files_and_folders_are_named(tmp_path, command):
    for name in (tmp_path, tmp_path / 'none.csv'):
        done = ga(command, name, PUMA_URDF)
        assert done.returncode == 2 and str(name) in done.stderr


@pytest.mark.parametrize('command', ['time', 'check', 'limits'])
def test_help_shows_examples(command):
    done = ga(command, '--help')
    assert done.returncode == 0 and f'\n  ga {command} ' in done.stdout
