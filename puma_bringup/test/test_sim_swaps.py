# SPDX-License-Identifier: Apache-2.0
"""Controller switches in mid-motion between all pairs of laws: no torque step, no drop."""

import itertools
import os
import tempfile

from control_msgs.msg import DynamicJointState
import launch_support
from launch_support import ArmTest, EFFORT, point, stamp
from puma_bringup import arm_launch
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
import yaml

launch_support.isolate(4)

HOME = [0.0, -0.8, 2.2, 0.0, 0.4, 0.0]
AWAY = [0.8, -1.2, 2.6, 0.5, -0.4, 0.8]
LAWS = ('tracking', 'tracking_integral', 'point_to_point', 'gravity_hold')
SWAPS = 20
CYCLE = 1e-3  # s
AROUND = 5  # cycles before and after the switch that are part of it
# Of the torque limit, in the cycle of the switch; in the cycles around it, in addition to the
# changes under the old law, which are noise of velocities from encoder counts.
STEP_ALLOWED = 0.01
# The same per cycle of the deceleration afterwards: when a joint reverses, the friction
# feed-forward changes its sign, with or without a switch.
BRAKING_ALLOWED = 0.05
# Allowed motion of a joint: its velocity at the switch times this time [s], plus a margin [rad].
BRAKING_TIME, MARGIN = 0.2, 5e-3
MOVING, STILL_MOVING = 0.2, 0.05  # rad/s of the fastest joint at a switch; from gravity_hold
ATTEMPTS = 4  # if the machine stalls, a switch may be too late or its messages lost
FILES = tempfile.TemporaryDirectory()


def generate_test_description():
    """Start the simulated arm at half speed; every law publishes its state in every cycle."""
    with open(arm_launch.share('puma_bringup', 'config', 'controllers.yaml')) as file:
        parameters = yaml.safe_load(file)
    for law in LAWS:
        parameters['/**/' + law]['ros__parameters']['state_publish_rate'] = 1 / CYCLE
    path = os.path.join(FILES.name, 'controllers.yaml')
    with open(path, 'w') as file:
        yaml.safe_dump(parameters, file)
    return launch_support.simulated_arm(HOME, 'real_time_factor=0.5', controllers_file=path)


def chain(law):
    """Return the controllers of a law."""
    return [law] if law == 'gravity_hold' else [law, law + '_trajectory']


def route():
    """Return a sequence of laws that contains every pair."""
    left = set(itertools.permutations(LAWS, 2))
    way = ['tracking']
    while len(way) <= SWAPS:
        ahead = [law for law in LAWS if (way[-1], law) in left]
        # From a law without remaining pairs, to the one with most of them.
        others = [law for law in LAWS if law != way[-1]]
        way.append(max(ahead or others, key=lambda law: sum(pair[0] == law for pair in left)))
        left.discard((way[-2], way[-1]))
    assert not left, left
    return way


def motions(way):
    """Split the route, one part per motion; gravity_hold, which cannot move, is in the middle."""
    parts, k = [], 0
    while k + 1 < len(way):
        count = 3 if way[k + 1] == 'gravity_hold' and k + 2 < len(way) else 2
        parts.append(way[k:k + count])
        k += count - 1
    return parts


class Sample:
    """State of a law in one cycle."""

    def __init__(self, message):
        """Read it."""
        values = [dict(zip(v.interface_names, v.values)) for v in message.interface_values]
        self.time = stamp(message)
        self.q, self.qd, self.torque, self.gravity = (
            [v[key] for v in values]
            for key in ('position', 'velocity', 'torque.total', 'torque.gravity'))


