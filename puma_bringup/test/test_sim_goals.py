# SPDX-License-Identifier: Apache-2.0
"""Goals that do not succeed: each has a defined result and leaves the arm at rest."""

import os
import signal
import subprocess
import sys

from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
import launch_support
from launch_support import ArmTest, EFFORT, JOINTS, point, stamp, VELOCITY
import launch_testing
import launch_testing.asserts
from std_srvs.srv import Trigger

launch_support.isolate(5)

Result = FollowJointTrajectory.Result
HOME = [0.0, -0.8, 2.2, 0.0, 0.4, 0.0]
AWAY = [1.0, -1.2, 2.6, 0.5, -0.4, 0.8]
CHAIN = ArmTest.CHAIN
HOLD = 'gravity_hold'
# rad, the description's limits
LOWER = [-2.7925, -3.8921, -0.6981, -2.2689, -1.7453, -4.6426]
UPPER = [2.7925, 0.7505, 4.1888, 3.1416, 1.7453, 4.6426]
FASTEST = 1.15  # of the velocity limits; the hardware trips at 1.2
SEEN = 0.3  # required fraction of the joint states, one per cycle, to find a peak
NAN = float('nan')

CLIENT = """
import sys, time
sys.path.insert(0, {folder!r})
from launch_support import Arm, point
arm = Arm()
goal, _ = arm.goal([point(3.0, {target!r})])
assert arm.send('tracking_trajectory', goal) is not None
print('sent', flush=True)
time.sleep(600)
"""


def generate_test_description():
    """Start the simulated arm in real time: tests act in mid-motion."""
    return launch_support.simulated_arm(HOME)


