# SPDX-License-Identifier: Apache-2.0
"""MoveIt plans and moves the simulated arm; what cannot be done is refused with its reason."""

import math
import random
import re
import statistics
import time

from control_msgs.action import GripperCommand
from control_msgs.msg import SpeedScalingFactor
import launch_support
from launch_support import AfterShutdown as Shutdown
import launch_testing
import launch_testing.asserts
from moveit_support import box, Code, distance, joint_goal, moveit_description, MoveItTest
from moveit_support import off_line, off_path, pose_goal, POSES, xyz
from puma_bringup.motions import Motion
from rclpy.action import ActionClient
from std_msgs.msg import String

launch_support.isolate(31)

HOME = POSES['home']
AWAY = [1.0, -1.2, 2.6, 0.5, -0.4, 0.8]
TRACKING = 5e-3  # rad, largest tracking error
LAWS = ('tracking', 'point_to_point', 'tracking_integral')


def generate_test_description():
    """Start the simulated arm in simulated time: CPU load affects only the duration."""
    return moveit_description(use_sim_time='true')


class Planned(MoveItTest):
    """One arm for all tests; each begins at home."""

    def setUp(self):
        """Begin at home."""
        if distance(self.arm.positions(), HOME) > 2e-3:
            self.move(joint_goal(HOME), HOME)

    def report(self, what, seconds, errors):
        """Print the figures of a motion, check the tracking error."""
        largest = max(max(map(abs, error)) for _, error in errors)
        print(f'{what}: {seconds:.2f} s with planning, tracking error {1e3 * largest:.2f} mrad')
        self.assertLess(largest, TRACKING)

    def test_named_poses(self):
        """The arm reaches each of them, and stays there without creeping."""
        for name in [*POSES, 'home']:
            errors = self.arm.errors('tracking_integral_trajectory')
            _, _, seconds = self.move(joint_goal(POSES[name]), POSES[name])
            self.report(name, seconds, errors)
        self.assert_still(2.0, 3e-4)

    def test_random_goals(self):
        """Every goal of joints and poses is planned; a pose ends in the branch that is near."""
        chance = random.Random(1)
        found = []
        while len(found) < 12:
            q = [chance.uniform(-2, 2), chance.uniform(-2.5, 0), chance.uniform(0.5, 3),
                 chance.uniform(-2, 2), chance.uniform(-1.5, 1.5), chance.uniform(-2, 2)]
            if not self.arm.contacts(q):
                found.append(q)
        times = {'joints': [], 'pose': []}
        for q in found:
            for kind, goal in (('joints', joint_goal(q)), ('pose', pose_goal(self.arm.pose(q)))):
                result, _ = self.arm.plan_and_move(goal, plan_only=True)
                self.assertEqual(result.error_code.val, Code.SUCCESS,
                                 f'{kind} {q} {result.error_code}')
                times[kind].append(result.planning_time)
                last = result.planned_trajectory.joint_trajectory.points[-1]
                self.assertEqual([*last.velocities, *last.accelerations], [0.0] * 12)
                if kind == 'joints':
                    self.assertLess(distance(last.positions, q), 2e-3)
                else:
                    self.assertLessEqual(math.dist(last.positions, HOME),
                                         math.dist(q, HOME) + 0.02, 'another branch is nearer')
        for kind, each in times.items():
            print(f'{kind}: {len(each)} of {len(found)} planned, median '
                  f'{1e3 * statistics.median(each):.0f} ms, at most {1e3 * max(each):.0f} ms')

    def test_pose(self):
        """A pose is reached."""
        goal = self.arm.pose(AWAY)
        errors = self.arm.errors('tracking_integral_trajectory')
        _, _, seconds = self.move(pose_goal(goal))
        self.report('pose', seconds, errors)
        self.assertLess(math.dist(xyz(self.arm.pose(self.arm.positions())), xyz(goal)), 1e-3)

    def test_line(self):
        """Pilz moves the tool along the papers' line."""
        line = Motion('line')
        errors = self.arm.errors('tracking_integral_trajectory')
        self.move(joint_goal(line.q[0]), line.q[0], pipeline='pilz_industrial_motion_planner',
                  planner='PTP', speed=0.8)
        start, end = (xyz(self.arm.pose(q)) for q in (line.q[0], line.q[-1]))
        _, states, seconds = self.move(
            pose_goal(self.arm.pose(line.q[-1])), pipeline='pilz_industrial_motion_planner',
            planner='LIN', speed=0.5)
        self.report('line', seconds, errors)
        off = [off_line(xyz(self.arm.pose(state.position)), start, end)
               for state in states[::max(1, len(states) // 40)]]
        print(f'off the line by {1e3 * max(off):.2f} mm at most')
        self.assertLess(max(off), 2e-3)
        self.assertLess(math.dist(xyz(self.arm.pose(self.arm.positions())), end), 1e-3)

    def test_around_an_obstacle(self):
        """The straight way through joint space would collide."""
        left, right = ([side, *HOME[1:]] for side in (-0.7, 0.7))
        self.move(joint_goal(left), left)
        tip = xyz(self.arm.pose(HOME))
        self.arm.put(box('obstacle', (0.1, 0.1, 0.3), tip))
        try:
            self.assertNotEqual(self.arm.contacts(HOME), [])
            errors = self.arm.errors('tracking_integral_trajectory')
            _, _, seconds = self.move(joint_goal(right), right)
            self.report('around the obstacle', seconds, errors)
        finally:
            self.arm.put(box('obstacle', (), tip))

    def test_refusals(self):
        """What cannot be reached is refused at once, with the reason; the arm stays put."""
        floor = [0.0, 0.6, 2.3, 0.0, 0.0, 0.0]
        self.assertTrue(any('floor' in contact for contact in self.arm.contacts(floor)))
        beyond = [3.0, *HOME[1:]]
        far = self.arm.pose(HOME)
        far.position.x += 1.0
        for what, goal, codes, reason in (
                ('in collision', joint_goal(floor), (Code.GOAL_IN_COLLISION,), 'floor'),
                ('beyond a limit', joint_goal(beyond),
                 (Code.GOAL_STATE_INVALID, Code.INVALID_GOAL_CONSTRAINTS), 'joint1'),
                ('out of reach', pose_goal(far), (Code.NO_IK_SOLUTION,), 'reach'),
                ('in collision', pose_goal(self.arm.pose(floor)), (Code.GOAL_IN_COLLISION,),
                 'floor')):
            for pipeline in ('ompl', 'pilz_industrial_motion_planner'):
                began = time.monotonic()
                result, _ = self.arm.plan_and_move(goal, pipeline=pipeline)
                seconds = time.monotonic() - began
                print(f'{what}, {pipeline}: {result.error_code.val} {result.error_code.message!r} '
                      f'after {seconds:.2f} s')
                self.assertIn(result.error_code.val, codes)
                self.assertIn(reason, result.error_code.message)
                self.assertLess(seconds, 1.0)
        self.assert_still()

    def until_moving(self):
        """Wait until the arm is in mid-motion."""
        self.arm.until(lambda: distance(self.arm.positions(), HOME) > 0.3, 'the arm moves')

    def assert_stands(self):
        """The arm comes to rest away from home and from the goal, then moves on request."""
        self.arm.rest(1.0)
        self.assert_still()
        self.assertGreater(distance(self.arm.positions(), AWAY), 0.05)
        self.move(joint_goal(AWAY), AWAY)

    def test_cancel(self):
        """A canceled goal ends as preempted, the arm stands and takes the next one."""
        handle = self.arm.begin(joint_goal(AWAY), speed=0.3)
        self.until_moving()
        self.arm.wait(handle.cancel_goal_async(), 'answer to a cancel')
        self.assertEqual(self.arm.end(handle).error_code.val, Code.PREEMPTED)
        self.assert_stands()

    def test_stop(self):
        """So it does after the stop event, which RViz sends."""
        publisher = self.arm.node.create_publisher(String, 'trajectory_execution_event', 10)
        self.arm.until(publisher.get_subscription_count, 'move_group listens')
        handle = self.arm.begin(joint_goal(AWAY), speed=0.3)
        self.until_moving()
        publisher.publish(String(data='stop'))
        self.assertEqual(self.arm.end(handle).error_code.val, Code.PREEMPTED)
        self.assert_stands()

    def test_a_goal_in_mid_motion(self):
        """A new goal during a motion ends the old one; the arm goes to the new one."""
        first = self.arm.begin(joint_goal(AWAY), speed=0.3)
        self.until_moving()
        second = self.arm.begin(joint_goal(HOME), speed=0.5)
        self.assertEqual(self.arm.end(first).error_code.val, Code.PREEMPTED)
        self.assert_moved(self.arm.end(second), HOME)
        self.move(joint_goal(AWAY), AWAY)

    def test_a_plan_in_mid_motion(self):
        """Planning alone does not disturb the motion."""
        goal = self.arm.begin(joint_goal(AWAY), speed=0.1)
        self.until_moving()
        for speed in (1.0, 0.5):
            planned, _ = self.arm.plan_and_move(joint_goal(HOME), plan_only=True, speed=speed,
                                                start=AWAY)
            self.assertEqual(planned.error_code.val, Code.SUCCESS, planned.error_code)
            last = planned.planned_trajectory.joint_trajectory.points[-1].positions
            self.assertLess(distance(last, HOME), 2e-3)
        self.assertGreater(distance(self.arm.positions(), AWAY), 0.05, 'the motion has ended')
        self.assert_moved(self.arm.end(goal), AWAY)

    def planned(self, q, speed, start=None):
        """Return a planned trajectory."""
        result, _ = self.arm.plan_and_move(joint_goal(q), plan_only=True, speed=speed, start=start)
        self.assertEqual(result.error_code.val, Code.SUCCESS, result.error_code)
        return result.planned_trajectory

    def test_execution(self):
        """A planned trajectory is executed, one that begins elsewhere is refused."""
        there, back = self.planned(AWAY, 1.0), self.planned(HOME, 1.0, AWAY)
        self.assert_moved(self.arm.end(self.arm.begin_trajectory(there)), AWAY)
        result = self.arm.end(self.arm.begin_trajectory(there))
        print(f'a trajectory that begins elsewhere: {result.error_code.message!r}')
        self.assertEqual(result.error_code.val, Code.CONTROL_FAILED)
        self.assertIn("begins with joint 'joint", result.error_code.message)
        self.assert_still()
        self.assert_moved(self.arm.end(self.arm.begin_trajectory(back)), HOME)

    def test_cancel_of_an_execution(self):
        """A trajectory that is canceled in mid-motion ends as preempted; the arm stands."""
        handle = self.arm.begin_trajectory(self.planned(AWAY, 0.3))
        self.until_moving()
        self.arm.wait(handle.cancel_goal_async(), 'answer to a cancel')
        self.assertEqual(self.arm.end(handle).error_code.val, Code.PREEMPTED)
        self.assert_stands()

    def test_a_goal_in_mid_execution(self):
        """A new goal during the execution of a trajectory ends it."""
        first = self.arm.begin_trajectory(self.planned(AWAY, 0.3))
        self.until_moving()
        second = self.arm.begin(joint_goal(HOME), speed=0.5)
        self.assertEqual(self.arm.end(first).error_code.val, Code.PREEMPTED)
        self.assert_moved(self.arm.end(second), HOME)

    def test_an_execution_in_mid_motion(self):
        """A trajectory ends a motion of either kind; it is refused: it begins elsewhere."""
        trajectory = self.planned(AWAY, 0.3)
        for begin in (lambda: self.arm.begin_trajectory(trajectory),
                      lambda: self.arm.begin(joint_goal(AWAY), speed=0.3)):
            first = begin()
            self.until_moving()
            second = self.arm.begin_trajectory(trajectory)
            self.assertEqual(self.arm.end(first).error_code.val, Code.PREEMPTED)
            result = self.arm.end(second)
            self.assertEqual(result.error_code.val, Code.CONTROL_FAILED)
            self.assertIn("begins with joint 'joint", result.error_code.message)
            self.assert_stands()
            self.move(joint_goal(HOME), HOME)

    def test_switching_the_law(self):
        """MoveIt drives the law that is active, and activates its own if none is."""
        at = 'tracking_integral'
        for law in LAWS:
            self.assertTrue(self.arm.switch([law, f'{law}_trajectory'], [at, f'{at}_trajectory']))
            at = law
            goal = AWAY if distance(self.arm.positions(), AWAY) > 0.1 else HOME
            self.move(joint_goal(goal), goal, within=0.03, speed=0.5)
            self.assertEqual(self.arm.controllers()[law], 'active')
        self.assertTrue(self.arm.switch(['gravity_hold'], [at, f'{at}_trajectory']))
        self.move(joint_goal(HOME), HOME)
        self.assertEqual(self.arm.controllers()['gravity_hold'], 'inactive')

    def test_speed_and_pause(self):
        """Slower, paused and on again, the arm stays on the path that was planned."""
        publisher = self.arm.node.create_publisher(
            SpeedScalingFactor, 'tracking_integral/speed_scaling_input', 1)
        self.arm.until(publisher.get_subscription_count, 'the law listens')
        self.arm.record()
        handle = self.arm.begin(joint_goal(AWAY), speed=0.5)
        self.until_moving()
        publisher.publish(SpeedScalingFactor(factor=0.2))
        self.arm.rest(1.0)
        publisher.publish(SpeedScalingFactor(factor=0.0))
        self.arm.rest(1.0)
        self.assert_still(2.0)
        self.assertGreater(distance(self.arm.positions(), AWAY), 0.05)
        publisher.publish(SpeedScalingFactor(factor=1.0))
        result = self.arm.end(handle)
        self.assert_moved(result, AWAY)
        path = [point.positions for point in result.planned_trajectory.joint_trajectory.points]
        off = [off_path(state.position, path) for state in self.arm.recorded()[::50]]
        print(f'off the path by {1e3 * max(off):.2f} mrad at most')
        self.assertLess(max(off), TRACKING)

    def test_gripper(self):
        """The tool outputs are a gripper action."""
        client = ActionClient(self.arm.node, GripperCommand, 'tool_gripper/gripper_cmd')
        self.assertTrue(client.wait_for_server(timeout_sec=launch_support.PATIENCE))
        for position in (1.0, 0.0):
            goal = GripperCommand.Goal()
            goal.command.position = position
            handle = self.arm.wait(client.send_goal_async(goal), 'goal of the gripper')
            result = self.arm.wait(handle.get_result_async(), 'result of the gripper').result
            self.assertTrue(result.reached_goal)
        goal.command.position = -1.0
        handle = self.arm.wait(client.send_goal_async(goal), 'goal of the gripper')
        self.assertFalse(handle.accepted)


@launch_testing.post_shutdown_test()
class AfterShutdown(Shutdown):
    """Checks after the shutdown."""

    def test_timing_takes_little_of_the_planning_time(self, proc_output):
        """Timing by torque, its share of what a plan takes."""
        said = ''.join(output.text.decode(errors='replace') for output in proc_output)
        times = [1e-3 * float(each)
                 for each in re.findall(r'way-points timed in ([0-9.]+) ms', said)]
        self.assertGreater(len(times), 12)
        print(f'timing of {len(times)} paths: median {statistics.median(times):.3f} s, at most '
              f'{max(times):.3f} s')
        self.assertLess(statistics.median(times), 1.0)

    def test_nothing_warns(self, proc_output):
        """No law complained of its reference."""
        for text in ('has not changed for reference_timeout', 'exceeds what'):
            with self.assertRaises(AssertionError, msg=text):
                launch_testing.asserts.assertInStderr(proc_output, text, None)
