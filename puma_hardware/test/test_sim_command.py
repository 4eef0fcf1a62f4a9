# SPDX-License-Identifier: Apache-2.0
"""`puma sim` as a person calls it. PUMA_COMMAND names the program."""

import hashlib
import json
import os
import pathlib
import re
import resource
import shlex
import subprocess

import pytest

PUMA = os.environ['PUMA_COMMAND']
QUICK = ['--trajectory', 'quintic', '--settle', '0.5']
LABELS = {'integral': 'Tracking with integral', 'tracking': 'Tracking', 'ptp': 'Point to point',
          'hold': 'Gravity hold', 'pd': 'Joint PD, no model'}
COLUMNS = ['joint_rms', 'joint_max', 'tool_rms', 'tool_max', 'final', 'hunting', 'torque', 'time',
           'state']
ROBOTS = pathlib.Path(__file__).parents[2] / 'ga_dynamics/robots'
PUMA_URDF = pathlib.Path(__file__).parents[2] / 'puma_description/urdf/puma560.urdf'


def puma(*arguments, cwd=None):
    return subprocess.run([PUMA, *map(str, arguments)], capture_output=True, text=True, timeout=120,
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


def simulate(folder, *arguments, code=0):
    """Run `puma sim`; gives its data, and the rows of its table by label."""
    result = puma('sim', *arguments, '--output', folder)
    assert result.returncode == code, result.stdout + result.stderr
    assert result.stderr == ''  # the progress bar is for terminals
    data = json.loads((folder / 'data.json').read_text(encoding='utf-8'))
    assert result.stdout.splitlines()[-1] == f'report: {folder / "report.html"}'
    return data, rows_of(result.stdout)


def without_times(data):
    """Without what a clock decides, the law's computing time, and the name of the output folder."""
    for row in data['table']['rows']:
        del row['time']
    del data['made_with']['command']
    return data


@pytest.fixture(scope='module')
def demonstration(tmp_path_factory):
    return simulate(tmp_path_factory.mktemp('demonstration'))


def test_the_demonstration_runs_three_laws_and_a_stock_pd(demonstration):
    data, rows = demonstration
    assert [run['id'] for run in data['runs']] == ['integral', 'tracking', 'ptp', 'pd']
    assert list(rows) == [LABELS[law] for law in ['integral', 'tracking', 'ptp', 'pd']]


def test_the_table_is_the_same_in_the_terminal_and_in_the_report(demonstration):
    data, rows = demonstration
    assert [column['key'] for column in data['table']['columns']] == ['state', *COLUMNS[:-1]]
    assert {column['better'] for column in data['table']['columns']} == {'lower', 'none'}
    for row in data['table']['rows']:
        printed = rows[LABELS[row['run']]]
        assert printed[6:8] == pytest.approx([row[key] for key in COLUMNS[6:8]], abs=0.051)
        assert printed[8] == row['state'] == 'ok'
        assert printed[:6] == pytest.approx([row[key] for key in COLUMNS[:6]], abs=5.1e-5)


def test_the_integral_law_follows_the_line_and_the_pd_does_not(demonstration):
    table = {row['run']: row for row in demonstration[0]['table']['rows']}
    assert table['integral']['tool_rms'] < 0.1  # mm, the arm's repeatability
    assert table['pd']['tool_rms'] > 20 * table['integral']['tool_rms']


def test_the_data_are_what_the_report_wants(demonstration):
    data, _ = demonstration
    assert [joint['name'] for joint in data['robot']['joints']] == [
        f'joint{i}' for i in range(1, 7)]
    assert data['robot']['joints'][1]['effort_limit'] == 186.4
    assert data['notes'] == []  # every mesh was found
    assert sum(bool(link['visuals']) for link in data['robot']['links']) == 7
    first = data['runs'][0]
    samples = len(first['time'])
    for run in data['runs']:
        assert run['time'] == first['time']
        for key, columns in [('q', 6), ('error', 6), ('tau', 6), ('tool', 3)]:
            assert [len(column) for column in run[key]] == [samples] * columns
        assert len(run['frames']['poses']) == len(run['frames']['time'])
        assert {len(pose) for pose in run['frames']['poses']} == {7 * len(data['robot']['links'])}
        assert run['events'][-1]['text'] == 'the motion ends'
        assert run['verdict'] == {'state': 'ok'}
        if run is not first:  # the reference is stored once
            assert run['reference_run'] == 'integral'
            assert 'q_ref' not in run and 'tool_ref' not in run
    # The line of the paper: its ends, and its length at 0.1 m/s.
    assert [axis[0] for axis in first['tool_ref']] == pytest.approx([0.6, 0.175, 0.25], abs=1e-6)
    assert [axis[-1] for axis in first['tool_ref']] == pytest.approx([0.018, 0.757, 0], abs=1e-6)
    assert first['time'][-1] == pytest.approx(8.85 + 3, abs=0.02)


def test_the_same_seed_gives_the_same_numbers(tmp_path):
    options = [*QUICK, '--law', 'integral,pd', '--noise', '2e-5', '--mismatch', 10]
    first, again, other = (without_times(simulate(tmp_path / name, *options, '--seed', seed)[0])
                           for name, seed in [('a', 7), ('b', 7), ('c', 8)])
    assert first == again
    assert first['runs'][0]['q'] != other['runs'][0]['q']


@pytest.mark.parametrize('law', LABELS)
def test_each_law_can_be_had_alone(tmp_path, law):
    data, rows = simulate(tmp_path, *QUICK, '--law', law)
    assert list(rows) == [LABELS[law]]
    assert 'reference_run' not in data['runs'][0]


@pytest.mark.parametrize('trajectory', ['ramp', 'spline', 'quintic'])
def test_other_trajectories_are_followed(tmp_path, trajectory):
    data, _ = simulate(tmp_path, '--trajectory', trajectory, '--law', 'integral')
    assert data['table']['rows'][0]['tool_rms'] < 0.3  # mm; ramp and spline jerk
    assert data['runs'][0]['time'][-1] == pytest.approx(6, abs=0.01)


def test_a_trajectory_can_be_a_file_of_via_points(tmp_path):
    file = tmp_path / 'via.csv'
    file.write_text('t,joint1,joint2,joint3,joint4,joint5,joint6\n'
                    '0, 0,-1,1,0,0.4,0\n1, 0.3,-1,1,0,0.5,0\n2.5, 0.5,-1,1,0,0.6,0\n')
    data, _ = simulate(tmp_path / 'out', '--trajectory', file, '--law', 'integral', '--settle', 1)
    run = data['runs'][0]
    assert [q[0] for q in run['q_ref']] == [0, -1, 1, 0, 0.4, 0]
    assert run['q_ref'][0][200] == pytest.approx(0.3, abs=1e-6)  # at 1 s
    assert [q[-1] for q in run['q_ref']] == [0.5, -1, 1, 0, 0.6, 0]


def test_a_trajectory_can_be_what_puma_motion_prints(tmp_path):
    file = tmp_path / 'motion.csv'
    file.write_text(puma('motion', '--trajectory', 'quintic').stdout)
    result = puma('sim', '--trajectory', file, '--law', 'tracking', '--settle', '0.5',
                  '--output', tmp_path / 'out')
    assert result.returncode == 0, result.stderr
    assert 'velocity_joint1' in result.stderr and 'ignored' in result.stderr
    own = puma('sim', '--trajectory', 'quintic', '--law', 'tracking', '--settle', '0.5',
               '--output', tmp_path / 'own')
    assert own.returncode == 0
    ends = [json.loads((tmp_path / name / 'data.json').read_text())['runs'][0]['q_ref']
            for name in ('out', 'own')]
    for ours, theirs in zip(*ends):
        assert ours[::100] == pytest.approx(theirs[::100], abs=1e-4)


def rms_of(tmp_path, *options):
    data, _ = simulate(tmp_path / 'out', *QUICK, '--law', 'integral', *options)
    return data['table']['rows'][0]['tool_rms']


def test_options_do_what_they_say(tmp_path):
    plain = rms_of(tmp_path)
    assert rms_of(tmp_path, '--kp', 1600, '--kd', '80,80,80,80,80,80', '--ki', 16000) == plain
    assert rms_of(tmp_path, '--damping', 0.5) == rms_of(tmp_path, '--kd', 40) != plain
    heavy = rms_of(tmp_path, '--payload', 2.5)
    assert heavy > 5 * plain
    assert rms_of(tmp_path, '--payload', 2.5, '--bandwidth', 20) > 2 * heavy
    assert rms_of(tmp_path, '--mismatch', 20) > 1.2 * plain
    assert rms_of(tmp_path, '--friction', 0) > 5 * plain
    assert rms_of(tmp_path, '--rate', 200) > 1.2 * plain
    assert rms_of(tmp_path, '--ideal') < 0.6 * plain


@pytest.mark.parametrize('option, value, told', [
    ('--law', 'magic', 'integral, tracking'),
    ('--law', 'pd,pd', 'once'),
    ('--law', 'integral,magic', 'magic'),
    ('--rate', '0', '50 to 20000'),
    ('--rate', '1', '50 to 20000'),
    ('--rate', 'nan', '50 to 20000'),
    ('--rate', 'inf', '50 to 20000'),
    ('--rate', 'fast', 'fast'),
    ('--bandwidth', '-3', '-3'),
    ('--damping', '0', '0.05'),
    ('--kp', '1,2', '6 joints'),
    ('--ki', '-1', '-1'),
    ('--ki', 'nan', 'nan'),
    ('--bandwidth', 'inf', 'inf'),
    ('--payload', '-1', '0 to 100 kg'),
    ('--mismatch', '-5', '-5'),
    ('--noise', 'nan', 'nan'),
    ('--settle', '1001', '1000'),
    ('--freeze', 'joint1=x', 'joint1=x'),
    ('--friction', '1.5', '1.5'),
    ('--payload', 'nan', 'nan'),
    ('--mismatch', '100', '99'),
    ('--stiction', '0.5', '0.5'),
    ('--noise', '1', '0.1'),
    ('--settle', '0', '0.1'),
    ('--seed', '-1', '-1'),
    ('--trajectory', 'zigzag', 'quintic'),
    ('--trajectory', 'missing.csv', 'missing.csv'),
    ('--urdf', 'missing.urdf', 'missing.urdf'),
    ('--output', '/dev/null/x', '/dev/null/x'),
    ('--colour', 'red', '--colour')])
def test_bad_input_ends_with_2_and_a_message_that_names_the_option(tmp_path, option, value, told):
    result = puma('sim', option, value, cwd=tmp_path)
    assert result.returncode == 2
    assert option in result.stderr and told in result.stderr
    assert list(pathlib.Path(tmp_path).iterdir()) == []  # nothing is left behind


@pytest.mark.parametrize('text, told', [
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
def test_a_bad_file_of_via_points_is_explained(tmp_path, text, told):
    file = tmp_path / 'via.csv'
    file.write_text(text)
    result = puma('sim', '--trajectory', file, cwd=tmp_path)
    assert result.returncode == 2
    assert f'--trajectory {file}' in result.stderr and told in result.stderr
    assert 'make_' not in result.stderr  # no C++ names


def test_a_folder_is_no_file_of_via_points(tmp_path):
    result = puma('sim', '--trajectory', tmp_path, cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr == (f'puma: --trajectory {tmp_path}: is a folder; name a CSV file of via '
                             'points\n')


def via(tmp_path, *lines):
    file = tmp_path / 'via.csv'
    file.write_text(''.join(line + '\n' for line in lines))
    return file


@pytest.mark.parametrize('seconds', ['0.2', '1e-3', '1e-9'])
@pytest.mark.parametrize('command', [['sim'], ['run', '--fast'], ['motion']])
def test_via_points_beyond_a_velocity_limit_are_refused(tmp_path, command, seconds):
    file = via(tmp_path, '0, 0,-1,1,0,0.4,0', f'{seconds}, 1,-1,1,0,0.6,0')
    result = puma(*command, '--trajectory', file, cwd=tmp_path)
    assert result.returncode == 2
    # The largest velocity of a cubic from rest to rest is 1.5 times the mean one, in the middle.
    peak, half = 1.5 / float(seconds), float(seconds) / 2
    told = re.search(r': joint1 moves at (\S+) rad/s after (\S+) s; its velocity limit is 1.92 '
                     r'rad/s; multiply the times by (\S+) or more', result.stderr)
    assert told, result.stderr
    assert [float(value) for value in told.groups()] == pytest.approx(
        [peak, half, peak / 1.92], rel=0.02)
    assert [path.name for path in tmp_path.iterdir()] == ['via.csv']


def test_a_short_leap_between_slow_via_points_is_refused(tmp_path):
    file = via(tmp_path, '0, 0,-1,1,0,0.4,0', '2, 0.1,-1,1,0,0.4,0', '2.0001, 0.1,-1,1,0,0.4,0.001',
               '5, 0,-1,1,0,0.4,0')
    result = puma('sim', '--trajectory', file, cwd=tmp_path)
    assert result.returncode == 2
    assert ': joint6 moves at ' in result.stderr and 'after 2.0000' in result.stderr, result.stderr


def test_the_remedy_for_a_velocity_beyond_its_limit_works(tmp_path):
    points = ['0,-1,1,0,0.4,0', '1,-0.8,1,0,0.6,0', '0.5,-1,1.2,0,0.6,0']

    def attempt(factor):
        lines = [f'{factor * t}, {point}' for t, point in zip([0, 0.3, 0.5], points)]
        return puma('motion', '--trajectory', via(tmp_path, *lines))
    factor = float(re.search(r'by (\S+) or more', attempt(1).stderr).group(1))
    assert attempt(factor).returncode == 0
    assert attempt(0.98 * factor).returncode == 2


@pytest.mark.parametrize('command', [['sim'], ['run', '--fast'], ['motion']])
def test_a_motion_of_many_hours_is_refused(tmp_path, command):
    file = via(tmp_path, '0, 0,-1,1,0,0.4,0', '1e9, 1,-1,1,0,0.6,0')
    result = puma(*command, '--trajectory', file, cwd=tmp_path)
    assert result.returncode == 2
    assert f'--trajectory {file}: ' in result.stderr
    assert '1e+09 s' in result.stderr and '3600 s' in result.stderr


def test_a_motion_of_more_cycles_than_memory_is_named(tmp_path):
    file = via(tmp_path, '0, 0,-1,1,0,0.4,0', '3000, 1,-1,1,0,0.6,0')
    result = puma('sim', '--trajectory', file, cwd=tmp_path)
    assert result.returncode == 2
    assert f'--trajectory {file}: ' in result.stderr and '--rate' in result.stderr


def test_a_run_that_ends_beside_its_goal_is_named_and_ends_with_1(tmp_path):
    # The model lacks a payload that draws the arm down, and the gains are low.
    data, rows = simulate(tmp_path, *QUICK, '--law', 'tracking', '--payload', 5, '--bandwidth', 6,
                          code=1)
    assert rows['Tracking'][4] > 100 and rows['Tracking'][8] == 'reference lost'
    assert 'at rest' in data['runs'][0]['verdict']['reason']


def test_an_output_folder_that_cannot_be_made_is_named_before_the_simulation(tmp_path):
    (tmp_path / 'file').write_text('')
    result = puma('sim', *QUICK, '--output', tmp_path / 'file/out')
    assert result.returncode == 2 and '--output' in result.stderr
    assert result.stdout == ''  # no table: nothing was simulated


def test_refused_options_leave_no_output_folder_and_keep_one_that_was_there(tmp_path):
    (tmp_path / 'there').mkdir()
    for folder in ['there', 'new/deep']:
        result = puma('sim', '--trajectory', 'zigzag', '--output', tmp_path / folder)
        assert result.returncode == 2 and 'zigzag' in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ['there']


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


@pytest.mark.parametrize('value', ['nan', 'NaN', '-nan', 'inf', '0.5', '1e5', 'fast'])
def test_motion_refuses_a_rate_that_is_no_number_in_its_range(value):
    result = puma('motion', f'--rate={value}')
    assert result.returncode == 2 and result.stdout == ''
    assert '--rate' in result.stderr and value in result.stderr


@pytest.mark.parametrize('option, value, told', [
    ('--base', 'cellar', 'base_link'), ('--tip', 'finger', 'tool0'),
    ('--freeze', 'joint9', 'joint6')])
def test_a_choice_that_the_description_does_not_have_is_answered_with_what_it_has(
        tmp_path, option, value, told):
    result = puma('sim', option, value, cwd=tmp_path)
    assert result.returncode == 2
    assert f"'{value}'" in result.stderr and told in result.stderr


def test_more_cycles_than_memory_are_refused():
    result = puma('sim', '--settle', 1000, '--rate', 20000)
    assert result.returncode == 2
    assert '--settle' in result.stderr and '--rate' in result.stderr


def test_a_run_that_diverges_is_named_and_ends_with_1(tmp_path):
    data, rows = simulate(tmp_path, *QUICK, '--rate', 50, '--bandwidth', 500, code=1)
    text = (tmp_path / 'data.json').read_text()
    assert 'NaN' not in text and 'Infinity' not in text
    assert len(rows) == 4
    for run, row in zip(data['runs'], data['table']['rows']):
        assert rows[run['label']][:7] == [None] * 7 and rows[run['label']][8] == 'diverged'
        assert row['state'] == run['verdict']['state'] == 'diverged' and row['final'] is None
        assert run['verdict']['joint'] in [f'joint{i}' for i in range(1, 7)]
        reason = run['verdict']['reason']
        assert 'rad/s' in reason and run['verdict']['joint'] in reason
        assert 0 < run['verdict']['time'] < 3 and run['time'][-1] < run['verdict']['time']
        assert any(event['text'].startswith('diverged: ') for event in run['events'])
    printed = puma('sim', *QUICK, '--rate', 50, '--bandwidth', 500, '--output', tmp_path).stdout
    assert 'nan' not in printed and '0.0000' not in printed
    verdict = data['runs'][0]['verdict']
    assert (f'Tracking with integral: diverged at {verdict["time"]:.3f} s: {verdict["reason"]}'
            in printed.splitlines())


def test_a_run_that_oscillates_is_named_and_ends_with_1_and_the_others_are_ok(tmp_path):
    # Without damping the integral law is not stable: Ki > Kp Kd.
    data, rows = simulate(tmp_path, *QUICK[:2], '--damping', 0.05, code=1)
    assert rows['Tracking with integral'][8] == 'oscillating'
    assert rows['Tracking'][8] == 'ok'
    assert re.search(r' Hz |between its limits', data['runs'][0]['verdict']['reason'])


def test_a_comparison_that_fails_is_named_but_does_not_count_unless_asked_for(tmp_path):
    arguments = [*QUICK, '--bandwidth', 100]
    _, rows = simulate(tmp_path, *arguments)
    assert rows['Joint PD, no model'][8] == 'oscillating'
    assert {row[8] for label, row in rows.items() if label != 'Joint PD, no model'} == {'ok'}
    simulate(tmp_path, *arguments, '--law', 'tracking', '--law', 'pd', code=1)


def test_an_arm_with_a_joint_that_moves_nothing_is_refused_by_name(tmp_path):
    text = PUMA_URDF.read_text()
    zeros = '<inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>'
    text = re.sub('<inertia [^>]*>', zeros, text)
    text = re.sub('("armature">)[^<]*', r'\g<1>0', text)
    urdf = tmp_path / 'points.urdf'
    urdf.write_text(text)
    result = puma('sim', '--urdf', urdf, '--output', tmp_path / 'out')
    assert result.returncode == 2
    assert "joint 'joint6'" in result.stderr and "link 'link6'" in result.stderr
    assert not (tmp_path / 'out').exists()


def test_the_data_say_what_they_were_made_with(tmp_path):
    options = [*QUICK, '--law', 'integral', '--ki', '9000', '--kd', '80,81,82,83,84,85',
               '--payload', 1, '--mismatch', 10, '--stiction', 1.2, '--noise', '1e-5', '--seed', 7,
               '--friction', 0.5]
    folder = tmp_path / "it's here"
    made = simulate(folder, *options)[0]['made_with']
    assert shlex.split(made['command']) == [
        'puma', 'sim', *map(str, options), '--output', str(folder)]
    assert re.match(r'\d+\.\d+\.\d+( \([0-9a-z.-]+\))?$', made['version'])
    robot = made['robot']
    assert robot['sha256'] == hashlib.sha256(pathlib.Path(robot['file']).read_bytes()).hexdigest()
    assert robot['file'].endswith('puma560.urdf')
    assert (robot['base'], robot['tip']) == ('base_link', 'tool0')
    assert robot['joints'] == [f'joint{i}' for i in range(1, 7)]
    assert made['gains'] == [{'joint': f'joint{i}', 'kp': 1600, 'kd': 79 + i, 'ki': 9000}
                             for i in range(1, 7)]
    assert (made['rate'], made['seed'], made['laws']) == (1000, 7, ['integral'])
    assert made['friction_feed_forward'] == 0.5
    assert (made['motion']['name'], made['motion']['duration']) == ('quintic', 3)
    unknown = made['unknown_to_the_laws']
    assert (unknown['payload'], unknown['mismatch'], unknown['stiction'], unknown['noise']) == (
        1, 0.1, 1.2, 1e-5)
    factors = [body[key] for body in unknown['body_factors'] for key in ['mass', 'inertia']]
    assert len(set(factors)) == 12 and all(0.9 <= factor <= 1.1 for factor in factors)


@pytest.mark.parametrize('name, joints, motion', [
    ('scara.urdf', 4, 'orientation free'), ('seven_joints.urdf', 7, 'numeric inverse kinematics')])
def test_another_arm_needs_no_further_options(tmp_path, name, joints, motion):
    data, rows = simulate(tmp_path, '--urdf', ROBOTS / name, '--settle', 1)
    assert list(rows)[:3] == [LABELS[law] for law in ['integral', 'tracking', 'ptp']]
    # A PD that would let the arm drop is no comparison, and that is said.
    left_out = any('joint PD' in note and '--law pd' in note for note in data['notes'])
    assert left_out != (LABELS['pd'] in rows)
    assert len(data['robot']['joints']) == joints
    assert motion in data['made_with']['motion']['description']
    assert data['table']['rows'][0]['tool_max'] < 0.1  # mm
    # What the description leaves out is said; without meshes there is a stick figure.
    notes = ' '.join(data['notes'])
    assert 'position sensors are ideal' in notes and 'torque outputs are ideal' in notes
    assert 'stick figure' in notes
    assert sum(bool(link['visuals']) for link in data['robot']['links']) >= joints


def test_the_chain_can_be_chosen(tmp_path):
    data, _ = simulate(tmp_path, '--urdf', ROBOTS / 'seven_joints.urdf', '--freeze', 'a3=0.5',
                       '--law', 'tracking', '--settle', 1)
    names = [joint['name'] for joint in data['robot']['joints']]
    assert names == ['a1', 'a2', 'a4', 'a5', 'a6', 'a7']


@pytest.mark.parametrize('command', ['sim', 'report'])
def test_help_shows_examples(command):
    result = puma(command, '--help')
    assert result.returncode == 0
    assert f'\n  puma {command}' in result.stdout.split('Example')[1]


def test_ten_seconds_of_the_full_loop_take_less_than_one(tmp_path):
    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    data, _ = simulate(tmp_path, '--trajectory', 'quintic', '--settle', 7, '--law', 'integral')
    seconds = spent() - before
    assert data['runs'][0]['time'][-1] == pytest.approx(10, abs=0.01)
    print(f'10 s of the loop, its data and report took {seconds:.2f} s of computing time')
    limit = 20 if os.environ.get('ASAN_OPTIONS') else 1  # sanitizers slow it down
    assert seconds < limit


def test_motion_prints_the_line_with_its_rates():
    done = subprocess.run([PUMA, 'motion', '--rate', '100'], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stderr
    header, *rows = [line.split(',') for line in done.stdout.splitlines()]
    assert header[:2] == ['t', 'joint1'] and header[-1] == 'acceleration_joint6'
    times = [float(row[0]) for row in rows]
    assert times[0] == 0 and times[-1] == pytest.approx(8.85, abs=0.3)
    middle = len(rows) // 2
    for joint in range(1, 7):  # the velocities are those of the positions
        difference = (float(rows[middle + 1][joint]) - float(rows[middle - 1][joint])) / 0.02
        assert float(rows[middle][joint + 6]) == pytest.approx(difference, abs=1e-4)
