# SPDX-License-Identifier: Apache-2.0
"""Shared by the launch tests: an isolated ROS domain and a client of an arm."""

import math
import os
import threading
import time
import unittest

from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from controller_manager_msgs.srv import ConfigureController, ListControllers
from controller_manager_msgs.srv import ListHardwareComponents, LoadController
from controller_manager_msgs.srv import SetHardwareComponentState, SwitchController
from diagnostic_msgs.msg import DiagnosticArray
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription, SetEnvironmentVariable
from launch.launch_description_sources import PythonLaunchDescriptionSource
import launch_testing
import launch_testing.actions
import launch_testing.asserts
from lifecycle_msgs.msg import State
from puma_bringup import arm_launch
from puma_bringup.motions import point
from puma_bringup.recordings import stamp
from rcl_interfaces.srv import SetParameters
import rclpy
from rclpy.action import ActionClient
from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

JOINTS = [f'joint{i}' for i in range(1, 7)]
# Of the PUMA's description: N m, rad/s
EFFORT = [97.6, 186.4, 89.4, 24.2, 20.1, 21.3]
VELOCITY = [1.92, 1.51, 2.4, 5.34, 5.09, 5.74]
PATIENCE = 90.0  # s for anything that takes a second on an idle machine


def isolate(number):
    """Use a ROS domain of its own on the loopback interface; call this first."""
    base = int(os.environ.get('ROS_DOMAIN_ID', os.getpid()))
    os.environ['ROS_DOMAIN_ID'] = str((base + 7 * number) % 101 + 1)
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    os.environ['CYCLONEDDS_URI'] = (
        '<CycloneDDS><Domain><General><Interfaces>'
        '<NetworkInterface name="lo" multicast="false"/>'
        '</Interfaces></General></Domain></CycloneDDS>')


def included(launch_file, **arguments):
    """Return a launch file of the package with these arguments, as an action."""
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(arm_launch.share('puma_bringup', 'launch', launch_file)),
        launch_arguments=arguments.items())


def arm_description(launch_file, *others, **arguments):
    """Return the test description of a launch file with these arguments."""
    names = ('ROS_DOMAIN_ID', 'ROS_AUTOMATIC_DISCOVERY_RANGE', 'CYCLONEDDS_URI')
    return LaunchDescription([
        *[SetEnvironmentVariable(name, os.environ[name]) for name in names],
        included(launch_file, **arguments), *others,
        launch_testing.actions.ReadyToTest(),
    ])


def initial_positions(q):
    """Return the hardware parameter for this initial position."""
    return 'initial_positions=' + ','.join(f'{j}:{x:.6f}' for j, x in zip(JOINTS, q))


def simulated_arm(q, *parameters, **arguments):
    """Return the test description of the simulated arm at q under tracking, in simulated time.

    CPU load then affects only the duration.
    """
    return arm_description(
        'sim.launch.py', controller='tracking', use_sim_time='true',
        hardware_parameters=' '.join([initial_positions(q), *parameters]), **arguments)


class ArmTest(unittest.TestCase):
    """Tests of one arm; begins when the controllers of CHAIN are active."""

    CHAIN = ['tracking', 'tracking_trajectory']

    @classmethod
    def setUpClass(cls):
        """Connect to the arm."""
        cls.arm = Arm()
        cls.arm.wait_for_controllers(**{name: 'active' for name in cls.CHAIN})

    @classmethod
    def tearDownClass(cls):
        """Disconnect."""
        cls.arm.close()


@launch_testing.post_shutdown_test()
class AfterShutdown(unittest.TestCase):
    """Checks after the shutdown."""

    def test_nothing_crashed(self, proc_info):
        """Every process exits normally or by the SIGINT of the launch."""
        launch_testing.asserts.assertExitCodes(proc_info, allowable_exit_codes=[0, -2])


