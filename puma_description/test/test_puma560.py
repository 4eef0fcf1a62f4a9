# SPDX-License-Identifier: Apache-2.0
"""puma560.urdf against the published values, copied here from their sources independently."""

import math
import random

import pytest
from urdf_file import (apply, dh_frames, difference, GA, ga_gravity, GRAVITY, JOINTS, LINKS, load,
                       numbers, product, transform, turn, URDF)

ROBOT = load('puma560')
RIGHT = math.pi / 2

# Armstrong, Khatib, Burdick 1986, from mdl_puma560akb.m: alpha, a, d.
DH = [(0, 0, 0), (-RIGHT, 0, 0.2435), (0, 0.4318, -0.0934), (RIGHT, -0.0203, 0.4331),
      (-RIGHT, 0, 0), (RIGHT, 0, 0)]
# The same: mass, center of mass, moments about it. Link 1 was not weighed.
BODIES = {
    'link2': (17.4, [0.068, 0.006, -0.016], [0.130, 0.524, 0.539]),
    'link3': (4.8, [0, -0.070, 0.014], [0.066, 0.0125, 0.086]),
    'link4': (0.82, [0, 0, -0.019], [1.8e-3, 1.8e-3, 1.3e-3]),
    'link5': (0.34, [0, 0, 0], [0.3e-3, 0.3e-3, 0.4e-3]),
    'link6': (0.09, [0, 0, 0.032], [0.15e-3, 0.15e-3, 0.04e-3]),
}
# Stanford's model, degrees; Corke 1996 table 2.21, rad/s; AKB table 7, N m.
LIMITS = [(-160, 160, 1.92, 97.6), (-223, 43, 1.51, 186.4), (-40, 240, 2.40, 89.4),
          (-130, 180, 5.34, 24.2), (-100, 100, 5.09, 20.1), (-266, 266, 5.74, 21.3)]
# Robotics Toolbox, mdl_puma560.m: |G|, B, Tc+, |Tc-|, the latter three at the motor.
MOTORS = [(62.6111, 1.48e-3, 0.395, 0.435), (107.815, 0.817e-3, 0.126, 0.071),
          (53.7063, 1.38e-3, 0.132, 0.105), (76.03636, 71.2e-6, 0.0112, 0.0169),
          (71.923, 82.6e-6, 0.00926, 0.0145), (76.686, 36.7e-6, 0.00396, 0.0105)]
ARMATURE = [1.14, 4.71, 0.83, 0.200, 0.179, 0.193]  # AKB, from Stanford's model
COUNTS_PER_RADIAN = [9965.1, 13669.4, 8547.0, 12097.3, 11444.8, 12212.2]  # Trident ROBOT.C
COUNTS_PER_NM = [21.0, 11.0, 22.9, 84.6, 102, 96.2]  # the same, of a 12-bit DAC on ±10 V
DAC_COUNTS_PER_VOLT = 204.8

# Robotics Toolbox, mdl_puma560.m: standard DH (alpha, a, d), here with AKB's d3 and d4.
TOOLBOX_DH = [(RIGHT, 0, 0), (0, 0.4318, 0), (-RIGHT, 0.0203, 0.1501), (RIGHT, 0, 0.4331),
              (-RIGHT, 0, 0), (0, 0, 0)]
TOOLBOX_ZERO = [180, 180, 180, 0, 0, 180]  # degrees, of our joints


def random_positions(seed, count=20):
    """Return joint positions within the limits."""
    generator = random.Random(seed)
    return [[generator.uniform(*ROBOT.limit(joint)[:2]) for joint in JOINTS]
            for _ in range(count)]


def test_the_tree_has_the_promised_names():
    assert set(ROBOT.links) == {'base_link', 'floor', *LINKS, 'flange', 'tool0'}
    moving = [name for name, joint in ROBOT.joints.items() if joint.get('type') != 'fixed']
    assert moving == JOINTS
    assert all(ROBOT.joints[name].get('type') == 'revolute' for name in JOINTS)


def test_link_frames_are_those_of_the_modified_dh_table():
    for q in random_positions(1):
        frames = ROBOT.frames(dict(zip(JOINTS, q)))
        for name, expected in zip(LINKS, dh_frames(DH, q)):
            assert difference(frames[name], expected) < 1e-12, name


def test_the_floor_is_26_45_inches_below_the_shoulder():
    frames = ROBOT.frames(dict.fromkeys(JOINTS, 0))
    assert apply(frames['floor'], [0, 0, 0]) == pytest.approx([0, 0, -26.45 * 0.0254])


def test_tool0_is_the_flange_with_the_axes_of_link6():
    frames = ROBOT.frames(dict.fromkeys(JOINTS, 0.3))
    expected = product(frames['link6'], transform(turn('x', 0), [0, 0, 0.05625]))
    assert difference(frames['tool0'], expected) < 1e-12
    x_of_flange = [row[0] for row in frames['flange'][:3]]
    assert x_of_flange == pytest.approx([row[2] for row in frames['tool0'][:3]])


