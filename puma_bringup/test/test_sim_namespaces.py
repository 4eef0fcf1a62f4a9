# SPDX-License-Identifier: Apache-2.0
"""Two arms in namespaces on one machine do not affect each other."""

import unittest

import launch_support
from launch_support import Arm, point
from std_srvs.srv import Trigger

launch_support.isolate(3)

START = {'left': [0.5, -0.8, 2.2, 0.0, 0.4, 0.0], 'right': [-0.5, -1.0, 2.4, 0.2, -0.4, 0.3]}
LAW = {'left': 'tracking', 'right': 'tracking_integral'}


def arguments(side):
    """Return the launch arguments of one arm; each has its own simulated time."""
    return {'namespace': side, 'controller': LAW[side], 'use_sim_time': 'true',
            'hardware_parameters': launch_support.initial_positions(START[side])}


def generate_test_description():
    """Start both arms."""
    return launch_support.arm_description(
        'sim.launch.py', launch_support.included('sim.launch.py', **arguments('right')),
        **arguments('left'))


class TwoArms(unittest.TestCase):
    """Both arms, each through its own namespace."""

    @classmethod
    def setUpClass(cls):
        """Connect to both."""
        cls.arms = {side: Arm(side) for side in START}

    @classmethod
    def tearDownClass(cls):
        """Disconnect."""
        for arm in cls.arms.values():
            arm.close()

    def test_1_each_has_its_own_controllers_and_states(self):
        """Each has its own law and initial position."""
        for side, arm in self.arms.items():
            other = next(LAW[s] for s in LAW if s != side)
            arm.wait_for_controllers(**{LAW[side]: 'active', LAW[side] + '_trajectory': 'active',
                                        other: 'inactive', 'joint_state_broadcaster': 'active'})
            for q, wanted in zip(arm.positions(), START[side]):
                self.assertAlmostEqual(q, wanted, delta=0.02)

    def test_2_one_moves_and_the_other_stands(self):
        """A motion of one arm appears only in its own joint states."""
        left, right = self.arms['left'], self.arms['right']
        right.record()
        goal = [q + 0.2 for q in START['left']]
        left.move('tracking_trajectory', [point(3.0, goal)])
        for q, wanted in zip(left.positions(), goal):
            self.assertAlmostEqual(q, wanted, delta=0.02)
        for state in right.recorded():
            for q, wanted in zip(state.position, START['right']):
                self.assertAlmostEqual(q, wanted, delta=0.02)

    def test_3_a_fault_of_one_does_not_stop_the_other(self):
        """Faults and diagnostics are each arm's own."""
        left, right = self.arms['left'], self.arms['right']
        self.assertEqual(right.set_parameters('puma560', inject_fault='emergency-stop'), [])
        right.until(lambda: right.hardware_state() == 'inactive', 'the right arm stops')
        self.assertEqual(left.hardware_state(), 'active')
        left.move('tracking_trajectory', [point(3.0, START['left'])])
        right.until(lambda: right.diagnosis()[1]['fault'] == 'emergency-stop', 'the diagnosis')
        self.assertEqual(left.diagnosis()[1]['fault'], 'none')

    def test_4_the_right_arm_recovers_by_its_own_services(self):
        """Those of the left arm have nothing to reset."""
        right = self.arms['right']
        self.assertEqual(right.set_parameters('puma560', inject_fault=''), [])
        self.assertTrue(self.arms['left'].call(Trigger, 'puma560/reset_fault',
                                               Trigger.Request()).success)
        self.assertFalse(right.set_hardware_state('active'), 'the right arm still has its fault')
        # A loop that stalls for half a second, as on a busy machine, does not process it.
        right.until(lambda: right.call(Trigger, 'puma560/reset_fault', Trigger.Request()).success,
                    'the fault is reset')
        self.assertTrue(right.set_hardware_state('active'))
        self.assertTrue(right.switch(['io_controller', LAW['right'], LAW['right'] + '_trajectory']))
        right.move(LAW['right'] + '_trajectory', [point(3.0, START['right'])])

    def test_5_diagnostics_have_distinct_names(self):
        """Not only distinct hardware ids, which few tools show."""
        arm = self.arms['left']
        wanted = {f'/{side}/{name}' for side in START for name in ('puma560', 'controller_manager')}

        def names():
            return {name.split(':')[0] for _, name in arm.diagnoses}
        arm.until(lambda: len(names()) >= len(wanted), 'diagnostics of both')
        self.assertEqual(names(), wanted)

    def test_6_nothing_is_outside_of_the_namespaces(self):
        """Nodes and topics of an arm are in its namespace, except for global topics."""
        node = self.arms['left'].node
        names = [space.rstrip('/') + '/' + name
                 for name, space in node.get_node_names_and_namespaces()]
        strays = [name for name in names if not name.startswith(('/left/', '/right/'))
                  and 'launch_ros' not in name]
        self.assertEqual(strays, [])
        self.assertIn('/left/puma560', names)
        self.assertIn('/right/puma560', names)
        topics = {name for name, _ in node.get_topic_names_and_types()}
        strays = {name for name in topics if not name.startswith(('/left/', '/right/'))}
        self.assertLessEqual(strays, {'/rosout', '/parameter_events', '/diagnostics'})


AfterShutdown = launch_support.AfterShutdown