class Swap:
    """One switch, cycle by cycle."""

    def __init__(self, old, new, braking):
        """Evaluate the last cycles of the old law and the first ones of the new law.

        braking: the arm decelerates after a previous switch.
        """
        self.cycles = round((new[0].time - old[-1].time) / CYCLE)
        self.speed = max(map(abs, new[0].qd))
        self.seen = self.cycles <= 2 and self.speed > (STILL_MOVING if braking else MOVING)
        both, swapped = [*old, *new], new[0].time
        changes = [(b.time, max(abs(x - y) / limit for x, y, limit in
                                zip(a.torque, b.torque, EFFORT))
                    / max(1, round((b.time - a.time) / CYCLE))) for a, b in zip(both, both[1:])]
        near = (AROUND + 0.5) * CYCLE
        first = swapped - (0.5 * CYCLE if braking else near)
        self.step = changes[len(old) - 1][1]
        self.around, self.when = max((change, round((t - swapped) / CYCLE)) for t, change in changes
                                     if first < t < swapped + near)
        self.before = max(change for t, change in changes if t <= first)
        self.braking = max(change for t, change in changes if t - swapped > near)
        self.share = len(new) * CYCLE / (new[-1].time - swapped)
        start = new[0]
        self.beyond = self.deviation = self.fall = 0.0
        for i, (q, v) in enumerate(zip(start.q, start.qd)):
            ahead = 1 if v > 0 else -1
            run = [ahead * (sample.q[i] - q) for sample in new]
            self.deviation = max(self.deviation, max(run), -min(run))
            self.beyond = max(self.beyond, max(run) - BRAKING_TIME * abs(v), -min(run))
            if i == 1:  # which carries the arm: down is opposite to the holding torque
                down = 1 if start.gravity[i] < 0 else -1
                self.fall = max(down * ahead * r for r in run) \
                    - max(0.0, down * v) * BRAKING_TIME

    def __str__(self):
        """Return the results as text."""
        return (f'at {self.speed:.2f} rad/s: torque {100 * self.step:.2f} % of its limit in the '
                f'swap, {100 * self.around:.2f} % per cycle around it (cycle {self.when}), '
                f'{100 * self.before:.2f} % before, '
                f'{100 * self.braking:.2f} % while braking; deviation {1e3 * self.deviation:.1f} '
                f'mrad, joint 2 falls {1e3 * max(0.0, self.fall):.2f} mrad beyond its braking; '
                f'{100 * self.share:.0f} % of the cycles seen')


class Swaps(ArmTest):
    """One long run."""

    @classmethod
    def setUpClass(cls):
        """Connect to the arm and subscribe to the states of its laws."""
        super().setUpClass()
        cls.told = {law: [] for law in LAWS}
        for law in LAWS:
            cls.arm.node.create_subscription(
                DynamicJointState, f'/{law}/controller_state', cls.told[law].append,
                QoSProfile(depth=5000), raw=True)

    def let_pass(self, seconds):
        """Wait in the time of the arm."""
        end = self.arm.now() + seconds
        self.arm.until(lambda: self.arm.now() > end, 'time passes')

    def in_motion(self, laws):
        """Switch through these laws in one motion; return the switches."""
        arm = self.arm
        target = AWAY if abs(arm.positions()[0] - AWAY[0]) > 0.4 else HOME
        start = arm.positions()[0]
        goal, _ = arm.goal([point(2.0, target)])
        self.assertIsNotNone(arm.send(laws[0] + '_trajectory', goal))
        arm.until(lambda: abs(arm.positions()[0] - start) > 0.15, 'the arm moves')
        for messages in self.told.values():
            messages.clear()
        self.let_pass(0.05)
        for old, new in zip(laws, laws[1:]):
            self.assertTrue(arm.switch(chain(new), chain(old)), f'{old} to {new}')
            self.let_pass(0.04 if new != laws[-1] else 1.5)
        samples = [[Sample(deserialize_message(m, DynamicJointState)) for m in self.told[law]]
                   for law in laws]
        if laws[0] == laws[-1]:  # the same law before and after another one
            first, last = samples[1][0].time, samples[1][-1].time
            samples[0] = [s for s in samples[0] if s.time < first]
            samples[2] = [s for s in samples[2] if s.time > last]
        return [Swap(a, b, braking=k > 0)
                for k, (a, b) in enumerate(zip(samples, samples[1:]))]

    def swap(self, laws):
        """Switch through these laws in mid-motion, repeated until it was observed."""
        for _ in range(ATTEMPTS):
            swaps = self.in_motion(laws)
            for old, new, swap in zip(laws, laws[1:], swaps):
                print(f'{old:18} to {new:18}', swap if swap.seen else
                      f'came at {swap.speed:.2f} rad/s, {swap.cycles} cycles apart: again')
            if all(swap.seen for swap in swaps):
                return swaps
            self.assertTrue(self.arm.switch(chain(laws[0]), chain(laws[-1])))
        self.fail(f'{laws}: not seen in mid-motion')

    def test_twenty_swaps(self):
        """Through every pair."""
        swaps = [swap for laws in motions(route()) for swap in self.swap(laws)]
        self.assertEqual(len(swaps), SWAPS)
        self.assertEqual(self.arm.hardware_state(), 'active')
        for name in ('step', 'around', 'before', 'braking', 'beyond', 'deviation', 'fall'):
            print(f'largest {name}: {max(getattr(swap, name) for swap in swaps):.5f}')
        self.assertGreater(min(swap.share for swap in swaps), 0.5)
        self.assertLess(max(swap.beyond for swap in swaps), MARGIN)
        self.assertLess(max(swap.fall for swap in swaps), MARGIN)
        self.assertLess(max(swap.braking for swap in swaps), BRAKING_ALLOWED)
        self.assertLess(max(swap.step for swap in swaps), STEP_ALLOWED)
        self.assertLess(max(swap.around - swap.before for swap in swaps), STEP_ALLOWED)


AfterShutdown = launch_support.AfterShutdown