def test_reach_is_that_of_the_catalog():
    """Unimation: 0.86 m from the waist to the wrist center and 0.92 m to the flange.

    Measured in the vertical plane of the arm, as the catalog draws it.
    """
    frames = ROBOT.frames(dict(zip(JOINTS, [0, 0, RIGHT, 0, 0, 0])))
    assert frames['link4'][0][3] == pytest.approx(0.86, abs=0.01)
    assert frames['tool0'][0][3] == pytest.approx(0.92, abs=0.01)


def test_joints_turn_as_the_robotics_toolbox_turns_them():
    """The friction of the Toolbox depends on the direction: the directions must agree."""
    for q in random_positions(2):
        frame, axes = transform(turn('x', 0), [0, 0, 0]), []
        toolbox_q = [x - math.radians(zero) for x, zero in zip(q, TOOLBOX_ZERO)]
        for (alpha, a, d), x in zip(TOOLBOX_DH, toolbox_q):
            axes.append([row[2] for row in frame[:3]])
            frame = product(frame, transform(turn('z', x), [0, 0, d]))
            frame = product(frame, transform(turn('x', alpha), [a, 0, 0]))
        frames = ROBOT.frames(dict(zip(JOINTS, q)))
        assert difference(frames['link6'], frame) < 1e-12
        for name, axis in zip(LINKS, axes):
            assert [row[2] for row in frames[name][:3]] == pytest.approx(axis), name


@pytest.mark.parametrize('name', BODIES)
def test_masses_and_centers_are_the_published_ones(name):
    mass, com, _ = BODIES[name]
    assert ROBOT.inertials[name].mass == mass
    assert ROBOT.inertials[name].com == com


@pytest.mark.parametrize('name', ['link2', 'link4', 'link5', 'link6'])
def test_moments_are_the_published_ones(name):
    assert ROBOT.inertials[name].moments == BODIES[name][2]
    assert ROBOT.inertials[name].products == [0, 0, 0]


def test_link3_has_the_nearest_physical_moments():
    """They differ from the published ones by a third of the deficit of 0.0075."""
    ours, published = ROBOT.inertials['link3'].moments, BODIES['link3'][2]
    assert [a - b for a, b in zip(ours, published)] == pytest.approx(
        [0.0025, 0.0025, -0.0025], abs=1.1e-6)


def test_link1_has_the_published_moment_about_joint_1_and_a_plausible_mass():
    body = ROBOT.inertials['link1']
    about_axis = body.moments[2] + body.mass * (body.com[0] ** 2 + body.com[1] ** 2)
    assert about_axis == pytest.approx(0.35, rel=1e-12)
    weighed = sum(mass for mass, _, _ in BODIES.values())
    assert 5 < body.mass < 54.5 - weighed  # mass of the arm in the catalog


def test_only_the_moving_links_have_inertia():
    assert set(ROBOT.inertials) == set(LINKS)


@pytest.mark.parametrize('joint, row', zip(JOINTS, LIMITS), ids=JOINTS)
def test_limits(joint, row):
    lower, upper, velocity, effort = ROBOT.limit(joint)
    assert [lower, upper] == pytest.approx([math.radians(row[0]), math.radians(row[1])], rel=1e-12)
    assert (velocity, effort) == row[2:]


@pytest.mark.parametrize('joint', JOINTS)
def test_soft_limits_are_three_degrees_inside_and_leave_the_torque_alone(joint):
    lower, upper, velocity, effort = ROBOT.limit(joint)
    tag = ROBOT.joints[joint].find('safety_controller')
    soft = [float(tag.get(key)) for key in ('soft_lower_limit', 'soft_upper_limit')]
    margin = math.radians(3)
    assert soft == pytest.approx([lower + margin, upper - margin], abs=1e-11)
    # ros2_control's limiter: efforts up to k_velocity times the speed that is left
    assert float(tag.get('k_velocity')) == pytest.approx(10 * effort / velocity, rel=1e-4)
    assert float(tag.get('k_position')) == 10


@pytest.mark.parametrize('joint, row, armature', zip(JOINTS, MOTORS, ARMATURE), ids=JOINTS)
def test_drives_are_the_motors_through_the_gears(joint, row, armature):
    gear, viscous, positive, negative = row
    drive = ROBOT.drive(joint)
    assert float(drive['gear_ratio']) == gear
    assert float(drive['armature']) == armature
    assert float(drive['viscous_friction']) == pytest.approx(viscous * gear ** 2, abs=5.1e-5)
    assert float(drive['coulomb_friction_positive']) == pytest.approx(positive * gear, abs=5.1e-5)
    assert float(drive['coulomb_friction_negative']) == pytest.approx(negative * gear, abs=5.1e-5)


