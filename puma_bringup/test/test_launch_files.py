# SPDX-License-Identifier: Apache-2.0
"""Launch files: each loads; view.launch.py shows the arm; failures are reported and end it."""

import subprocess

import launch_support
from launch_support import Arm
from launched import Launched
from puma_bringup import arm_launch
import pytest
import yaml

launch_support.isolate(16)


@pytest.mark.parametrize('file, names', [
    ('sim.launch.py', ['controller', 'payload']), ('real.launch.py', ['io', 'guard']),
    ('view.launch.py', ['sliders']), ('arm.launch.py', ['description', 'rviz',
                                                        'hardware_parameters'])])
def test_shows_its_arguments(file, names):
    done = subprocess.run(['ros2', 'launch', 'puma_bringup', file, '--show-args'],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    for name in names:
        assert f"'{name}':" in done.stdout


def test_view_shows_the_arm():
    """Without a screen: no sliders, no RViz."""
    with Launched('view.launch.py', sliders='false', rviz='false', robot='600') as launch:
        arm = Arm()
        try:
            assert len(arm.positions()) == 6
            assert launch.process.poll() is None, launch.text()
        finally:
            arm.close()


def test_a_controller_that_cannot_be_had_ends_the_launch(tmp_path):
    """The launch names it and the controllers after it."""
    with open(arm_launch.share('puma_bringup', 'config', 'controllers.yaml')) as file:
        parameters = yaml.safe_load(file)
    parameters['/**/tracking']['ros__parameters']['type'] = 'ga_controllers/NoSuchController'
    path = tmp_path / 'controllers.yaml'
    path.write_text(yaml.safe_dump(parameters))
    with Launched('sim.launch.py', controller='tracking', use_sim_time='true',
                  controllers_file=path) as launch:
        launch.ended(120)
    said = next(line for line in launch.lines if 'controllers are missing' in line)
    assert 'tracking, tracking_trajectory, tracking_integral' in said
    assert str(path) in said


def test_hardware_parameters_that_are_none_are_refused():
    example = arm_launch.share('puma_bringup', 'examples', 'scara')
    with Launched('arm.launch.py', description=f'{example}/scara.urdf.xacro',
                  controllers_file=f'{example}/controllers.yaml',
                  hardware_parameters='gravity') as launch:
        assert launch.ended() != 0
    assert "hardware_parameters: 'gravity' is not of the form key=value" in launch.text()