class Goals(ArmTest):
    """One arm for all tests; each leaves it at rest and able to move."""

    def setUp(self):
        """Begin at home, with active controllers, whatever the previous test has left."""
        arm = self.arm
        if arm.hardware_state() != 'active':
            arm.call(Trigger, 'puma560/reset_fault', Trigger.Request())
            self.assertTrue(arm.set_hardware_state('active'))
        states = arm.controllers()
        if any(states[name] != 'active' for name in CHAIN):
            held = [HOLD] if states[HOLD] == 'active' else []
            self.assertTrue(arm.switch([n for n in CHAIN if states[n] != 'active'], held))
        self.go_home()
        arm.record()

    def go_home(self):
        """Move home."""
        distance = max(abs(q - h) for q, h in zip(self.arm.positions(), HOME))
        if distance > 5e-3:
            self.arm.move('tracking_trajectory', [point(max(1.0, 1.5 * distance), HOME)])

    def start(self, points, joints=None):
        """Send a goal that is accepted; return its handle."""
        goal, _ = self.arm.goal(points, joints=joints)
        handle = self.arm.send('tracking_trajectory', goal)
        self.assertIsNotNone(handle, 'the goal is rejected')
        return handle

    def until_moving(self):
        """Wait until the arm is in mid-motion from home to away."""
        self.arm.until(lambda: self.arm.positions()[0] > 0.3, 'the arm moves')

    def assert_standing(self, active=CHAIN, inactive=(HOLD,)):
        """The arm is at rest, within its limits, under these controllers; return the states."""
        arm = self.arm
        end = arm.now()
        arm.until(lambda: arm.now() > end + 2.5, 'time passes')
        states = arm.recorded()
        rest = [s for s in states if stamp(s) > end + 1.5]
        self.assertGreater(len(rest), SEEN * 1000)
        self.assertGreater(len(states), SEEN * 1000 * (stamp(states[-1]) - stamp(states[0])))
        for i, joint in enumerate(JOINTS):
            speed = max(abs(s.velocity[i]) for s in rest)
            self.assertLess(speed, 0.02, f'{joint} moves')
            positions = [s.position[i] for s in rest]
            self.assertLess(max(positions) - min(positions), 2e-3, f'{joint} does not stay')
            self.assertGreater(min(s.position[i] for s in states), LOWER[i] + 1e-3, joint)
            self.assertLess(max(s.position[i] for s in states), UPPER[i] - 1e-3, joint)
            self.assertLess(max(abs(s.velocity[i]) for s in states), FASTEST * VELOCITY[i], joint)
            self.assertLessEqual(max(abs(s.effort[i]) for s in states), EFFORT[i] + 0.1, joint)
        controllers = arm.controllers()
        self.assertEqual({name: controllers[name] for name in (*active, *inactive)},
                         {**{name: 'active' for name in active},
                          **{name: 'inactive' for name in inactive}})
        self.assertEqual(arm.hardware_state(), 'active')
        return states

    def assert_ends(self, handle, status, code, text):
        """The goal's end is this one."""
        self.assertEqual(self.arm.result(handle), (status, code, text))

    def test_cancel(self):
        """A cancelled goal says so; the arm brakes and stays where that ends."""
        handle = self.start([point(3.0, AWAY)])
        self.until_moving()
        answer = self.arm.wait(handle.cancel_goal_async(), 'answer to a cancel')
        self.assertEqual(len(answer.goals_canceling), 1)
        self.assert_ends(handle, GoalStatus.STATUS_CANCELED, Result.SUCCESSFUL, '')
        last = self.assert_standing()[-1]
        self.assertGreater(last.position[0], 0.3)
        self.assertLess(last.position[0], 0.95)

    def test_abort(self):
        """A path tolerance that cannot be kept aborts the goal."""
        goal, _ = self.arm.goal([point(2.0, AWAY)])
        goal.path_tolerance = [JointTolerance(name='joint1', position=1e-5)]
        handle = self.arm.send('tracking_trajectory', goal)
        self.assertIsNotNone(handle)
        self.assert_ends(handle, GoalStatus.STATUS_ABORTED, Result.PATH_TOLERANCE_VIOLATED,
                         'Aborted due to path tolerance violation')
        last = self.assert_standing()[-1]
        self.assertLess(last.position[0], 0.5)

    def test_replace(self):
        """A new goal in mid-motion ends the old one and is reached without a stop or a step."""
        first = self.start([point(3.0, AWAY)])
        self.until_moving()
        second = self.start([point(3.0, HOME)])
        self.assert_ends(first, GoalStatus.STATUS_ABORTED, Result.INVALID_GOAL,
                         'Current goal preempted by new incoming action.')
        self.assert_ends(second, GoalStatus.STATUS_SUCCEEDED, Result.SUCCESSFUL,
                         'Goal successfully reached!')
        last = self.assert_standing()[-1]
        for q, wanted in zip(last.position, HOME):
            self.assertAlmostEqual(q, wanted, delta=0.01)

    def test_client_killed(self):
        """The goal of a killed client is completed; the next client can use the arm."""
        code = CLIENT.format(folder=os.path.dirname(os.path.abspath(__file__)), target=AWAY)
        client = subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE, text=True)
        try:
            self.assertEqual(client.stdout.readline().strip(), 'sent')
            self.until_moving()
        finally:
            client.send_signal(signal.SIGKILL)
            client.wait()
            client.stdout.close()
        self.arm.until(lambda: abs(self.arm.positions()[0] - AWAY[0]) < 5e-3, 'the goal is reached')
        last = self.assert_standing()[-1]
        for q, wanted in zip(last.position, AWAY):
            self.assertAlmostEqual(q, wanted, delta=0.01)

    def test_wrong_joint_names(self):
        """A goal for other joints is rejected."""
        for joints in (JOINTS[:5] + ['elbow'], JOINTS[:5], JOINTS + ['joint7']):
            goal, _ = self.arm.goal([point(2.0, AWAY[:len(joints)] + [0.0] * (len(joints) - 6))],
                                    joints=joints)
            self.assertIsNone(self.arm.send('tracking_trajectory', goal), joints)
        self.assert_stayed_home(self.assert_standing())

    def assert_stayed_home(self, states):
        """The arm has not moved."""
        for state in states:
            for q, wanted in zip(state.position, HOME):
                self.assertAlmostEqual(q, wanted, delta=0.02)

    def assert_falls_back(self, goal):
        """A goal with NaN fails and gravity_hold takes over; then recover."""
        handle = self.start([point(1.0, goal)])
        status, code, message = self.arm.result(handle)
        print(f'NaN: status {status}, {code} {message!r}')
        self.assertNotEqual(status, GoalStatus.STATUS_SUCCEEDED)
        self.arm.wait_for_controllers(gravity_hold='active')
        self.assert_stayed_home(self.assert_standing([HOLD], CHAIN))
        self.assertTrue(self.arm.switch(CHAIN, [HOLD]))
        self.arm.record()
        handle = self.start([point(2.0, AWAY)])
        self.assert_ends(handle, GoalStatus.STATUS_SUCCEEDED, Result.SUCCESSFUL,
                         'Goal successfully reached!')
        self.assert_standing()

    def test_not_a_number(self):
        """The controllers fall back to gravity_hold and can be activated again."""
        self.assert_falls_back([NAN] + AWAY[1:])

    def test_not_a_number_alone(self):
        """With no other joint to move, the stock controller would report success."""
        self.assert_falls_back([NAN] + HOME[1:])

    def test_outside_of_the_limits(self):
        """The arm stops before the limit, the goal is aborted."""
        for joint, target, seconds in ((0, 3.4, 4.0), (2, 4.7, 3.0), (1, 1.2, 3.0)):
            with self.subTest(joint=JOINTS[joint]):
                self.go_home()
                self.arm.record()
                goal = list(HOME)
                goal[joint] = target
                handle = self.start([point(seconds, goal)])
                self.assert_ends(handle, GoalStatus.STATUS_ABORTED, Result.PATH_TOLERANCE_VIOLATED,
                                 'Aborted due to path tolerance violation')
                furthest = max(s.position[joint] for s in self.assert_standing())
                print(f'{JOINTS[joint]} towards {target} rad: stops at {furthest:.4f}, '
                      f'{UPPER[joint] - furthest:.4f} before its limit')

    def test_more_than_the_motors_have(self):
        """A motion beyond the motors is aborted, without a fault and within the limits."""
        for goal, seconds in (([1.0] + HOME[1:], 0.1), (AWAY, 0.2), ([0.5] + HOME[1:], 0.2)):
            with self.subTest(goal=goal, seconds=seconds):
                self.setUp()
                handle = self.start([point(seconds, goal)])
                self.assert_ends(handle, GoalStatus.STATUS_ABORTED, Result.PATH_TOLERANCE_VIOLATED,
                                 'Aborted due to path tolerance violation')
                states = self.assert_standing()
                print(f'{seconds} s: at most', ', '.join(
                    f'{max(abs(s.velocity[i]) for s in states) / VELOCITY[i]:.2f}'
                    for i in range(6)), 'of the velocity limits')


@launch_testing.post_shutdown_test()
class AfterShutdown(launch_support.AfterShutdown):
    """Checks after the shutdown."""

    def test_the_log_says_why(self, proc_output):
        """The log has the details that the results lack."""
        for text in ("Incoming joint elbow doesn't match the controller's joints.",
                     "the reference of joint 'joint1' has not been finite for error_cycles",
                     "the reference of joint 'joint1' exceeds what"):
            launch_testing.asserts.assertInStderr(proc_output, text, None)
