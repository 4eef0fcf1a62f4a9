# SPDX-License-Identifier: Apache-2.0
"""Every pair of laws on the emulated I/O cards, with an unknown payload."""

import launch_support
from std_srvs.srv import Trigger
from switch_support import chain, MODES, SwitchTest

launch_support.isolate(22)

HOME = [0.0, -0.3, 1.9, 0.0, 0.0, 0.0]


def generate_test_description():
    """Start the arm on emulated cards, with 2.5 kg that the laws do not know."""
    return launch_support.arm_description(
        'real.launch.py', io='emulated', use_sim_time='true', controller='tracking',
        hardware_parameters=launch_support.initial_positions(HOME)
        + ' real_time_factor=3 payload_mass=2.5')


class EmulatedSwitchModes(SwitchTest):
    """One arm for all tests: they run in the order of their names."""

    CHAIN = []  # no controller is active at first

    def test_1_calibrates_and_starts(self):
        """The hardware is active, and tracking holds the arm."""
        self.arm.wait_for_controllers(joint_state_broadcaster='active', tracking='inactive')
        self.rest(5.0)  # the wrist has no brakes: the payload pulls it down at first
        answer = self.arm.call(Trigger, 'puma560/calibrate', Trigger.Request())
        self.assertTrue(answer.success, answer.message)
        self.assertTrue(self.arm.set_hardware_state('active'))
        self.assertTrue(self.arm.switch(chain('tracking'), []))

    def test_2_every_pair(self):
        """By the service of the controller manager, in every mode."""
        self.every_pair(MODES)


AfterShutdown = launch_support.AfterShutdown
