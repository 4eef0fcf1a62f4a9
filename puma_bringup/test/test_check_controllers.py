# SPDX-License-Identifier: Apache-2.0
"""`check_controllers` with a fake controller manager."""

import subprocess
import threading

from controller_manager_msgs.msg import ControllerState
from controller_manager_msgs.srv import ListControllers
import launch_support
from puma_bringup import arm_launch
import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor

launch_support.isolate(19)

READY = {'hold': 'inactive', 'law': 'active', 'trajectory': 'active'}


@pytest.fixture
def check():
    """Return a function that runs the command with a service that lists these states."""
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node('controller_manager', namespace='left', context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    states = {}

    def answer(_, response):
        response.controller = [ControllerState(name=n, state=s) for n, s in states.items()]
        return response

    node.create_service(ListControllers, '~/list_controllers', answer)
    thread = threading.Thread(target=executor.spin)
    thread.start()

    def run(code, namespace='left', **given):
        states.clear()
        states.update(given)
        done = subprocess.run(
            [arm_launch.program('puma_bringup', 'check_controllers'), '--loaded', 'hold',
             'law', 'trajectory', '--active', 'law', 'trajectory', '--parameters', 'my.yaml',
             '--timeout', '20' if namespace == 'left' else '0.5',
             '--ros-args', '-r', f'__ns:=/{namespace}'], capture_output=True, text=True,
            timeout=90)
        assert done.returncode == code, done.stdout + done.stderr
        return next((line for line in done.stderr.splitlines() if line.startswith('error')), '')

    yield run
    executor.shutdown()
    rclpy.shutdown(context=context)
    thread.join()


def test_is_silent_if_all_are_ready(check):
    assert check(0, **READY) == ''


def test_names_what_is_not_loaded_and_where_the_parameters_are(check):
    said = check(1, hold='inactive')
    assert said.startswith('error: controllers are missing: law, trajectory; see the')
    assert said.endswith('Their parameters are in my.yaml')


def test_names_what_is_not_configured(check):
    said = check(1, hold='unconfigured', law='inactive')
    assert 'missing: hold (loaded, not configured), trajectory;' in said


def test_names_what_is_not_active(check):
    said = check(1, **{**READY, 'law': 'inactive'})
    assert 'controllers cannot be activated: law;' in said


def test_says_that_there_is_no_controller_manager(check):
    said = check(1, namespace='right')
    assert 'does not answer' in said and '/right/controller_manager/list_controllers' in said
