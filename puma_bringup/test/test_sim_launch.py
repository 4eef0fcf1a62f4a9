# SPDX-License-Identifier: Apache-2.0
"""sim.launch.py comes up, and the arm follows a straight line far better than with a stock PID."""

import os
import tempfile
import unittest

import launch_support
from launch_support import Arm, follow, Line

import launch_testing
import launch_testing.asserts

launch_support.isolate(1)

LINE = Line()
BANDWIDTH = 40.0  # rad/s, as in controllers.yaml
EFFORT = [97.6, 186.4, 89.4, 24.2, 20.1, 21.3]  # N m, the description's limits


def generate_test_description():
    """Start the simulated arm; in simulated time, so that a busy machine only makes it slower."""
    start = ','.join(f'{j}:{q:.6f}' for j, q in zip(launch_support.JOINTS, LINE.q[0]))
    return launch_support.arm_description(
        'sim.launch.py', controller='tracking', use_sim_time='true',
        hardware_parameters=f'initial_positions={start}')


def pid_file(inertia, folder):
    """Write a stock effort controller with PIDs of the same bandwidth; its file."""
    lines = [
        '/**/stock_pid:', '  ros__parameters:',
        '    type: joint_trajectory_controller/JointTrajectoryController',
        '    joints: [joint1, joint2, joint3, joint4, joint5, joint6]',
        '    command_interfaces: [effort]', '    state_interfaces: [position, velocity]',
        '    constraints: {stopped_velocity_tolerance: 0.1, goal_time: 5.0}', '    gains:']
    for name, m, limit in zip(launch_support.JOINTS, inertia, EFFORT):
        p, i, d = BANDWIDTH**2 * m, BANDWIDTH**3 / 4 * m, 2 * BANDWIDTH * m
        lines.append(f'      {name}: {{p: {p:.1f}, i: {i:.1f}, d: {d:.2f}, u_clamp_max: {limit},'
                     f' u_clamp_min: {-limit}, i_clamp_max: {limit}, i_clamp_min: {-limit},'
                     ' antiwindup_strategy: conditional_integration}')
    path = os.path.join(folder, 'stock_pid.yaml')
    with open(path, 'w') as file:
        file.write('\n'.join(lines) + '\n')
    return path


class SimLaunch(unittest.TestCase):
    """One arm for all tests: they run in the order of their names."""

    @classmethod
    def setUpClass(cls):
        """Connect to the arm."""
        cls.arm = Arm()

    @classmethod
    def tearDownClass(cls):
        """Disconnect."""
        cls.arm.close()

    def test_1_all_controllers_are_loaded(self):
        """The chosen chain is active, everything else is ready to be switched to."""
        active = ('joint_state_broadcaster', 'io_state_broadcaster', 'io_controller',
                  'tracking', 'tracking_trajectory')
        inactive = ('gravity_hold', 'point_to_point', 'point_to_point_trajectory',
                    'tracking_integral', 'tracking_integral_trajectory')
        self.arm.wait_for_controllers(**{name: 'active' for name in active},
                                      **{name: 'inactive' for name in inactive})
        self.assertEqual(self.arm.hardware_state(), 'active')

    def test_2_follows_the_line(self):
        """Computed torque stays within 2 mrad, 0.5 mrad RMS."""
        type(self).computed = follow(self.arm, LINE, 'tracking_trajectory')
        largest, rms = self.computed
        self.assertLess(largest, 2e-3)
        self.assertLess(rms, 0.5e-3)

    def test_3_follows_it_with_an_integral(self):
        """After a switch; where a joint turns round, the integral is behind the friction."""
        self.assertTrue(self.arm.switch(['tracking_integral', 'tracking_integral_trajectory'],
                                        ['tracking', 'tracking_trajectory']))
        largest, rms = follow(self.arm, LINE, 'tracking_integral_trajectory')
        self.assertLess(largest, 5e-3)
        self.assertLess(rms, 0.5e-3)

    def test_4_is_better_than_a_stock_pid_of_the_same_bandwidth(self):
        """The same goal through joint_trajectory_controller's own effort PIDs."""
        arm = self.arm
        with tempfile.TemporaryDirectory() as folder:
            arm.load('stock_pid', 'joint_trajectory_controller/JointTrajectoryController',
                     pid_file(LINE.inertia, folder))
        self.assertTrue(arm.switch(['stock_pid'],
                                   ['tracking_integral', 'tracking_integral_trajectory']))
        largest, rms = follow(arm, LINE, 'stock_pid')
        print(f'stock PID over computed torque: {largest / self.computed[0]:.1f} in the largest'
              f' error, {rms / self.computed[1]:.1f} in the RMS')
        self.assertGreater(largest, 1.5 * self.computed[0])


@launch_testing.post_shutdown_test()
class AfterShutdown(unittest.TestCase):
    """What is left when everything has ended."""

    def test_nothing_crashed(self, proc_info):
        """Every process ends by itself or by the interrupt that ends the launch."""
        launch_testing.asserts.assertExitCodes(proc_info, allowable_exit_codes=[0, -2])
