# SPDX-License-Identifier: Apache-2.0
"""real.launch.py io:=emulated: calibration, then the line through the cards' registers."""

import unittest

import launch_support
from launch_support import Arm

import launch_testing
import launch_testing.asserts
from puma_bringup.motions import Motion
from std_srvs.srv import Trigger

launch_support.isolate(11)

LINE = Motion()


def generate_test_description():
    """Start the arm over emulated cards, in simulated time: a busy machine only slows it."""
    start = ','.join(f'{j}:{q:.6f}' for j, q in zip(launch_support.JOINTS, LINE.q[0]))
    return launch_support.arm_description(
        'real.launch.py', io='emulated', use_sim_time='true', controller='tracking',
        hardware_parameters=f'initial_positions={start} real_time_factor=3')


class RealLaunch(unittest.TestCase):
    """One arm for all tests: they run in the order of their names."""

    @classmethod
    def setUpClass(cls):
        """Connect to the arm."""
        cls.arm = Arm()

    @classmethod
    def tearDownClass(cls):
        """Disconnect."""
        cls.arm.close()

    def test_1_waits_inactive_and_refuses_torque(self):
        """Broadcasters run, everything else is loaded; activation asks for calibration."""
        self.arm.wait_for_controllers(
            joint_state_broadcaster='active', io_state_broadcaster='active',
            io_controller='inactive', tracking='inactive', tracking_trajectory='inactive')
        self.assertEqual(self.arm.hardware_state(), 'inactive')
        self.assertFalse(self.arm.set_hardware_state('active'))

    def test_2_calibrates(self):
        """The service answers when the position is known."""
        answer = self.arm.call(Trigger, 'puma560/calibrate', Trigger.Request())
        self.assertTrue(answer.success, answer.message)
        off = max(abs(a - b) for a, b in zip(self.arm.positions(), LINE.q[0]))
        self.assertLess(off, 3e-3, 'back where the calibration began')

    def test_3_becomes_active_and_follows_the_line(self):
        """The accuracy of the simulated arm, through registers."""
        arm = self.arm
        self.assertTrue(arm.set_hardware_state('active'))
        self.assertTrue(arm.switch(['io_controller', 'tracking', 'tracking_trajectory']))
        largest, rms = launch_support.follow(arm, LINE, 'tracking_trajectory')
        self.assertLess(largest, 2e-3)
        self.assertLess(rms, 0.5e-3)

    def test_4_follows_it_with_an_integral(self):
        """After a switch of controllers."""
        self.assertTrue(self.arm.switch(['tracking_integral', 'tracking_integral_trajectory'],
                                        ['tracking', 'tracking_trajectory']))
        largest, rms = launch_support.follow(self.arm, LINE, 'tracking_integral_trajectory')
        self.assertLess(largest, 5e-3)
        self.assertLess(rms, 0.5e-3)


@launch_testing.post_shutdown_test()
class AfterShutdown(unittest.TestCase):
    """What is left when everything has ended."""

    def test_nothing_crashed(self, proc_info):
        """Every process ends by itself or by the interrupt that ends the launch."""
        launch_testing.asserts.assertExitCodes(proc_info, allowable_exit_codes=[0, -2])