class Arm:
    """Client of an arm under a controller manager, over ROS 2."""

    def __init__(self, namespace='', hardware='puma560', joints=JOINTS):
        """Connect; `namespace` without slashes."""
        self.prefix = f'/{namespace}' if namespace else ''
        self.hardware = hardware
        self.joints = list(joints)
        self.context = rclpy.Context()
        self.context.init()
        self.node = rclpy.create_node('arm_user', namespace=namespace, context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.thread = threading.Thread(target=self._spin)
        self.thread.start()
        self.recorder, self.recording = None, []
        self.state = None
        self.clients, self.diagnoses = {}, {}
        self.node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 100)
        self._listen(self._on_state, 1)  # only the newest: a slow reader must not read old states

    def _listen(self, callback, depth):
        qos = QoSProfile(depth=depth, reliability=ReliabilityPolicy.RELIABLE)
        return self.node.create_subscription(JointState, f'{self.prefix}/joint_states', callback,
                                             qos, raw=True)

    def _spin(self):
        while self.context.ok():
            try:
                self.executor.spin()
                return
            except ExternalShutdownException:
                return
            except InvalidHandle:
                pass  # a subscription was destroyed while the executor used it

    def close(self):
        """Disconnect."""
        self.executor.shutdown()
        self.context.try_shutdown()
        self.thread.join()

    def _on_state(self, message):
        self.state = message

    def _on_diagnostics(self, message):
        for status in message.status:
            self.diagnoses[status.hardware_id, status.name] = status

    # --- waiting

    def until(self, condition, what, patience=PATIENCE):
        """Wait for a condition; return its value."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            found = condition()
            if found:
                return found
            time.sleep(0.05)
        raise TimeoutError(f'{what}: not within {patience:.0f} s')

    def wait(self, future, what, patience=PATIENCE):
        """Wait for a future; return its result."""
        self.until(future.done, what, patience)
        return future.result()

    def call(self, kind, name, request):
        """Call a service; return its response."""
        return self.wait(self.ask(kind, name, request), f'service {name}')

    def look_up(self, kind, name):
        """Call a service without side effects; return its response.

        Repeated until it comes: the service of a killed process appears available for a while, and
        responses right after discovery may be lost.
        """
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            future = self.ask(kind, name, kind.Request())
            try:
                return self.wait(future, f'service {name}', patience=5.0)
            except TimeoutError:
                print(f'service {name}: repeated')
        raise TimeoutError(f'service {name}: no response within {PATIENCE:.0f} s')

    def ask(self, kind, name, request):
        """Call a service; return the future."""
        if name not in self.clients:
            self.clients[name] = self.node.create_client(kind, f'{self.prefix}/{name}')
        client = self.clients[name]
        if not client.service_is_ready() and not client.wait_for_service(timeout_sec=PATIENCE):
            raise TimeoutError(f'service {self.prefix}/{name}: not available')
        return client.call_async(request)

    # --- the controller manager

    def controllers(self):
        """Return the states of all controllers by name."""
        answer = self.look_up(ListControllers, 'controller_manager/list_controllers')
        return {controller.name: controller.state for controller in answer.controller}

    def wait_for_controllers(self, **wanted):
        """Wait until these controllers are in these states."""
        def reached():
            states = self.controllers()
            return all(states.get(name) == state for name, state in wanted.items())
        self.until(reached, f'controllers {wanted}')

    def switch(self, activate=(), deactivate=()):
        """Switch controllers in one cycle; return whether it succeeded."""
        request = SwitchController.Request(
            activate_controllers=list(activate), deactivate_controllers=list(deactivate),
            strictness=SwitchController.Request.STRICT, activate_asap=True,
            timeout=Duration(sec=20))
        return self.call(SwitchController, 'controller_manager/switch_controller', request).ok

    def set_parameters(self, node, **values):
        """Set parameters of a node; return the reasons of those that were rejected."""
        request = SetParameters.Request(
            parameters=[Parameter(name, value=text).to_parameter_msg()
                        for name, text in values.items()])
        answer = self.call(SetParameters, f'{node}/set_parameters', request)
        return [result.reason for result in answer.results if not result.successful]

    def load(self, name, kind, file):
        """Load and configure a controller of this type with the parameters in a file."""
        refused = self.set_parameters('controller_manager',
                                      **{f'{name}.type': kind, f'{name}.params_file': file})
        assert not refused, refused
        assert self.call(LoadController, 'controller_manager/load_controller',
                         LoadController.Request(name=name)).ok
        assert self.call(ConfigureController, 'controller_manager/configure_controller',
                         ConfigureController.Request(name=name)).ok

    def hardware_state(self):
        """Return the lifecycle state of the hardware."""
        answer = self.look_up(ListHardwareComponents,
                              'controller_manager/list_hardware_components')
        return {c.name: c.state.label for c in answer.component}[self.hardware]

    def set_hardware_state(self, label):
        """Set the lifecycle state of the hardware; return whether it succeeded."""
        numbers = {'unconfigured': State.PRIMARY_STATE_UNCONFIGURED,
                   'inactive': State.PRIMARY_STATE_INACTIVE,
                   'active': State.PRIMARY_STATE_ACTIVE}
        request = SetHardwareComponentState.Request(
            name=self.hardware, target_state=State(id=numbers[label], label=label))
        return self.call(SetHardwareComponentState,
                         'controller_manager/set_hardware_component_state', request).ok

    # --- states

    def diagnosis(self):
        """Return message and values of the hardware on /diagnostics."""
        def told():
            return [status for (hardware, _), status in self.diagnoses.items()
                    if hardware == f'{self.prefix}/{self.hardware}']
        status, = self.until(told, f'/diagnostics of {self.hardware}')
        return status.message, {v.key: v.value for v in status.values}

    def positions(self):
        """Return the newest joint positions."""
        self.until(lambda: self.state is not None, 'joint_states')
        return ordered(deserialize_message(self.state, JointState), self.joints).position

    def now(self):
        """Return the time stamp of the newest joint state, s."""
        self.positions()
        return stamp(deserialize_message(self.state, JointState))

    def record(self):
        """Record all joint states from now on."""
        self.recording = []
        self.recorder = self._listen(self.recording.append, 5000)

    def recorded(self):
        """Stop recording when all states until now have arrived; return them, joints in order."""
        end = self.now()
        self.until(lambda: self.recording and
                   stamp(deserialize_message(self.recording[-1], JointState)) >= end,
                   'the recorder catches up')
        self.node.destroy_subscription(self.recorder)
        return [ordered(deserialize_message(m, JointState), self.joints) for m in self.recording]

    # --- motion

    def goal(self, points, delay=0.0, joints=None):
        """Return a goal that starts `delay` s after the newest state, and its start time."""
        goal = FollowJointTrajectory.Goal()
        goal.trajectory = JointTrajectory(joint_names=list(joints or self.joints), points=points)
        start = self.now() + delay
        if delay > 0:
            goal.trajectory.header.stamp.sec = int(start)
            goal.trajectory.header.stamp.nanosec = int(start % 1 * 1e9)
        return goal, start

    def send(self, controller, goal):
        """Send a goal; return its handle, or None if it is rejected."""
        client = ActionClient(self.node, FollowJointTrajectory,
                              f'{self.prefix}/{controller}/follow_joint_trajectory')
        if not client.wait_for_server(timeout_sec=PATIENCE):
            raise TimeoutError(f'action server of {controller}: not available')
        handle = self.wait(client.send_goal_async(goal), f'goal of {controller}')
        return handle if handle.accepted else None

    def result(self, handle, patience=PATIENCE):
        """Wait for the result of a goal; return (status, error code, message)."""
        answer = self.wait(handle.get_result_async(), 'result of a goal', patience)
        return answer.status, answer.result.error_code, answer.result.error_string

    def move(self, controller, points):
        """Move along points; fails unless the goal succeeds."""
        goal, _ = self.goal(points)
        handle = self.send(controller, goal)
        assert handle is not None, f'{controller} has rejected a goal'
        status, code, message = self.result(handle)
        assert status == GoalStatus.STATUS_SUCCEEDED, f'{controller}: {status} {code} {message}'


def follow(arm, line, controller):
    """Follow the line; return the largest joint error and the largest RMS joint error, rad."""
    distance = max(abs(a - b) for a, b in zip(arm.positions(), line.q[0]))
    if distance > 1e-3:
        arm.move(controller, [point(max(2.0, 2.5 * distance), line.q[0])])
    arm.record()
    goal, start = arm.goal(line.points(), delay=1.0)
    handle = arm.send(controller, goal)
    assert handle is not None, f'{controller} has rejected the line'
    status, code, message = arm.result(handle, 120)
    assert status == GoalStatus.STATUS_SUCCEEDED, f'{controller}: error {code}: {message}'
    errors = []
    for state in arm.recorded():
        t = stamp(state) - start
        if 0 <= t <= line.time[-1]:
            errors.append([q - r for q, r in zip(state.position, line.at(t))])
    assert len(errors) > 0.5 * 1000 * line.time[-1], 'too few joint states arrived'
    largest = max(abs(e) for row in errors for e in row)
    each = [math.sqrt(sum(e * e for e in column) / len(errors)) for column in zip(*errors)]
    print(f'{controller}: joint error along the line {1e3 * largest:.3f} mrad at most,'
          f' {1e3 * max(each):.3f} mrad RMS in the worst joint, of',
          ', '.join(f'{1e3 * rms:.3f}' for rms in each), f'({len(errors)} joint states)')
    return largest, max(each)


def ordered(state, joints=JOINTS):
    """Return the joint state with the joints in the arm's order."""
    index = [state.name.index(joint) for joint in joints]
    for name in ('position', 'velocity', 'effort'):
        values = getattr(state, name)  # view.launch.py publishes only positions
        setattr(state, name, [values[i] for i in index] if values else [])
    state.name = list(joints)
    return state