@pytest.mark.parametrize('joint', JOINTS)
def test_plain_simulators_get_the_same_friction(joint):
    tag, drive = ROBOT.joints[joint].find('dynamics'), ROBOT.drive(joint)
    both = [float(drive[f'coulomb_friction_{way}']) for way in ('positive', 'negative')]
    assert tag.get('damping') == drive['viscous_friction']
    assert float(tag.get('friction')) == pytest.approx(sum(both) / 2, abs=1e-4)


@pytest.mark.parametrize('joint, row', zip(JOINTS, LIMITS), ids=JOINTS)
def test_full_voltage_is_full_torque(joint, row):
    drive = ROBOT.drive(joint)
    full = float(drive['torque_per_volt']) * float(drive['max_voltage'])
    assert full == pytest.approx(row[3], rel=1e-6)


@pytest.mark.parametrize('joint, counts', zip(JOINTS, COUNTS_PER_NM), ids=JOINTS)
def test_torque_per_volt_is_what_trident_measured(joint, counts):
    expected = DAC_COUNTS_PER_VOLT / counts
    assert float(ROBOT.drive(joint)['torque_per_volt']) == pytest.approx(expected, rel=5e-3)


@pytest.mark.parametrize('joint, counts', zip(JOINTS, COUNTS_PER_RADIAN), ids=JOINTS)
def test_encoder_scale_is_that_of_trident(joint, counts):
    """To 0.5 %: for joint 2 the sources of gear ratio and scale differ by 0.4 %."""
    drive = ROBOT.drive(joint)
    scale = float(drive['encoder_counts_per_rev']) * float(drive['gear_ratio']) / (2 * math.pi)
    assert scale == pytest.approx(counts, rel=5e-3)


def test_a_turn_of_joint_4_is_worth_a_turn_of_motors_5_and_6():
    """Trident ROBOT.C: 0.0139037, -0.0130401, 0.180556."""
    five, six = ROBOT.drive('joint5'), ROBOT.drive('joint6')
    assert float(five['coupling_joint4']) * float(five['gear_ratio']) == pytest.approx(1, rel=1e-5)
    assert float(six['coupling_joint4']) * float(six['gear_ratio']) == pytest.approx(-1, rel=1e-5)
    assert float(six['coupling_motor5']) == pytest.approx(13 / 72, rel=1e-5)
    for joint in JOINTS[:4]:
        assert not any(key.startswith('coupling') for key in ROBOT.drive(joint))


def test_brakes_are_on_joints_1_to_3():
    assert [ROBOT.drive(joint)['brake'] for joint in JOINTS] == ['true'] * 3 + ['false'] * 3


def test_ros2_control_commands_effort_within_the_limits_and_reads_three_states():
    assert ROBOT.control.get('type') == 'system'
    assert ROBOT.control.findtext('hardware/plugin') == 'puma_hardware/PumaSimSystem'
    assert [joint.get('name') for joint in ROBOT.control.findall('joint')] == JOINTS
    for joint in ROBOT.control.findall('joint'):
        (command,) = joint.findall('command_interface')
        bounds = {param.get('name'): float(param.text) for param in command}
        effort = ROBOT.limit(joint.get('name'))[3]
        assert command.get('name') == 'effort'
        assert bounds == {'min': -effort, 'max': effort}
        states = [state.get('name') for state in joint.findall('state_interface')]
        assert states == ['position', 'velocity', 'effort']


def stretched_load():
    """Return the torque of joint 2 that holds the arm straight out, from the tables above."""
    frames = dh_frames(DH, [0, 0, RIGHT, 0, 0, 0])
    moment = sum(mass * apply(frames[int(name[-1]) - 1], com)[0]
                 for name, (mass, com, _) in BODIES.items())
    return GRAVITY * moment


def test_stretched_out_joint_2_carries_45_7_newton_meters():
    assert stretched_load() == pytest.approx(45.7, abs=0.05)


@pytest.mark.skipif(not GA, reason='no ga command: build ga_tools first')
def test_ga_computes_the_same_load():
    """Positive rotation of joint 2 lowers the arm, so the holding torque is negative."""
    torques = ga_gravity(URDF / 'puma560.urdf', [0, 0, RIGHT, 0, 0, 0])
    assert torques[1] == pytest.approx(-stretched_load(), rel=1e-9)
    assert torques[0] == pytest.approx(0, abs=1e-12)


def test_every_number_is_finite():
    for element in ROBOT.root.iter():
        for key in ('xyz', 'rpy', 'value', 'lower', 'upper', 'effort', 'velocity', 'radius',
                    'length', 'size', 'rgba', 'damping', 'friction', 'ixx', 'iyy', 'izz'):
            if key in element.keys():
                assert all(math.isfinite(x) for x in numbers(element.get(key))), element.tag
