# SPDX-License-Identifier: Apache-2.0
"""Well-known arms without drive data: `describe`, `arm.launch.py` and a trajectory goal."""

import subprocess

import launch_support
from launch_support import Arm, point
from launched import Launched
import public_arms
from puma_bringup import arm_launch
import pytest
import yaml

launch_support.isolate(18)

# Start and goal of each arm, rad: within the limits, away from singularities.
MOVES = {
    'ur10e': ([0.0, -1.2, 1.4, -0.5, 0.3, 0.0], [0.6, -0.8, 0.9, -0.9, 0.8, 0.7]),
    'iiwa14': ([0.0, 0.5, 0.0, -1.0, 0.0, 0.8, 0.0], [0.5, 0.9, 0.3, -0.6, -0.4, 1.1, 0.6]),
    'panda': ([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8], [0.5, -0.1, 0.3, -1.5, -0.4, 1.9, 0.2]),
}
TEXTS = {'ur10e': public_arms.ur10e, 'iiwa14': public_arms.iiwa14,
         'panda': public_arms.panda_with_hand}


@pytest.mark.parametrize('name', MOVES)
def test_a_bare_description_becomes_an_arm_that_moves(name, tmp_path):
    start, goal = MOVES[name]
    joints = [f'joint{i}' for i in range(1, len(start) + 1)]
    bare = tmp_path / f'{name}.urdf'
    bare.write_text(TEXTS[name]())
    done = subprocess.run(
        [arm_launch.program('puma_bringup', 'describe'), bare, '--output', tmp_path / 'arm'],
        capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert 'Traceback' not in done.stderr

    # Start the arm with the printed command.
    words = done.stdout.split()
    assert words[:4] == ['ros2', 'launch', 'puma_bringup', 'arm.launch.py'], done.stdout
    arguments = dict(word.split(':=') for word in words[4:])
    parameters = yaml.safe_load((tmp_path / 'arm/controllers.yaml').read_text())
    assert parameters['/**/tracking_trajectory']['ros__parameters']['joints'] == joints

    at = ','.join(f'{joint}:{q}' for joint, q in zip(joints, start))
    with Launched('arm.launch.py', **arguments, use_sim_time='true',
                  hardware_parameters=f'initial_positions={at}'):
        arm = Arm(hardware=name, joints=joints)
        try:
            arm.wait_for_controllers(tracking='active', tracking_trajectory='active')
            assert arm.positions() == pytest.approx(start, abs=1e-3)
            arm.move('tracking_trajectory', [point(2.0, goal)])
            assert arm.positions() == pytest.approx(goal, abs=1e-3)
        finally:
            arm.close()
