# SPDX-License-Identifier: Apache-2.0
"""`describe` writes a MoveIt configuration for any arm, and arm.launch.py uses it."""

import re
import subprocess
import xml.etree.ElementTree as ElementTree

import launch_support
from launched import Launched
from moveit_support import Code, joint_goal, MoveIt, pose_goal
from puma_bringup import arm_launch
import pytest
import yaml

launch_support.isolate(33)

SEVEN = arm_launch.share('ga_dynamics', 'robots', 'seven_joints.urdf')
PUMA = arm_launch.share('puma_description', 'urdf', 'puma560.urdf')
JOINTS = [f'a{i}' for i in range(1, 8)]
# The description lacks rotor inertias: at full speed, with nine tenths of the torque, the arm
# leaves its path in some runs.
SPEED = 0.5
GOAL = [0.4, 0.8, 0.3, -0.5, -0.4, 0.9, 0.5]


def describe(urdf, folder, *arguments):
    """Run it; return what it prints, and the folder of the MoveIt configuration."""
    done = subprocess.run([arm_launch.program('puma_bringup', 'describe'), urdf, '--output',
                           str(folder), *arguments], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout, folder / 'moveit'


def test_an_arm_of_seven_joints_is_planned_and_moved(tmp_path):
    """From the URDF alone, with the command that `describe` prints."""
    said, folder = describe(SEVEN, tmp_path)
    arguments = dict(word.split(':=') for word in said.split() if ':=' in word)
    assert arguments['moveit'] == str(folder)
    with Launched('arm.launch.py', **arguments, use_sim_time='true'):
        arm = MoveIt(joints=JOINTS, hardware='seven_joints')
        try:
            arm.wait_for_move_group()
            arm.wait_for_controllers(tracking='active', tracking_trajectory='active')
            for goal in (joint_goal(GOAL, joints=JOINTS), joint_goal([0.0] * 7, joints=JOINTS)):
                result, _ = arm.plan_and_move(goal, speed=SPEED)
                assert result.error_code.val == Code.SUCCESS, result.error_code
            chain = ElementTree.parse(folder / 'seven_joints.srdf').find('group/chain')
            base, tip = chain.get('base_link'), chain.get('tip_link')
            goal = pose_goal(arm.pose(GOAL, tip, base), tip=tip, frame=base)
            result, _ = arm.plan_and_move(goal, speed=SPEED)
            assert result.error_code.val == Code.SUCCESS, result.error_code
        finally:
            arm.close()


def test_the_files_are_those_of_the_arm(tmp_path):
    """Limits that the torque allows, closed formulas for an arm that has them."""
    bare = tmp_path / 'puma.urdf'
    root = ElementTree.parse(PUMA).getroot()
    root.remove(root.find('ros2_control'))
    bare.write_text(ElementTree.tostring(root, encoding='unicode'))
    _, folder = describe(bare, tmp_path / 'puma')

    def loaded(name):
        return yaml.safe_load((folder / name).read_text())
    solver = loaded('kinematics.yaml')['arm']['kinematics_solver']
    assert solver == 'ga_motion/ClosedFormKinematics'
    limits = loaded('joint_limits.yaml')['joint_limits']
    assert list(limits) == launch_support.JOINTS
    assert limits['joint1']['max_velocity'] == pytest.approx(0.9 * 1.92, rel=0.01)
    # Without the rotors' inertia the motors could accelerate the wrist far more.
    for name in launch_support.JOINTS:
        share = limits[name]['max_acceleration'] / limits[name]['max_velocity']
        assert share <= 20 * 1.01, name
    assert limits['joint6']['max_acceleration'] > 19.8 * limits['joint6']['max_velocity']
    said = (folder / 'joint_limits.yaml').read_text()
    assert 'velocity limit in less than 0.05 s. The torques alone would allow: ' in said
    assert re.search(r'joint6 [0-9.e+]+\.\n.*rotors', said)
    pairs = {frozenset((pair.get('link1'), pair.get('link2'))): pair.get('reason') for pair in
             ElementTree.parse(folder / 'puma560.srdf').getroot().findall('disable_collisions')}
    assert pairs[frozenset(('link1', 'link2'))] == 'Adjacent'
    assert frozenset(('base_link', 'link6')) not in pairs
