# SPDX-License-Identifier: Apache-2.0
"""Switches between the laws of an arm, with checks of the torques around them."""

import itertools
import subprocess

from builtin_interfaces.msg import Duration
from controller_manager_msgs.srv import SwitchController
from launch_support import ArmTest, EFFORT, stamp

LAWS = ('tracking_integral', 'tracking', 'point_to_point', 'gravity_hold', 'hand_guiding')
WITHOUT_TRAJECTORY = ('gravity_hold', 'hand_guiding')
CYCLE = 1e-3  # s
STEP_ALLOWED = 0.02  # of the torque limit per millisecond, within 0.3 s
STRICT, BEST_EFFORT = SwitchController.Request.STRICT, SwitchController.Request.BEST_EFFORT
MODES = tuple(itertools.product((STRICT, BEST_EFFORT), (True, False)))


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


class SwitchTest(ArmTest):
    """Switches the laws of an arm and checks the torques."""

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

    def every_pair(self, modes):
        """Switch every pair of laws, from tracking back to tracking with integral action."""
        at = 'tracking'
        for strictness, asap in modes:
            for old, new in itertools.permutations(LAWS, 2):
                if at != old:
                    self.assertTrue(self.arm.switch(chain(old), chain(at)))
                self.switch(self.request, old, new, strictness, asap)
                at = new
        self.assertTrue(self.arm.switch(chain('tracking_integral'), chain(at)))
