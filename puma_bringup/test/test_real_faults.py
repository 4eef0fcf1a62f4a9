# SPDX-License-Identifier: Apache-2.0
"""Faults of the arm over emulated cards in mid-motion: reaction, recovery, no jump afterwards."""

import os
import signal
import time
import unittest

from action_msgs.msg import GoalStatus
from emulated_cell import Cell, PATIENT, pid_of
import launch_support
from launch_support import Arm, point

import launch_testing
import launch_testing.asserts
from std_srvs.srv import Trigger

launch_support.isolate(13)

CELL = Cell('faults')
HOME = [0.0, -0.8, 2.2, 0.0, 0.4, 0.0]
AWAY = [0.6, -1.0, 2.4, 0.3, 0.1, 0.3]
CHAIN = ['tracking', 'tracking_trajectory']


def generate_test_description():
    """Start the arm over cards in a process of their own, with a guard."""
    return launch_support.arm_description(
        'real.launch.py', io='emulated', cell=CELL.name, controller='tracking', calibrate='true',
        emulated_arm='--start ' + ' '.join(map(str, HOME)), guard_timeout='1000',
        hardware_parameters=PATIENT)


class Faults(unittest.TestCase):
    """One arm for all tests; each leaves it running."""

    @classmethod
    def setUpClass(cls):
        """Connect to the arm, which calibrates itself."""
        cls.arm = Arm()
        cls.arm.wait_for_controllers(**{name: 'active' for name in CHAIN})

    @classmethod
    def tearDownClass(cls):
        """Disconnect."""
        cls.arm.close()

    def trigger(self, service):
        """Call a service of the component; its answer."""
        return self.arm.call(Trigger, f'puma560/{service}', Trigger.Request())

    def fail_in_motion(self, fail, hardware):
        """Move, fail, and look: the goal ends, the chain stops, the hardware is in this state."""
        arm = self.arm
        target = AWAY if abs(arm.positions()[0] - AWAY[0]) > 0.3 else HOME
        goal, _ = arm.goal([point(6.0, target)])
        handle = arm.send('tracking_trajectory', goal)
        self.assertIsNotNone(handle)
        start = arm.positions()[0]
        arm.until(lambda: abs(arm.positions()[0] - start) > 0.15, 'the arm moves')
        fail()
        status, _, message = arm.result(handle)
        self.assertEqual(status, GoalStatus.STATUS_ABORTED, message)
        arm.until(lambda: arm.hardware_state() == hardware, f'hardware {hardware}')
        arm.wait_for_controllers(**{name: 'inactive' for name in CHAIN})
        arm.until(lambda: self.stands(), 'the arm stands without voltage and power')

    def stands(self):
        """Whether the arm is at rest, truly, with nothing on its amplifiers."""
        cell = CELL.look()
        return (not any(cell['volts']) and not cell['powered']
                and max(map(abs, cell['qd'])) < 1e-3)

    def recover(self, calibrate):
        """Reset, calibrate where the position is lost, activate: the arm stays and moves again."""
        arm = self.arm
        CELL.mend()
        if calibrate:
            self.assertFalse(arm.set_hardware_state('active'))
            answer = self.trigger('calibrate')
            self.assertTrue(answer.success, answer.message)
        self.assertTrue(arm.set_hardware_state('active'))
        before = CELL.look()['q']
        active = ['joint_state_broadcaster', 'io_state_broadcaster', 'io_controller', *CHAIN]
        states = arm.controllers()
        self.assertTrue(arm.switch([name for name in active if states[name] != 'active']))
        jump, end = 0.0, time.monotonic() + 1.5
        while time.monotonic() < end:
            now = CELL.look()['q']
            jump = max(jump, *[abs(a - b) for a, b in zip(now, before)])
        print(f'largest true motion in 1.5 s after the reactivation: {1e3 * jump:.3f} mrad')
        self.assertLess(jump, 3e-3)
        arm.move('tracking_trajectory', [point(2.0, [q + 0.05 for q in arm.positions()])])

    def assert_streaming(self):
        """Joint states go on although the hardware is inactive."""
        self.arm.record()
        self.arm.until(lambda: len(self.arm.recording) > 300, 'joint states while inactive')
        self.assertEqual(list(self.arm.recorded()[-1].effort), [0.0] * 6)

    def test_thermal(self):
        """The torque fades; the fault cannot be reset while the motor is hot."""
        self.fail_in_motion(lambda: CELL.inject('thermal:joint2'), 'inactive')
        self.assert_streaming()
        self.assertFalse(self.trigger('reset_fault').success)
        self.assertFalse(self.arm.set_hardware_state('active'))
        CELL.mend()
        self.assertTrue(self.trigger('reset_fault').success)
        self.recover(calibrate=False)

    def test_encoder(self):
        """The torque is cut; nobody knows where the arm is until it is calibrated."""
        self.fail_in_motion(lambda: CELL.inject('encoder-jump:joint1'), 'inactive')
        self.assert_streaming()
        self.assertTrue(self.trigger('reset_fault').success)
        self.recover(calibrate=True)

    def test_card_lost(self):
        """Unconfigured, and it stays so while the card is gone."""
        arm = self.arm
        self.fail_in_motion(lambda: CELL.inject('pcl833a-lost'), 'unconfigured')
        self.assertFalse(arm.set_hardware_state('inactive'))
        CELL.mend()
        self.assertTrue(arm.set_hardware_state('inactive'))
        self.recover(calibrate=True)

    def test_deadline(self, proc_info):
        """A loop that stands still for 0.8 s: the torque fades."""
        pid = pid_of(proc_info, 'ros2_control_node')

        def stall():
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.8)
            os.kill(pid, signal.SIGCONT)

        self.fail_in_motion(stall, 'inactive')
        self.assert_streaming()
        self.assertTrue(self.trigger('reset_fault').success)
        self.recover(calibrate=False)


@launch_testing.post_shutdown_test()
class AfterShutdown(unittest.TestCase):
    """What is left when everything has ended."""

    @classmethod
    def tearDownClass(cls):
        """Leave nothing behind."""
        CELL.forget()

    def test_nothing_crashed(self, proc_info):
        """Every process ends by itself or by the interrupt that ends the launch."""
        launch_testing.asserts.assertExitCodes(proc_info, allowable_exit_codes=[0, -2])
