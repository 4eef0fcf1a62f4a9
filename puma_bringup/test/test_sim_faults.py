# SPDX-License-Identifier: Apache-2.0
"""Faults of the simulated arm in mid-motion: reaction, recovery, no jump at activation."""

from fault_support import FaultTest, RAMP, Reaction
import launch_support
from launch_support import stamp

launch_support.isolate(2)

SLACK = 0.001  # of the torque limit: two steps of the DAC
CUT = 2.5e-3  # s: two cycles
ATTEMPTS = 3  # if the joint state of that cycle is lost
MOTION = 0.05  # rad until the brakes hold the arm


def generate_test_description():
    """Start the simulated arm."""
    return launch_support.simulated_arm(FaultTest.HOME)


class Faults(FaultTest):
    """One arm for all tests; each leaves it running."""

    def inject(self, fault):
        """Inject a fault."""
        self.assertEqual(self.arm.set_parameters('puma560', inject_fault=fault), [])

    def recover(self):
        """Reset the fault and activate: the arm stays at rest, then moves."""
        self.inject('')
        answer = self.trigger('reset_fault')
        self.assertTrue(answer.success, answer.message)
        self.assert_streaming()
        self.activate_and_stay(self.arm.positions, 2e-3)

    def assert_streaming(self):
        """Joint states are published while the hardware is inactive; the arm is at rest."""
        arm = self.arm
        arm.record()
        arm.until(lambda: len(arm.recording) > 500, 'joint states while inactive')
        states = arm.recorded()
        self.assertGreater(stamp(states[-1]), stamp(states[0]) + 0.4)
        motion = max(max(s.position[i] for s in states) - min(s.position[i] for s in states)
                     for i in range(6))
        self.assertLess(motion, 1e-3)
        self.assertEqual(list(states[-1].effort), [0.0] * 6)

    def assert_ramp(self, states):
        """The torque ramps down; the arm stops within a few degrees."""
        motion = self.assert_fades(states, SLACK).motion_since(RAMP)
        print(f'motion since the fault: {1e3 * motion:.1f} mrad')
        self.assertLess(motion, MOTION)

    def test_thermal(self):
        """The torque ramps down; the fault cannot be reset while the joint is hot."""
        self.assert_ramp(self.fail_in_motion(lambda: self.inject('thermal:joint2'), 'inactive',
                                             'thermal', 'joint2'))
        self.assertFalse(self.trigger('reset_fault').success)
        self.assertFalse(self.arm.set_hardware_state('active'))
        self.recover()

    def test_encoder_jump(self):
        """The torque drops to zero within two cycles."""
        for _ in range(ATTEMPTS):
            reaction = Reaction(self.fail_in_motion(
                lambda: self.inject('encoder-jump:joint1'), 'inactive', 'encoder-jump', 'joint1'))
            earlier = abs(reaction.before(0.02)[0].effort[1])
            motion = reaction.motion_since(0.003, without=0)
            print(f'{earlier:.1f} N m, {abs(reaction.last.effort[1]):.1f} N m and none within '
                  f'{1e3 * reaction.took:.1f} ms; motion since then {1e3 * motion:.1f} mrad')
            self.assertGreater(abs(reaction.last.effort[1]), 0.5 * earlier)
            self.assertLess(motion, MOTION)
            self.assertFalse(self.arm.set_hardware_state('active'))
            self.recover()
            if reaction.took < CUT:
                return
        self.fail('the torque did not drop to zero within two cycles')

    def test_deadline(self):
        """The torque ramps down."""
        self.assert_ramp(self.fail_in_motion(lambda: self.inject('deadline-missed'), 'inactive',
                                             'deadline-missed'))
        self.recover()

    def test_card_lost(self):
        """The hardware becomes unconfigured and stays so while the cards are missing."""
        arm = self.arm
        states = self.fail_in_motion(lambda: self.inject('card-lost'), 'unconfigured', 'card-lost')
        self.assertFalse(arm.set_hardware_state('inactive'))
        self.inject('')
        self.assertTrue(self.trigger('reset_fault').success)
        self.assertTrue(arm.set_hardware_state('inactive'))
        self.assertTrue(arm.switch(['joint_state_broadcaster']))
        last = states[-1].position
        arm.until(lambda: arm.now() > stamp(states[-1]), 'joint states are back')
        motion = max(abs(q - p) for q, p in zip(arm.positions(), last))
        print(f'motion since the fault: {1e3 * motion:.1f} mrad')
        self.assertLess(motion, MOTION)
        self.recover()


AfterShutdown = launch_support.AfterShutdown
