# SPDX-License-Identifier: Apache-2.0
"""The configuration agrees with the arm's description and with itself."""

import json
import math
import os
from pathlib import Path
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest
import yaml

PACKAGE = Path(__file__).resolve().parents[1]
CONFIG = PACKAGE / 'config'
URDF = PACKAGE.parent / 'puma_description/urdf/puma560.urdf'
PIPELINES = ('ompl', 'pilz_industrial_motion_planner')
# As joint_limits.yaml says
VELOCITY_SHARE, TORQUE_RESERVE = 0.9, 0.1


def loaded(name):
    return yaml.safe_load((CONFIG / name).read_text())


@pytest.fixture(scope='module')
def limits():
    done = subprocess.run(
        [os.environ['GA_COMMAND'], 'limits', URDF, '--json', '--velocity-scale',
         str(VELOCITY_SHARE), '--reserve', str(TORQUE_RESERVE)],
        capture_output=True, text=True, check=True)
    return {joint['name']: joint for joint in json.loads(done.stdout)['joints']}


@pytest.fixture(scope='module')
def srdf():
    return ElementTree.parse(CONFIG / 'puma560.srdf').getroot()


@pytest.fixture(scope='module')
def urdf():
    return ElementTree.parse(URDF).getroot()


def test_there_is_nothing_else():
    assert sorted(path.name for path in CONFIG.iterdir()) == sorted([
        'puma560.srdf', 'kinematics.yaml', 'joint_limits.yaml', 'moveit_controllers.yaml',
        'ros2_controllers.yaml', 'pilz_cartesian_limits.yaml', 'scene.yaml', 'moveit.rviz',
        *[f'{pipeline}_planning.yaml' for pipeline in PIPELINES]])


def test_positions_are_within_the_soft_limits(limits):
    given = loaded('joint_limits.yaml')['joint_limits']
    assert list(given) == list(limits)
    for name, joint in limits.items():
        assert 0 <= given[name]['min_position'] - joint['lower'] < 1e-3, name
        assert 0 <= joint['upper'] - given[name]['max_position'] < 1e-3, name


def test_velocities_and_accelerations_are_those_that_the_torque_allows(limits):
    given = loaded('joint_limits.yaml')['joint_limits']
    for name, joint in limits.items():
        for kind in ('velocity', 'acceleration'):
            assert given[name][f'has_{kind}_limits'] is True
            value = given[name][f'max_{kind}']
            assert value <= joint[kind] * (1 + 1e-9), f'{name} {kind}'
            assert value > 0.99 * joint[kind], f'{name} {kind}'
            assert value == float(f'{value:.3g}'), 'three digits'


def test_groups_are_of_the_description(srdf, urdf):
    links = {link.get('name') for link in urdf.findall('link')}
    groups = {group.get('name'): group for group in srdf.findall('group')}
    assert list(groups) == ['arm', 'tool']
    chain = groups['arm'].find('chain')
    assert {chain.get('base_link'), chain.get('tip_link')} <= links
    assert {link.get('name') for link in groups['tool'].findall('link')} <= links
    assert srdf.get('name') == urdf.get('name')
    for pair in srdf.findall('disable_collisions'):
        assert {pair.get('link1'), pair.get('link2')} <= links


def test_named_poses_are_within_the_limits(srdf):
    given = loaded('joint_limits.yaml')['joint_limits']
    poses = srdf.findall('group_state')
    assert len(poses) >= 3
    for pose in poses:
        values = {joint.get('name'): float(joint.get('value')) for joint in pose}
        assert list(values) == list(given)
        for name, value in values.items():
            margin = math.radians(5)
            assert given[name]['min_position'] + margin < value, f'{pose.get("name")} {name}'
            assert value < given[name]['max_position'] - margin, f'{pose.get("name")} {name}'


def test_files_name_the_same_groups(srdf):
    assert list(loaded('kinematics.yaml')) == ['arm']
    assert 'arm' in loaded('ompl_planning.yaml')
    planners = loaded('ompl_planning.yaml')
    assert set(planners['arm']['planner_configs']) == set(planners['planner_configs'])
    assert planners['arm']['default_planner_config'] in planners['planner_configs']


def test_the_default_controller_exists():
    chosen = loaded('moveit_controllers.yaml')['ga_controllers']['default_controllers']
    known = (PACKAGE.parent / 'puma_bringup/config/controllers.yaml').read_text()
    assert len(chosen) == 1 and f'/**/{chosen[0]}:' in known


def test_the_setup_assistant_finds_the_files():
    given = yaml.safe_load((PACKAGE / '.setup_assistant').read_text())
    config = given['moveit_setup_assistant_config']
    assert (PACKAGE.parent / config['urdf']['package'] / config['urdf']['relative_path']).is_file()
    assert (PACKAGE / config['srdf']['relative_path']).is_file()
