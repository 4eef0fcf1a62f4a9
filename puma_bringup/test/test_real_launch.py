# SPDX-License-Identifier: Apache-2.0
"""real.launch.py io:=emulated: calibration, then a line, through the registers of the cards."""

import signal
import subprocess
import time

import launch_support
from launch_support import ArmTest
from puma_bringup import arm_launch
from puma_bringup.motions import Motion
from std_msgs.msg import Float64
from std_srvs.srv import Trigger

launch_support.isolate(11)

LINE = Motion()


def generate_test_description():
    """Start the arm on emulated cards, in simulated time."""
    return launch_support.arm_description(
        'real.launch.py', io='emulated', use_sim_time='true', controller='tracking',
        hardware_parameters=launch_support.initial_positions(LINE.q[0]) + ' real_time_factor=3')


class RealLaunch(ArmTest):
    """One arm for all tests: they run in the order of their names."""

    CHAIN = []  # no controller is active at first

    def test_1_waits_inactive_and_refuses_torque(self):
        """Broadcasters are active, all others loaded; activation requires a calibration."""
        self.arm.wait_for_controllers(
            joint_state_broadcaster='active', io_state_broadcaster='active',
            io_controller='inactive', tracking='inactive', tracking_trajectory='inactive')
        self.assertEqual(self.arm.hardware_state(), 'inactive')
        self.assertFalse(self.arm.set_hardware_state('active'))

    def test_2_calibrates(self):
        """The service responds when the calibration is complete."""
        answer = self.arm.call(Trigger, 'puma560/calibrate', Trigger.Request())
        self.assertTrue(answer.success, answer.message)
        off = max(abs(a - b) for a, b in zip(self.arm.positions(), LINE.q[0]))
        self.assertLess(off, 3e-3, 'back at the start of the calibration')

    def interrupt_calibration(self, number):
        """Run start_arm and send a signal during the calibration; return the exit code."""
        progress = []
        subscription = self.arm.node.create_subscription(
            Float64, 'puma560/calibration_progress', lambda m: progress.append(m.data), 10)
        starter = subprocess.Popen([arm_launch.program('puma_bringup', 'start_arm')],
                                   stderr=subprocess.PIPE, text=True)
        try:
            self.arm.until(lambda: progress and progress[-1] > 0.05, 'calibration progress')
            starter.send_signal(number)
            said = starter.communicate(timeout=launch_support.PATIENCE)[1]
        finally:
            starter.kill()
        ended = progress[-1]
        self.assertLess(ended, 0.9, 'it ended before the signal')
        count = len(progress)
        time.sleep(0.5)
        self.assertLessEqual(len(progress), count + 1, 'it continues')
        self.arm.node.destroy_subscription(subscription)
        self.assertIn('the calibration was cancelled', said)
        self.arm.until(lambda: self.arm.diagnosis()[1]['state'] == 'ready', 'at rest')
        self.assertEqual(self.arm.diagnosis()[1]['calibrated'], 'no')
        print(f'signal {number} at {100 * ended:.0f} % of the calibration: stopped')
        return starter.returncode

    def test_3a_an_interrupt_stops_the_calibration(self):
        """SIGINT: start_arm exits when the arm is at rest, not before."""
        self.assertEqual(self.interrupt_calibration(signal.SIGINT), 128 + signal.SIGINT)

    def test_3b_so_does_a_termination(self):
        """SIGTERM, as from a supervisor."""
        self.assertEqual(self.interrupt_calibration(signal.SIGTERM), 128 + signal.SIGTERM)

    def test_3c_and_the_next_one_is_free_to_begin(self):
        """The stopped calibrations have no effect on the next one."""
        answer = self.arm.call(Trigger, 'puma560/calibrate', Trigger.Request())
        self.assertTrue(answer.success, answer.message)

    def test_4_becomes_active_and_follows_the_line(self):
        """With the accuracy of the simulated arm."""
        arm = self.arm
        self.assertTrue(arm.set_hardware_state('active'))
        self.assertTrue(arm.switch(['io_controller', 'tracking', 'tracking_trajectory']))
        largest, rms = launch_support.follow(arm, LINE, 'tracking_trajectory')
        self.assertLess(largest, 2e-3)
        self.assertLess(rms, 0.5e-3)

    def test_5_follows_it_with_an_integral(self):
        """After a switch of controllers."""
        self.assertTrue(self.arm.switch(['tracking_integral', 'tracking_integral_trajectory'],
                                        ['tracking', 'tracking_trajectory']))
        largest, rms = launch_support.follow(self.arm, LINE, 'tracking_integral_trajectory')
        self.assertLess(largest, 2e-3)
        self.assertLess(rms, 0.5e-3)


AfterShutdown = launch_support.AfterShutdown
