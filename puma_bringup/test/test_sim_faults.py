# SPDX-License-Identifier: Apache-2.0
"""Faults of the simulated arm in mid-motion: reaction, recovery, no jump when active again."""

import time
import unittest

from action_msgs.msg import GoalStatus
import launch_support
from launch_support import Arm, JOINTS, point, stamp

import launch_testing
import launch_testing.asserts
from std_srvs.srv import Trigger

launch_support.isolate(2)

HOME = [0.0, -0.8, 2.2, 0.0, 0.4, 0.0]
AWAY = [1.0, -1.2, 2.6, 0.5, -0.4, 0.8]
CHAIN = ['tracking', 'tracking_trajectory']


def generate_test_description():
    """Start the simulated arm in simulated time."""
    start = ','.join(f'{j}:{q}' for j, q in zip(JOINTS, HOME))
    return launch_support.arm_description(
        'sim.launch.py', controller='tracking', use_sim_time='true',
        hardware_parameters=f'initial_positions={start}')


class Faults(unittest.TestCase):
    """One arm for all tests; each leaves it running."""

    @classmethod
    def setUpClass(cls):
        """Connect to the arm."""
        cls.arm = Arm()
        cls.arm.wait_for_controllers(**{name: 'active' for name in CHAIN})

    @classmethod
    def tearDownClass(cls):
        """Disconnect."""
        cls.arm.close()

    def inject(self, fault):
        """Ask for a fault."""
        self.assertEqual(self.arm.set_parameters('puma560', inject_fault=fault), [])

    def reset(self):
        """Reset the fault; the service's answer."""
        return self.arm.call(Trigger, 'puma560/reset_fault', Trigger.Request())

    def fail_in_motion(self, fault, hardware):
        """Move, fail, and look: the goal ends, the chain stops, the hardware is in this state."""
        arm = self.arm
        target = AWAY if abs(arm.positions()[0] - AWAY[0]) > 0.5 else HOME
        goal, _ = arm.goal([point(4.0, target)])
        handle = arm.send('tracking_trajectory', goal)
        self.assertIsNotNone(handle)
        start = arm.positions()[0]
        arm.until(lambda: abs(arm.positions()[0] - start) > 0.2, 'the arm moves')
        self.inject(fault)
        status, _, message = arm.result(handle)
        self.assertEqual(status, GoalStatus.STATUS_ABORTED, message)
        arm.until(lambda: arm.hardware_state() == hardware, f'hardware {hardware}')
        arm.wait_for_controllers(**{name: 'inactive' for name in CHAIN})

    def recover(self):
        """Activate hardware and controllers; the arm stays where it stands and moves again."""
        arm = self.arm
        self.inject('')
        answer = self.reset()
        self.assertTrue(answer.success, answer.message)
        self.assertTrue(arm.set_hardware_state('active'))
        before = arm.positions()
        arm.record()
        active = ['joint_state_broadcaster', 'io_state_broadcaster', 'io_controller', *CHAIN]
        states = arm.controllers()
        self.assertTrue(arm.switch([name for name in active if states[name] != 'active']))
        arm.until(lambda: len(arm.recording) > 1500, '1.5 s of joint states')
        jump = max(abs(q - b) for state in arm.recorded() for q, b in zip(state.position, before))
        print(f'largest motion in 1.5 s after the reactivation: {1e3 * jump:.3f} mrad')
        self.assertLess(jump, 2e-3)
        arm.move('tracking_trajectory', [point(2.0, [q + 0.05 for q in before])])

    def assert_streaming(self):
        """Joint states go on although the hardware is inactive, and the arm comes to rest."""
        arm = self.arm
        arm.record()
        arm.until(lambda: len(arm.recording) > 2500, 'joint states while inactive')
        states = arm.recorded()
        self.assertGreater(stamp(states[-1]), stamp(states[0]) + 2)
        last = states[-500:]
        motion = max(max(s.position[i] for s in last) - min(s.position[i] for s in last)
                     for i in range(6))
        self.assertLess(motion, 1e-3)
        self.assertEqual(list(states[-1].effort), [0.0] * 6)

    def test_thermal(self):
        """The torque fades; the fault cannot be reset while the joint is hot."""
        self.fail_in_motion('thermal:joint2', 'inactive')
        self.assert_streaming()
        self.assertFalse(self.reset().success)
        self.assertFalse(self.arm.set_hardware_state('active'))
        self.recover()

    def test_encoder_jump(self):
        """The torque is cut."""
        self.fail_in_motion('encoder-jump:joint1', 'inactive')
        self.assert_streaming()
        self.assertFalse(self.arm.set_hardware_state('active'))
        self.recover()

    def test_deadline(self):
        """The torque fades."""
        self.fail_in_motion('deadline-missed', 'inactive')
        self.assert_streaming()
        self.recover()

    def test_card_lost(self):
        """Nothing answers any more: unconfigured, and it stays so while the cards are gone."""
        arm = self.arm
        self.fail_in_motion('card-lost', 'unconfigured')
        self.assertFalse(arm.set_hardware_state('inactive'))
        self.inject('')
        self.assertTrue(self.reset().success)
        self.assertTrue(arm.set_hardware_state('inactive'))
        self.assertTrue(arm.switch(['joint_state_broadcaster']))
        time.sleep(0.5)
        self.assert_streaming()
        self.recover()


@launch_testing.post_shutdown_test()
class AfterShutdown(unittest.TestCase):
    """What is left when everything has ended."""

    def test_nothing_crashed(self, proc_info):
        """Every process ends by itself or by the interrupt that ends the launch."""
        launch_testing.asserts.assertExitCodes(proc_info, allowable_exit_codes=[0, -2])
