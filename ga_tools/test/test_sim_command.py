# SPDX-License-Identifier: Apache-2.0
"""`ga sim`: what it simulates, prints and writes, and what each option does."""

import hashlib
import json
import os
import pathlib
import re
import resource
import shlex

import pytest

from sim_bench import COLUMNS, JOINTS, LABELS, PUMA_URDF, QUICK, ROBOTS, USUAL, ga, simulate


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
    assert [run['id'] for run in data['runs']] == USUAL
    assert list(rows) == [LABELS[law] for law in USUAL]


def test_the_table_is_the_same_in_the_terminal_and_in_the_report(demonstration):
    data, rows = demonstration
    assert [column['key'] for column in data['table']['columns']] == ['state', *COLUMNS[:-1]]
    assert {column['better'] for column in data['table']['columns']} == {'lower', 'none'}
    for row in data['table']['rows']:
        printed = rows[LABELS[row['run']]]
        assert printed[6:8] == pytest.approx([row[key] for key in COLUMNS[6:8]], abs=0.051)
        assert printed[-1] == row['state'] == 'ok'
        assert printed[:6] == pytest.approx([row[key] for key in COLUMNS[:6]], abs=5.1e-5)


def test_the_integral_law_follows_the_line_and_the_pd_does_not(demonstration):
    table = {row['run']: row for row in demonstration[0]['table']['rows']}
    assert table['integral']['tool_rms'] < 0.1  # mm, the arm's repeatability
    assert table['pd']['tool_rms'] > 20 * table['integral']['tool_rms']


def test_the_data_are_what_the_report_wants(demonstration):
    data, _ = demonstration
    assert [joint['name'] for joint in data['robot']['joints']] == JOINTS
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


