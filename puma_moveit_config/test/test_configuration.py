# SPDX-License-Identifier: Apache-2.0
"""MoveIt's own tools read the configuration; the collision matrix is that of a new sampling."""

import subprocess
import xml.etree.ElementTree as ElementTree

from moveit_configs_utils import MoveItConfigsBuilder
from puma_bringup import arm_launch, moveit
import pytest
import xacro

CONFIG = arm_launch.share('puma_moveit_config', 'config')
URDF = arm_launch.share('puma_description', 'urdf', 'puma560.urdf')


def test_the_builder_finds_what_the_launch_files_use():
    built = MoveItConfigsBuilder('puma560', package_name='puma_moveit_config').planning_pipelines(
        pipelines=list(moveit.PIPELINES)).to_moveit_configs().to_dict()
    urdf = xacro.process_file(
        arm_launch.share('puma_description', 'urdf', 'puma560.urdf.xacro')).toxml()
    own = moveit.parameters(CONFIG, urdf)
    for name in ('robot_description_kinematics', 'robot_description_planning',
                 'planning_pipelines', 'default_planning_pipeline', *moveit.PIPELINES,
                 'moveit_controller_manager', 'ga_controllers', 'trajectory_execution'):
        assert own[name] == built[name], name
    robots = [ElementTree.fromstring(given[f'robot_description{kind}']).get('name')
              for given in (own, built) for kind in ('', '_semantic')]
    assert robots == ['puma560'] * 4


@pytest.fixture(scope='module')
def sampled():
    """Return {pair: (reason, share of the postures)} of other random postures."""
    done = subprocess.run([arm_launch.program('ga_motion', 'sample_collisions'), URDF, '--counts',
                           '--seed', '2'],
                          capture_output=True, text=True, check=True)
    rows = [line.split(',') for line in done.stdout.splitlines()]
    return {frozenset(row[:2]): (row[2], float(row[3])) for row in rows}


def test_the_collision_matrix_is_that_of_a_new_sampling(sampled):
    root = ElementTree.parse(f'{CONFIG}/puma560.srdf').getroot()
    pairs = {frozenset((pair.get('link1'), pair.get('link2'))): pair.get('reason')
             for pair in root.findall('disable_collisions')}
    for pair, (reason, share) in sampled.items():
        given = pairs.pop(pair, '')
        assert given == reason, f'{sorted(pair)}: {share}'
    assert pairs == {}, 'pairs without geometry'


def test_sampling_refuses_what_it_cannot_use(tmp_path):
    bad = tmp_path / 'bad.urdf'
    bad.write_text('<robot')
    for arguments, said in (([], 'usage'), (['none.urdf'], 'cannot be read'),
                            ([str(bad)], 'is no URDF'), ([URDF, '--samples', '0'], '--samples 0'),
                            ([URDF, '--joints', 'elbow'], '--joints elbow')):
        done = subprocess.run([arm_launch.program('ga_motion', 'sample_collisions'), *arguments],
                              capture_output=True, text=True)
        assert done.returncode == 2 and said in done.stderr, done.stderr
