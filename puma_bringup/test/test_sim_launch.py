# SPDX-License-Identifier: Apache-2.0
"""sim.launch.py starts, and the arm follows a line much better than with a stock PID."""

import tempfile

import launch_support
from launch_support import ArmTest, EFFORT, follow, point, stamp
from puma_bringup import stock_control
from puma_bringup.motions import Motion

launch_support.isolate(1)

LINE = Motion()
BANDWIDTH = 40.0  # rad/s, as in controllers.yaml
TAKE_OVER = 0.02  # of the torque limit per cycle, half of it noise of PID and law


def generate_test_description():
    """Start the simulated arm."""
    return launch_support.simulated_arm(LINE.q[0])


class SimLaunch(ArmTest):
    """One arm for all tests: they run in the order of their names."""

    def test_1_all_controllers_are_loaded(self):
        """The chosen controllers are active, all others inactive."""
        active = ('joint_state_broadcaster', 'io_state_broadcaster', 'io_controller',
                  'tracking', 'tracking_trajectory')
        inactive = ('gravity_hold', 'point_to_point', 'point_to_point_trajectory',
                    'tracking_integral', 'tracking_integral_trajectory', 'hand_guiding')
        self.arm.wait_for_controllers(**{name: 'active' for name in active},
                                      **{name: 'inactive' for name in inactive})
        self.assertEqual(self.arm.hardware_state(), 'active')

    def test_2_follows_the_line(self):
        """Every joint stays within 2 mrad, 0.5 mrad RMS."""
        type(self).computed = follow(self.arm, LINE, 'tracking_trajectory')
        largest, rms = self.computed
        self.assertLess(largest, 2e-3)
        self.assertLess(rms, 0.5e-3)

    def test_3_follows_it_with_an_integral(self):
        """After a switch, and no worse."""
        self.assertTrue(self.arm.switch(['tracking_integral', 'tracking_integral_trajectory'],
                                        ['tracking', 'tracking_trajectory']))
        largest, rms = follow(self.arm, LINE, 'tracking_integral_trajectory')
        self.assertLess(largest, 2e-3)
        self.assertLess(rms, 0.5e-3)

    def test_4_is_better_than_a_stock_pid_of_the_same_bandwidth(self):
        """The same goal through joint_trajectory_controller's own effort PIDs."""
        arm = self.arm
        with tempfile.TemporaryDirectory() as folder:
            arm.load('stock_pid', stock_control.KIND, stock_control.write_parameters(
                folder, 'stock_pid', LINE.joints, LINE.q[0], BANDWIDTH, integral=True))
        self.assertTrue(arm.switch(['stock_pid'],
                                   ['tracking_integral', 'tracking_integral_trajectory']))
        largest, rms = follow(arm, LINE, 'stock_pid')
        print(f'stock PID over computed torque: {largest / self.computed[0]:.1f} in the largest'
              f' error, {rms / self.computed[1]:.1f} in the RMS')
        self.assertGreater(largest, 1.5 * self.computed[0])

    def test_5_takes_over_from_it_in_mid_motion_without_a_step(self):
        """It sets its torques to zero at deactivation; the law starts from the measured effort."""
        arm = self.arm
        goal, _ = arm.goal([point(4.0, [q + 0.4 for q in LINE.q[0]])])
        start = arm.positions()[0]
        self.assertIsNotNone(arm.send('stock_pid', goal))
        arm.until(lambda: abs(arm.positions()[0] - start) > 0.1, 'the arm moves')
        arm.record()
        arm.until(lambda: len(arm.recording) > 50, 'joint states before the switch')
        self.assertTrue(arm.switch(['tracking', 'tracking_trajectory'], ['stock_pid']))
        end = arm.now() + 0.5
        arm.until(lambda: arm.now() > end, 'time passes')
        states = arm.recorded()
        changes = [max(abs(x - y) / limit for x, y, limit in zip(a.effort, b.effort, EFFORT))
                   / max(1, round(1e3 * (stamp(b) - stamp(a)))) for a, b in zip(states, states[1:])]
        print(f'torque changes by {100 * max(changes):.2f} % of its limit per cycle at most')
        self.assertGreater(len(changes), 300)
        self.assertLess(max(changes), TAKE_OVER)
        self.assertTrue(all(abs(s.effort[1]) > 0 for s in states))


AfterShutdown = launch_support.AfterShutdown