def test_a_trajectory_can_be_what_the_motion_command_prints(tmp_path):
    file = tmp_path / 'motion.csv'
    file.write_text(ga('motion', PUMA_URDF, '--trajectory', 'quintic').stdout)
    result = ga('sim', PUMA_URDF, '--trajectory', file, '--law', 'tracking', '--settle', '0.5',
                '--output', tmp_path / 'out')
    assert result.returncode == 0, result.stderr
    assert 'velocity_joint1' in result.stderr and 'ignored' in result.stderr
    own = ga('sim', PUMA_URDF, '--trajectory', 'quintic', '--law', 'tracking', '--settle', '0.5',
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
    assert rms_of(tmp_path, '--kp', 1600, '--kd', '80,80,80,80,80,80', '--ki', 20480) == plain
    assert rms_of(tmp_path, '--damping', 0.5) == rms_of(tmp_path, '--kd', 40) != plain
    heavy = rms_of(tmp_path, '--payload', 2.5)
    assert heavy > 5 * plain
    assert rms_of(tmp_path, '--payload', 2.5, '--bandwidth', 20) > 2 * heavy
    assert rms_of(tmp_path, '--mismatch', 20) > 1.2 * plain
    # 2.5 kg off the flange weigh more on the wrist.
    assert rms_of(tmp_path, '--payload', 2.5, '--payload-com', '0.1,0,0.2') > 1.05 * heavy
    assert rms_of(tmp_path, '--friction', 0) > 5 * plain
    assert rms_of(tmp_path, '--rate', 100) != plain
    assert rms_of(tmp_path, '--ideal') < 0.6 * plain


def test_a_known_payload_costs_little_accuracy(tmp_path):
    heavy = rms_of(tmp_path, '--payload', 2.5)
    known = rms_of(tmp_path, '--payload', 2.5, '--known-payload', 2.5)
    ideal = rms_of(tmp_path, '--payload', 2.5, '--known-payload', 2.5, '--ideal')
    # The velocity observers know it, too: what they take for motion misleads the law at its start.
    assert known < 1.2 * rms_of(tmp_path) and known < heavy / 20, (known, heavy)
    assert ideal < 1.2 * rms_of(tmp_path, '--ideal'), ideal
    # A wrong one costs some, but the estimate balances it.
    assert known < rms_of(tmp_path, '--known-payload', 2.5) < 2 * heavy
    com = ['--payload', 2.5, '--payload-com', '0.1,0,0.2']
    made = simulate(tmp_path / 'out', *QUICK, '--law', 'integral', *com,
                    '--known-payload', '2.5,0.1,0,0.2')[0]
    assert made['table']['rows'][0]['tool_rms'] < 1.3 * known
    assert made['made_with']['known_payload'] == {
        'mass': 2.5, 'com': [0.1, 0, 0.2], 'inertia': [0] * 9}


def test_a_known_payload_of_5_kg_is_exact_on_an_arm_without_rotor_inertias(tmp_path):
    errors = {}
    for law in ['integral', 'tracking']:
        data, _ = simulate(tmp_path / law, '--law', law, '--ideal', '--payload', 5,
                           '--payload-com', '0,0,0.1', '--known-payload', '5,0,0,0.1',
                           robot=ROBOTS / 'ur10e.urdf')
        errors[law] = data['table']['rows'][0]['tool_rms']  # mm
    print('UR10e with 5 kg known, tool error in mm RMS:', errors)
    assert max(errors.values()) <= 0.005


@pytest.mark.parametrize('option, value, effect', [
    ('--com-error', 0.05, 2), ('--friction-error', 30, 2), ('--armature-error', 30, 1.1),
    ('--torque-constant-error', 20, 2), ('--lag', 0.005, 1.05), ('--delay', 5, 1.1),
    ('--elastic-frequency', 100, 2), ('--torque-limit', 0.2, 10), ('--stiction', 2, 1.05)])
def test_every_disturbance_reaches_the_arm(tmp_path, option, value, effect):
    """Each one has its own test in ga_hardware; here, that the option is passed on."""
    def rms(*options):
        result = ga('sim', PUMA_URDF, *QUICK, '--law', 'tracking', *options, '--output', tmp_path)
        assert result.returncode in (0, 1), result.stderr
        return json.loads((tmp_path / 'data.json').read_text())['table']['rows'][0]['tool_rms']
    disturbed = rms(option, value)
    assert disturbed is None or disturbed > effect * rms()  # None: the arm was stopped


def test_the_data_say_what_they_were_made_with(tmp_path):
    options = [*QUICK, '--law', 'integral', '--ki', '9000', '--kd', '80,81,82,83,84,85',
               '--payload', 1, '--mismatch', 10, '--stiction', 1.2, '--noise', '1e-5', '--seed', 7,
               '--friction', 0.5, '--payload-com', '0.01,0,0.02', '--com-error', 0.002,
               '--friction-error', 5, '--armature-error', 6, '--torque-constant-error', 1,
               '--delay', 1, '--lag', 0.0005, '--torque-limit', 0.9,
               '--elastic-frequency', 150, '--elastic-ratio', 0.3, '--elastic-damping', 0.1]
    folder = tmp_path / "it's here"
    made = simulate(folder, *options)[0]['made_with']
    assert shlex.split(made['command']) == [
        'ga', 'sim', str(PUMA_URDF), *map(str, options), '--output', str(folder)]
    assert re.match(r'\d+\.\d+\.\d+( \([0-9a-z.-]+\))?$', made['version'])
    robot = made['robot']
    assert robot['sha256'] == hashlib.sha256(pathlib.Path(robot['file']).read_bytes()).hexdigest()
    assert robot['file'].endswith('puma560.urdf')
    assert (robot['base'], robot['tip']) == ('base_link', 'tool0')
    assert robot['joints'] == JOINTS
    assert made['gains'] == [{'joint': joint, 'kp': 1600, 'kd': 80 + i, 'ki': 9000}
                             for i, joint in enumerate(JOINTS)]
    assert (made['rate'], made['seed'], made['laws']) == (1000, 7, ['integral'])
    assert made['friction_feed_forward'] == 0.5
    assert (made['motion']['name'], made['motion']['duration']) == ('quintic', 3)
    unknown = made['unknown_to_the_laws']
    assert (unknown['payload'], unknown['mismatch'], unknown['stiction'], unknown['noise']) == (
        1, 0.1, 1.2, 1e-5)
    assert unknown['payload_com'] == [0.01, 0, 0.02]
    assert {key: unknown[key] for key in [
        'com_error', 'friction_error', 'armature_error', 'torque_constant_error', 'delay', 'lag',
        'torque_limit', 'elastic_frequency', 'elastic_ratio', 'elastic_damping']} == {
        'com_error': 0.002, 'friction_error': 0.05, 'armature_error': 0.06,
        'torque_constant_error': 0.01, 'delay': 1, 'lag': 0.0005, 'torque_limit': 0.9,
        'elastic_frequency': 150, 'elastic_ratio': 0.3, 'elastic_damping': 0.1}
    for key, most in [('friction', 0.05), ('armature', 0.06), ('torque_constant', 0.01)]:
        assert all(0 < abs(body[key] - 1) <= most for body in unknown['body_factors'])
    assert all(0 < abs(x) <= 0.002 for body in unknown['body_factors'] for x in body['com'])
    assert [gain['joint'] for gain in made['joint_controllers']['gains']] == JOINTS
    assert made['joint_controllers']['reduction'] == 1
    factors = [body[key] for body in unknown['body_factors'] for key in ['mass', 'inertia']]
    assert len(set(factors)) == 12 and all(0.9 <= factor <= 1.1 for factor in factors)


@pytest.mark.parametrize('name, joints, motion', [
    ('scara.urdf', 4, 'orientation free'), ('seven_joints.urdf', 7, 'numeric inverse kinematics')])
def test_another_arm_needs_no_further_options(tmp_path, name, joints, motion):
    data, rows = simulate(tmp_path, '--settle', 1, robot=ROBOTS / name)
    assert list(rows)[:2] == [LABELS[law] for law in ['integral', 'tracking']]
    # Laws that would stop far from the goal are left out, and that is said.
    for law, label in [('ptp', 'point-to-point'), ('pd', 'joint PD')]:
        left_out = any(label in note and f'--law {law}' in note for note in data['notes'])
        assert left_out != (LABELS[law] in rows)
    assert len(data['robot']['joints']) == joints
    assert motion in data['made_with']['motion']['description']
    assert data['table']['rows'][0]['tool_max'] < 0.1  # mm
    # What the description leaves out is said; without meshes there is a stick figure.
    notes = ' '.join(data['notes'])
    assert 'position sensors are ideal' in notes and 'torque outputs are ideal' in notes
    assert 'stick figure' in notes
    assert sum(bool(link['visuals']) for link in data['robot']['links']) >= joints


def test_the_chain_can_be_chosen(tmp_path):
    data, _ = simulate(tmp_path, '--freeze', 'a3=0.5', '--law', 'tracking', '--settle', 1,
                       robot=ROBOTS / 'seven_joints.urdf')
    names = [joint['name'] for joint in data['robot']['joints']]
    assert names == ['a1', 'a2', 'a4', 'a5', 'a6', 'a7']


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
