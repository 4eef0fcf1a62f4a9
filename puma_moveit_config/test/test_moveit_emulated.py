# SPDX-License-Identifier: Apache-2.0
"""MoveIt moves the emulated arm through the registers of its cards, after the calibration."""

import launch_support
import launch_testing
from moveit_support import Code, joint_goal, moveit_description, MoveItTest, pose_goal, POSES

launch_support.isolate(32)


@launch_testing.post_shutdown_test()
class AfterShutdown(launch_support.AfterShutdown):
    """Checks after the shutdown."""


def generate_test_description():
    """Start the emulated cards in simulated time."""
    return moveit_description(hardware='emulated', use_sim_time='true')


class Emulated(MoveItTest):
    """One arm, in the order of the tests."""

    def test_motions(self):
        """Named poses, a pose, a straight line, a goal that is canceled."""
        for name in ('home', 'folded', 'home'):
            errors = self.arm.errors('tracking_integral_trajectory')
            self.move(joint_goal(POSES[name]), POSES[name], within=5e-3)
            largest = max(max(map(abs, error)) for _, error in errors)
            print(f'{name}: tracking error {1e3 * largest:.2f} mrad')
            self.assertLess(largest, 0.01)
        down = self.arm.pose(POSES['home'])
        down.position.z -= 0.1
        self.move(pose_goal(down), pipeline='pilz_industrial_motion_planner', planner='LIN',
                  speed=0.5)
        handle = self.arm.begin(joint_goal(POSES['upright']), speed=0.2)
        before = self.arm.positions()
        self.arm.until(lambda: max(abs(a - b) for a, b in zip(self.arm.positions(), before)) > 0.1,
                       'the arm moves')
        self.arm.wait(handle.cancel_goal_async(), 'answer to a cancel')
        self.assertEqual(self.arm.end(handle).error_code.val, Code.PREEMPTED)
        self.arm.rest(1.0)
        self.assert_still(within=2e-3)
        self.move(joint_goal(POSES['home']), POSES['home'], within=5e-3)
