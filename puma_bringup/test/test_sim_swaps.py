# SPDX-License-Identifier: Apache-2.0
"""Controllers are swapped in mid-motion, through every pair: no step of torque, no drop."""

import itertools
import unittest

import launch_support
from launch_support import Arm, JOINTS, point, stamp
import launch_testing
import launch_testing.asserts

launch_support.isolate(4)

EFFORT = [97.6, 186.4, 89.4, 24.2, 20.1, 21.3]  # N m, the description's limits
HOME = [0.0, -0.8, 2.2, 0.0, 0.4, 0.0]
AWAY = [0.8, -1.2, 2.6, 0.5, -0.4, 0.8]
SWAPS = 20
STEP_ALLOWED = 0.05  # of the torque limit, in one cycle; the new law's first braking is in it
TRAVEL_ALLOWED = 0.25  # rad from where the swap came until the arm rests


def generate_test_description():
    """Start the simulated arm in simulated time."""
    start = ','.join(f'{j}:{q}' for j, q in zip(JOINTS, HOME))
    return launch_support.arm_description(
        'sim.launch.py', controller='tracking', use_sim_time='true',
        hardware_parameters=f'initial_positions={start}')


def chain(law):
    """Return the controllers that go with a law."""
    return [law] if law == 'gravity_hold' else [law, law + '_trajectory']


def route():
    """Return laws in an order that takes every pair, one after the other."""
    laws = ('tracking', 'tracking_integral', 'point_to_point', 'gravity_hold')
    left = set(itertools.permutations(laws, 2))
    way = ['tracking']
    while len(way) <= SWAPS:
        ahead = [law for law in laws if (way[-1], law) in left]
        # From a law with all its pairs done, to the one with most to do.
        others = [law for law in laws if law != way[-1]]
        way.append(max(ahead or others, key=lambda law: sum(pair[0] == law for pair in left)))
        left.discard((way[-2], way[-1]))
    assert not left, left
    return way


class Swaps(unittest.TestCase):
    """One long run."""

    @classmethod
    def setUpClass(cls):
        """Connect to the arm."""
        cls.arm = Arm()
        cls.arm.wait_for_controllers(**{name: 'active' for name in chain('tracking')})

    @classmethod
    def tearDownClass(cls):
        """Disconnect."""
        cls.arm.close()

    def swap(self, old, new):
        """Swap in mid-motion; (largest step of torque over its limit, travel until at rest).

        The step is that of the swap itself. Later, where a joint has been braked and turns round,
        the torque follows the friction's change of sign within a few milliseconds, as it always
        does.
        """
        arm = self.arm
        if old != 'gravity_hold':
            target = AWAY if abs(arm.positions()[0] - AWAY[0]) > 0.4 else HOME
            start = arm.positions()[0]
            goal, _ = arm.goal([point(2.0, target)])
            self.assertIsNotNone(arm.send(old + '_trajectory', goal))
            arm.until(lambda: abs(arm.positions()[0] - start) > 0.15, 'the arm moves')
        arm.record()
        arm.until(lambda: len(arm.recording) > 50, 'joint states before the swap')
        before, called = arm.positions(), arm.now()
        self.assertTrue(arm.switch(chain(new), chain(old)), f'{old} to {new}')
        answered = arm.now()
        count = len(arm.recording)
        arm.until(lambda: len(arm.recording) > count + 1500, 'joint states after the swap')
        states = arm.recorded()
        step = max(abs(b.effort[i] - a.effort[i]) / EFFORT[i]
                   for a, b in zip(states, states[1:]) if stamp(b) - stamp(a) < 0.0015
                   and called - 0.005 < stamp(b) < answered + 0.005
                   for i in range(6))
        travel = max(abs(q - p) for q, p in zip(states[-1].position, before))
        print(f'{old:18} to {new:18} torque step {100 * step:5.2f} % of the limit,'
              f' travel {1e3 * travel:7.2f} mrad')
        return step, travel

    def test_twenty_swaps(self):
        """Through every pair."""
        way = route()
        results = [self.swap(old, new) for old, new in zip(way, way[1:])]
        self.assertEqual(len(results), SWAPS)
        self.assertEqual(self.arm.hardware_state(), 'active')
        self.assertLess(max(step for step, _ in results), STEP_ALLOWED)
        self.assertLess(max(travel for _, travel in results), TRAVEL_ALLOWED)


@launch_testing.post_shutdown_test()
class AfterShutdown(unittest.TestCase):
    """What is left when everything has ended."""

    def test_nothing_crashed(self, proc_info):
        """Every process ends by itself or by the interrupt that ends the launch."""
        launch_testing.asserts.assertExitCodes(proc_info, allowable_exit_codes=[0, -2])
