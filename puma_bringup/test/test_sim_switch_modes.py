# SPDX-License-Identifier: Apache-2.0
"""Every pair of laws, switched in every mode of the controller manager, with an unknown payload."""

import launch_support
from launch_support import point
from switch_support import chain, MODES, SwitchTest

launch_support.isolate(21)

HOME = [0.0, -0.3, 1.9, 0.0, 0.0, 0.0]
# rad, soft limits of joints 1 and 3
SOFT = {0: 2.740167, 2: -0.645772}


def generate_test_description():
    """Start the simulated arm with 2.5 kg that the laws do not know."""
    return launch_support.simulated_arm(HOME, 'payload_mass=2.5')


class SwitchModes(SwitchTest):
    """One arm for all tests: they run in the order of their names."""

    def test_1_every_pair_in_every_mode(self):
        """By the service of the controller manager."""
        self.every_pair(MODES)

    def test_2_from_the_command_line(self):
        """In every mode."""
        for strictness, asap in MODES:
            self.switch(self.command, 'tracking_integral', 'gravity_hold', strictness, asap)
            self.switch(self.command, 'gravity_hold', 'tracking_integral', strictness, asap)

    def test_3_the_disturbance_estimate_survives(self):
        """The payload does not sag."""
        self.rest(2.0)
        for strictness, asap in MODES:
            for old, new in (('tracking_integral', 'gravity_hold'),
                             ('gravity_hold', 'tracking_integral')):
                before = self.arm.positions()
                self.assertTrue(self.request(old, new, strictness, asap))
                self.rest(1.0)
                moved = max(abs(a - b) for a, b in zip(self.arm.positions(), before))
                print(f'{old} to {new}: {1e3 * moved:.2f} mrad')
                self.assertLess(moved, 1e-3, f'{old} to {new}')

    def test_4_a_gap_without_a_controller_ends_in_a_hold(self):
        """The brakes hold the arm; the next controller continues there."""
        before = self.arm.positions()
        self.assertTrue(self.arm.switch([], chain('tracking_integral')))
        self.rest(2.0)
        moved = max(abs(a - b) for a, b in zip(self.arm.positions()[:3], before))
        self.assertLess(moved, 5e-3)
        self.assertTrue(self.arm.switch(chain('tracking_integral'), []))
        self.rest(2.0)
        self.assertEqual(self.arm.hardware_state(), 'active')

    def test_5_goals_beyond_the_limits_end_at_the_soft_ones(self):
        """Without a fault, and the arm can move on."""
        for joint, soft in SOFT.items():
            beyond = list(HOME)
            beyond[joint] = soft + (1 if soft > 0 else -1)
            goal, _ = self.arm.goal([point(4.0, beyond)])
            self.assertIsNotNone(self.arm.send('tracking_integral_trajectory', goal))
            self.rest(9.0)
            reached = abs(self.arm.positions()[joint])
            self.assertLess(reached, abs(soft) + 1e-3)
            self.assertGreater(reached, abs(soft) - 0.06, 'the goal is aborted before the limit')
            self.assertEqual(self.arm.hardware_state(), 'active')
            self.arm.move('tracking_integral_trajectory', [point(4.0, HOME)])


AfterShutdown = launch_support.AfterShutdown
