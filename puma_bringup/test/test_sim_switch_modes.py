# SPDX-License-Identifier: Apache-2.0
"""Every pair of laws, switched strictly and with best effort, with an unknown payload."""

import itertools
import subprocess

from builtin_interfaces.msg import Duration
from controller_manager_msgs.srv import SwitchController
import launch_support
from launch_support import ArmTest, EFFORT, point, stamp

launch_support.isolate(21)

HOME = [0.0, -0.3, 1.9, 0.0, 0.0, 0.0]
LAWS = ('tracking_integral', 'tracking', 'point_to_point', 'gravity_hold', 'hand_guiding')
WITHOUT_TRAJECTORY = ('gravity_hold', 'hand_guiding')
CYCLE = 1e-3  # s
# Of the torque limit per millisecond, within 0.3 s. Most switches take about 1 %; up to 6 % were
# measured after switches to laws with integral action. The cause is not known; the goal is 2 %.
STEP_ALLOWED = 0.12
# rad, soft limits of joints 1 and 3
SOFT = {0: 2.740167, 2: -0.645772}
STRICT, BEST_EFFORT = SwitchController.Request.STRICT, SwitchController.Request.BEST_EFFORT
# Without activate_asap the controller manager switches beside the cycles, and a law may start
# before it can read the last torque (puma_hardware/doc/arm_system.md).
MODES = ((STRICT, True), (BEST_EFFORT, True))


def generate_test_description():
    """Start the simulated arm with 2.5 kg that the laws do not know."""
    return launch_support.simulated_arm(HOME, 'payload_mass=2.5')


def chain(law):
    """Return the controllers of a law."""
    return [law] if law in WITHOUT_TRAJECTORY else [law, law + '_trajectory']


def largest_step(states):
    """Return the largest change of a torque, of its limit per millisecond."""
    largest = 0.0
    for a, b in zip(states, states[1:]):
        cycles = max(1, round((stamp(b) - stamp(a)) / CYCLE))
        for before, after, limit in zip(a.effort, b.effort, EFFORT):
            largest = max(largest, abs(after - before) / limit / cycles)
    return largest


class SwitchModes(ArmTest):
    """One arm for all tests: they run in the order of their names."""

    def rest(self, seconds):
        """Wait in the time of the arm."""
        end = self.arm.now() + seconds
        self.arm.until(lambda: self.arm.now() > end, 'time passes')

    def request(self, old, new, strictness, asap):
        """Switch by the service."""
        request = SwitchController.Request(
            activate_controllers=chain(new), deactivate_controllers=chain(old),
            strictness=strictness, activate_asap=asap, timeout=Duration(sec=20))
        return self.arm.call(SwitchController, 'controller_manager/switch_controller', request).ok

    def command(self, old, new, strictness, asap):
        """Switch by the command."""
        options = ['--strict' if strictness == STRICT else '--best-effort']
        if asap:
            options.append('--activate-asap')
        done = subprocess.run(
            ['ros2', 'control', 'switch_controllers', *options,
             '--activate', *chain(new), '--deactivate', *chain(old)],
            capture_output=True, text=True, timeout=120)
        print(done.stdout, done.stderr)
        return done.returncode == 0

    def switch(self, how, old, new, strictness, asap):
        """Switch, and check the torques around it."""
        self.arm.record()
        self.rest(0.05)
        self.assertTrue(how(old, new, strictness, asap), f'{old} to {new}')
        self.rest(0.3)
        step = largest_step(self.arm.recorded())
        mode = ('strict' if strictness == STRICT else 'best effort') + (', asap' if asap else '')
        print(f'{old:18} to {new:18} {mode:18} {100 * step:.2f} % per millisecond')
        self.assertLess(step, STEP_ALLOWED, f'{old} to {new}, {mode}')
        self.assertEqual(self.arm.hardware_state(), 'active')

    def test_1_every_pair_in_every_mode(self):
        """By the service of the controller manager."""
        at = 'tracking'
        for strictness, asap in MODES:
            for old, new in itertools.permutations(LAWS, 2):
                if at != old:
                    self.assertTrue(self.arm.switch(chain(old), chain(at)))
                self.switch(self.request, old, new, strictness, asap)
                at = new
        self.assertTrue(self.arm.switch(chain('tracking_integral'), chain(at)))

    def test_2_from_the_command_line(self):
        """In every mode."""
        for strictness, asap in MODES:
            self.switch(self.command, 'tracking_integral', 'gravity_hold', strictness, asap)
            self.switch(self.command, 'gravity_hold', 'tracking_integral', strictness, asap)

    def test_3_the_disturbance_estimate_survives(self):
        """The payload does not sag."""
        self.rest(2.0)
        before = self.arm.positions()
        for strictness, asap in MODES:
            for old, new in (('tracking_integral', 'gravity_hold'),
                             ('gravity_hold', 'tracking_integral')):
                self.assertTrue(self.request(old, new, strictness, asap))
                self.rest(1.0)
                moved = max(abs(a - b) for a, b in zip(self.arm.positions(), before))
                self.assertLess(moved, 2e-3, f'{old} to {new}')

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
