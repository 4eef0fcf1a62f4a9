# SPDX-License-Identifier: Apache-2.0
"""Shared by the fault tests: an arm that fails in mid-motion, its reaction and its reports."""

from action_msgs.msg import GoalStatus
from control_msgs.msg import DynamicInterfaceGroupValues
from launch_support import ArmTest, EFFORT, point, stamp
from std_srvs.srv import Trigger

CODES = {'thermal': 1, 'encoder-jump': 2, 'deadline-missed': 12}  # puma_hardware's enum Fault
RAMP = 0.25  # s, duration of the torque ramp; default of the hardware
IO = ['joint_state_broadcaster', 'io_state_broadcaster', 'io_controller']


class Reaction:
    """Torque after a fault, from the joint states around it."""

    def __init__(self, states):
        """Find the first state of the final interval without torque."""
        self.states = states
        k = len(states)
        while k > 0 and not any(states[k - 1].effort):
            k -= 1
        assert 0 < k < len(states), 'the torque does not end'
        self.last, self.zero = states[k - 1], states[k]
        self.took = stamp(self.zero) - stamp(self.last)  # s, upper bound of the last step

    def before(self, seconds):
        """Return the states of this interval before the end of the torque."""
        end = stamp(self.zero)
        return [s for s in self.states if end - seconds < stamp(s) < end]

    def motion_since(self, seconds, without=None):
        """Return the largest joint motion from this time before the end of the torque, rad."""
        start = stamp(self.zero) - seconds
        after = [s for s in self.states if stamp(s) >= start]
        return max(abs(s.position[i] - after[0].position[i]) for s in after
                   for i in range(6) if i != without)


class FaultTest(ArmTest):
    """One arm for all tests; each leaves it running."""

    HOME = [0.0, -0.8, 2.2, 0.0, 0.4, 0.0]
    AWAY = [0.8, -1.1, 2.5, 0.4, -0.1, 0.5]
    SECONDS = 5.0  # of a motion

    @classmethod
    def setUpClass(cls):
        """Connect to the arm and its inputs and outputs."""
        super().setUpClass()
        cls.gpio = {}

        def take(message):
            for group, values in zip(message.interface_groups, message.interface_values):
                cls.gpio[group] = dict(zip(values.interface_names, values.values))
        cls.arm.node.create_subscription(
            DynamicInterfaceGroupValues, '/io_state_broadcaster/gpio_states', take, 1)

    def trigger(self, service):
        """Call a service of the component; return its response."""
        return self.arm.call(Trigger, f'puma560/{service}', Trigger.Request())

    def fail_in_motion(self, fail, hardware, fault, joint=''):
        """Move, fail, check goal, controllers and hardware; return the joint states."""
        arm = self.arm
        target = self.AWAY if abs(arm.positions()[0] - self.AWAY[0]) > 0.4 else self.HOME
        goal, _ = arm.goal([point(self.SECONDS, target)])
        handle = arm.send('tracking_trajectory', goal)
        self.assertIsNotNone(handle)
        start = arm.positions()[0]
        arm.until(lambda: abs(arm.positions()[0] - start) > 0.15, 'the arm moves')
        arm.record()
        arm.until(lambda: len(arm.recording) > 50, 'joint states before the fault')
        fail()
        status, _, message = arm.result(handle)
        self.assertEqual(status, GoalStatus.STATUS_ABORTED, message)
        arm.until(lambda: arm.hardware_state() == hardware, f'hardware {hardware}')
        arm.wait_for_controllers(**{name: 'inactive' for name in self.CHAIN})
        self.assert_told(fault, joint)
        if hardware == 'unconfigured':
            return arm.recorded()
        arm.until(lambda: self.gpio['arm']['fault_code'] == CODES[fault], f'fault code of {fault}')
        end = arm.now() + 0.5
        arm.until(lambda: arm.now() > end, 'the torque ramp')
        return arm.recorded()

    def assert_told(self, fault, joint):
        """/diagnostics names the fault and the joint."""
        self.arm.until(lambda: self.arm.diagnosis()[1]['fault'] == fault,
                       f'{fault} on /diagnostics')
        message, _ = self.arm.diagnosis()
        print('/diagnostics:', message)
        self.assertIn(fault, message)
        self.assertIn(joint, message)

    def assert_fades(self, states, slack):
        """The torque ramps down, without growth in any joint, and is not cut.

        slack: allowed growth as a fraction of the limit.
        """
        reaction = Reaction(states)
        fading = reaction.before(0.9 * RAMP)
        self.assertGreater(len(fading), 0.3 * 900 * RAMP)
        for i, limit in enumerate(EFFORT):
            growth = max((abs(b.effort[i]) - abs(a.effort[i])) / limit
                         for a, b in zip(fading, fading[1:]))
            self.assertLess(growth, slack, f'joint{i + 1}')
        # Joint 2 carries the arm.
        torques = [abs(s.effort[1]) for s in fading]
        self.assertGreater(torques[0], 0.03 * EFFORT[1])
        self.assertLess(torques[-1], 0.2 * torques[0])
        middle = [abs(s.effort[1]) for s in reaction.before(0.6 * RAMP)][0]
        self.assertGreater(middle, 0.3 * torques[0])
        self.assertLess(middle, 0.9 * torques[0])
        return reaction

    def activate_and_stay(self, position, allowed):
        """Activate hardware and controllers; the arm stays at `position`, then moves."""
        arm = self.arm
        before = position()
        self.assertTrue(arm.set_hardware_state('active'))
        states = arm.controllers()
        wanted = [*IO, *self.CHAIN]
        self.assertTrue(arm.switch([name for name in wanted if states[name] != 'active']))
        jump, end = 0.0, arm.now() + 1.5
        while arm.now() < end:
            jump = max(jump, *[abs(a - b) for a, b in zip(position(), before)])
        print(f'largest motion from before the activation to 1.5 s after: {1e3 * jump:.3f} mrad')
        self.assertLess(jump, allowed)
        self.assertEqual(self.arm.hardware_state(), 'active')
        arm.move('tracking_trajectory', [point(2.0, [q + 0.05 for q in arm.positions()])])
