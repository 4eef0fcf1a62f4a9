# SPDX-License-Identifier: Apache-2.0
"""kill -9 of the controller manager in mid-motion: the guard takes the voltage off the outputs."""

import os
import signal
import time
import unittest

from emulated_cell import Cell, PATIENT, pid_of
import launch_support
from launch_support import Arm, point

import launch_testing

launch_support.isolate(12)

CELL = Cell('kill')
SEEN = {}  # in mid-motion, for afterwards
START = [0.0, -0.8, 2.2, 0.0, 0.4, 0.0]
AWAY = [1.0, -1.2, 2.6, 0.5, -0.4, 0.8]


def generate_test_description():
    """Start the arm over emulated cards that outlive the controller manager."""
    return launch_support.arm_description(
        'real.launch.py', io='emulated', cell=CELL.name, controller='tracking', calibrate='true',
        emulated_arm='--start ' + ' '.join(map(str, START)), guard_timeout='500',
        hardware_parameters=PATIENT)


class KilledControllerManager(unittest.TestCase):
    """One death, which ends the launch; what it leaves is looked at afterwards."""

    def test_kill_in_mid_motion(self, proc_info):
        """Kill it while torque flows."""
        arm = Arm()
        try:
            arm.wait_for_controllers(tracking='active', tracking_trajectory='active')
            goal, _ = arm.goal([point(8.0, AWAY)])
            self.assertIsNotNone(arm.send('tracking_trajectory', goal))
            arm.until(lambda: abs(arm.positions()[0] - START[0]) > 0.3, 'the arm moves')
            before = CELL.look()
        finally:
            arm.close()
        self.assertTrue(before['powered'])
        self.assertGreater(max(map(abs, before['volts'])), 0.1)
        SEEN['cards'] = CELL.witness(1.5)
        SEEN['killed'] = time.monotonic_ns()
        os.kill(pid_of(proc_info, 'ros2_control_node'), signal.SIGKILL)


@launch_testing.post_shutdown_test()
class AfterShutdown(unittest.TestCase):
    """What is left when everything has ended."""

    @classmethod
    def tearDownClass(cls):
        """Leave nothing behind."""
        CELL.forget()

    def test_outputs_were_at_zero_within_20_ms(self):
        """Measured by the cards' own clock: when did an output change for the last time?"""
        after = SEEN['cards']()
        took = 1e-6 * (after['outputs_changed_ns'] - SEEN['killed'])
        print(f'kill -9 in mid-motion: the last output changed {took:.2f} ms later')
        self.assertEqual(after['volts'], [0.0] * 6)
        self.assertFalse(after['power_output'])
        self.assertEqual(after['illegal_accesses'], 0)
        self.assertGreater(took, 0.0)
        self.assertLess(took, 20.0)

    def test_guard_and_robot_ended_by_themselves(self, proc_info):
        """Only the controller manager was killed."""
        codes = {key: proc_info[key].returncode for key in proc_info.process_names()}
        for name, code in codes.items():
            allowed = (-9,) if 'ros2_control_node' in name else (0, -2)
            self.assertIn(code, allowed, name)
