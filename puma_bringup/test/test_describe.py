# SPDX-License-Identifier: Apache-2.0
"""`ros2 run puma_bringup describe`: from a URDF to an arm that moves."""

import re
import subprocess
import xml.etree.ElementTree as ElementTree

import launch_support
from launch_support import Arm, point
from launched import Launched
from puma_bringup import arm_launch
import pytest
import yaml

launch_support.isolate(14)

SEVEN = arm_launch.share('ga_dynamics', 'robots', 'seven_joints.urdf')
JOINTS = [f'a{i}' for i in range(1, 8)]
START = [0.0, 0.5, 0.0, -0.9, 0.0, 0.6, 0.0]
GOAL = [0.4, 0.8, 0.3, -0.5, -0.4, 0.9, 0.5]


def describe(*arguments, code=0):
    """Run it."""
    done = subprocess.run([arm_launch.program('puma_bringup', 'describe'), *map(str, arguments)],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    assert 'Traceback' not in done.stderr
    return done


@pytest.fixture
def variant(tmp_path):
    """Return a function that writes the seven joints with one text replaced by another."""
    def write(old, new):
        text = open(SEVEN).read()
        assert old in text
        path = tmp_path / 'variant.urdf'
        path.write_text(text.replace(old, new, 1))
        return path
    return write


def test_an_arm_of_seven_joints_runs_at_once(tmp_path):
    """Under all laws, from the initial positions of the hardware parameters."""
    assert '<ros2_control' not in open(SEVEN).read()
    said = describe(SEVEN, '--output', tmp_path).stdout
    files = [f'description:={tmp_path}/seven_joints.urdf.xacro',
             f'controllers_file:={tmp_path}/controllers.yaml']
    assert ' '.join(files) in said
    start = ','.join(f'{joint}:{q}' for joint, q in zip(JOINTS, START))
    others = [law + end for law in ('tracking_integral', 'point_to_point')
              for end in ('', '_trajectory')]
    with Launched('arm.launch.py', **dict(file.split(':=') for file in files), use_sim_time='true',
                  inactive=' '.join(['gravity_hold', *others]),
                  hardware_parameters=f'initial_positions={start}'):
        arm = Arm(hardware='seven_joints', joints=JOINTS)
        try:
            arm.wait_for_controllers(tracking='active', tracking_trajectory='active',
                                     **{name: 'inactive' for name in others})
            assert arm.positions() == pytest.approx(START, abs=1e-3)
            arm.move('tracking_trajectory', [point(3.0, GOAL)])
            assert arm.positions() == pytest.approx(GOAL, abs=1e-3)
            assert arm.switch(others[:2], ['tracking', 'tracking_trajectory'])
            arm.move('tracking_integral_trajectory', [point(3.0, START)])
            assert arm.switch(others[2:], others[:2])
            arm.move('point_to_point_trajectory', [point(3.0, GOAL)])
        finally:
            arm.close()


def test_takes_parameters_of_drives(tmp_path):
    describe(SEVEN, '--output', tmp_path, '--parameter', 'a2.armature=0.8')
    text = (tmp_path / 'seven_joints.urdf.xacro').read_text()
    assert text.count('armature') == 1
    assert '<param name="armature">0.8</param>' in text.split('"a2"')[1].split('</joint>')[0]
    said = describe(SEVEN, '--output', tmp_path, '--parameter', 'a9.armature=1', code=2).stderr
    assert 'a9.armature=1' in said
    assert 'a7' in said
    said = describe(SEVEN, '--output', tmp_path, '--parameter', 'a2.armature=much', code=2).stderr
    assert "'a2.armature=much': not a number" in said


def test_takes_a_part_of_the_arm(tmp_path):
    describe(SEVEN, '--output', tmp_path, '--tip', 'link5')
    parameters = yaml.safe_load((tmp_path / 'controllers.yaml').read_text())
    assert parameters['/**/tracking_trajectory']['ros__parameters']['joints'] == JOINTS[:5]
    assert parameters['/**/tracking']['ros__parameters']['tip'] == 'link5'
    assert '<param name="tip">link5</param>' in (tmp_path / 'seven_joints.urdf.xacro').read_text()


def test_starts_within_the_limits(tmp_path, variant):
    describe(variant('lower="-2.9" upper="2.9"', 'lower="1.0" upper="2.0"'), '--output', tmp_path)
    text = (tmp_path / 'seven_joints.urdf.xacro').read_text()
    assert '<param name="initial_value">1.5</param>' in text.split('"a1"')[1].split('</joint>')[0]


def test_gives_soft_limits_to_joints_that_have_none(tmp_path, variant):
    own = '<safety_controller soft_lower_limit="-2" soft_upper_limit="2" k_velocity="9"/>'
    limit = '<limit lower="-2.9" upper="2.9" effort="200" velocity="2"/>'
    path = variant(limit, limit + own)
    describe(path, '--output', tmp_path)
    joints = ElementTree.parse(tmp_path / 'seven_joints.urdf').getroot().findall('joint')
    soft = {joint.get('name'): joint.find('safety_controller') for joint in joints}
    assert soft['a1'].attrib == {'soft_lower_limit': '-2', 'soft_upper_limit': '2',
                                 'k_velocity': '9'}
    for joint in joints:
        name, limit = joint.get('name'), joint.find('limit')
        if name not in JOINTS[1:]:
            continue
        lower, upper = float(limit.get('lower')), float(limit.get('upper'))
        assert float(soft[name].get('soft_lower_limit')) == pytest.approx(lower + 0.05)
        assert float(soft[name].get('soft_upper_limit')) == pytest.approx(upper - 0.05)


def test_needs_no_friction_data(tmp_path, variant):
    text = open(SEVEN).read()
    path = tmp_path / 'bare.urdf'
    path.write_text(re.sub(r'<dynamics[^>]*/>', '', text))
    describe(path, '--output', tmp_path)
    parameters = yaml.safe_load((tmp_path / 'controllers.yaml').read_text())
    assert parameters['/**/tracking_trajectory']['ros__parameters']['joints'] == JOINTS


def test_two_arms_are_listed_with_the_option(tmp_path):
    link = ('<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
            'ixz="0" iyz="0"/></inertial></link>')
    joint = ('<joint name="{0}_joint" type="revolute"><parent link="torso"/><child link="{0}"/>'
             '<axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="1" effort="9"/></joint>')
    path = tmp_path / 'two.urdf'
    path.write_text('<robot name="two">' + ''.join(map(link.format, ['torso', 'left', 'right']))
                    + ''.join(map(joint.format, ['left', 'right'])) + '</robot>')
    said = describe(path, '--output', tmp_path, code=2).stderr
    assert '--tip left or --tip right' in said
    describe(path, '--output', tmp_path, '--tip', 'right')


def test_refuses_what_cannot_be_driven(tmp_path, variant):
    said = describe(variant('effort="200"', 'effort="0"'), '--output', tmp_path, code=2).stderr
    assert 'a1' in said and 'effort' in said
    said = describe(variant('<mass value="4"/>', '<mass value="-4"/>'), code=2).stderr
    assert 'link1' in said and 'negative' in said
    puma = arm_launch.share('puma_description', 'urdf', 'puma560.urdf')
    assert '<ros2_control> tag' in describe(puma, code=2).stderr
    assert 'nothing.urdf' in describe(tmp_path / 'nothing.urdf', code=2).stderr
