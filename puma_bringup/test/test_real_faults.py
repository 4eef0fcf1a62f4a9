# SPDX-License-Identifier: Apache-2.0
"""Faults of an arm on emulated cards in mid-motion: reaction, recovery, no jump afterwards."""

import os
import signal
import subprocess
import time

from emulated_cell import Cell, pid_of
from fault_support import FaultTest, RAMP, Reaction
import launch_support
from launch_support import stamp
import launch_testing
from puma_bringup import arm_launch

launch_support.isolate(13)

CELL = Cell('faults')
SLACK = 0.03  # of the torque limit, between two joint states: due to the damping of the law
MOTION = 0.1  # rad until the arm is at rest, including the delay of the fault
STALL = 0.8  # s
STALL_MOTION = 0.3  # rad during the stall, under the last torque
DAMPING = 20  # 1/s, of the holding torque


def holding_torques(states):
    """Return the torques that stop the arm in each of these states, by the `ga` command."""
    rows = [[*s.position, *s.velocity, *[-DAMPING * v for v in s.velocity]] for s in states]
    done = subprocess.run(
        ['ga', 'id', arm_launch.share('puma_description', 'urdf', 'puma560.urdf'), '--drives',
         '--states', '-', '--quiet'], check=True, capture_output=True, text=True,
        input=''.join(','.join(map(repr, row)) + '\n' for row in rows))
    return [list(map(float, line.split(','))) for line in done.stdout.splitlines()[1:]]


def generate_test_description():
    """Start the arm with emulated cards in a process of their own, with a guard."""
    return launch_support.arm_description(
        'real.launch.py', io='emulated', cell=CELL.name, controller='tracking', calibrate='true',
        emulated_arm='--start ' + ' '.join(map(str, FaultTest.HOME)), guard_timeout='1000')


class Faults(FaultTest):
    """One arm for all tests; each leaves it running."""

    SECONDS = 6.0

    def fail_truly(self, fail, hardware, fault, joint='', allowed=MOTION):
        """Fail in mid-motion; the true arm stops without voltage; the guard does not trip."""
        at = []

        def look_and_fail():
            at.extend(CELL.look()['q'])
            fail()

        states = self.fail_in_motion(look_and_fail, hardware, fault, joint)
        self.arm.until(self.stands, 'the arm is at rest without voltage and power')
        motion = max(abs(a - b) for a, b in zip(at, CELL.look()['q']))
        print(f'true motion since the fault: {1e3 * motion:.1f} mrad')
        self.assertLess(motion, allowed)
        self.assertEqual(self.arm.diagnosis()[1]['guard has tripped'], 'no')
        return states

    def stands(self):
        """Return whether the true arm is at rest, with 0 V on the amplifiers."""
        cell = CELL.look()
        return (not any(cell['volts']) and not cell['powered']
                and max(map(abs, cell['qd'])) < 1e-3)

    def recover(self, calibrate):
        """Reset, calibrate if the position is lost, activate: the arm stays at rest, then moves."""
        CELL.clear()
        if calibrate:
            self.assertFalse(self.arm.set_hardware_state('active'))
            answer = self.trigger('calibrate')
            for _ in range(3):
                if not answer.message.startswith('deadline-missed'):
                    break
                print('again, the machine has stalled:', answer.message)
                self.assertTrue(self.trigger('reset_fault').success)
                answer = self.trigger('calibrate')
            self.assertTrue(answer.success, answer.message)
        self.activate_and_stay(lambda: CELL.look()['q'], 3e-3)

    def assert_streaming(self):
        """Joint states are published while the hardware is inactive."""
        self.arm.record()
        self.arm.until(lambda: len(self.arm.recording) > 300, 'joint states while inactive')
        self.assertEqual(list(self.arm.recorded()[-1].effort), [0.0] * 6)

    def test_thermal(self):
        """The torque ramps down; the fault cannot be reset while the motor is hot."""
        self.assert_fades(self.fail_truly(lambda: CELL.inject('thermal:joint2'), 'inactive',
                                          'thermal', 'joint2'), SLACK)
        self.assert_streaming()
        self.assertFalse(self.trigger('reset_fault').success)
        self.assertFalse(self.arm.set_hardware_state('active'))
        CELL.clear()
        self.assertTrue(self.trigger('reset_fault').success)
        self.recover(calibrate=False)

    def test_encoder(self):
        """The torque is cut; the position is unknown until the next calibration."""
        reaction = Reaction(self.fail_truly(lambda: CELL.inject('encoder-jump:joint1'), 'inactive',
                                            'encoder-jump', 'joint1'))
        earlier = abs(reaction.before(0.05)[0].effort[1])
        print(f'{earlier:.1f} N m, {abs(reaction.last.effort[1]):.1f} N m and none, '
              f'{1e3 * reaction.took:.1f} ms later')
        self.assertGreater(abs(reaction.last.effort[1]), 0.5 * earlier, 'ramped down, not cut')
        self.assert_streaming()
        self.assertTrue(self.trigger('reset_fault').success)
        self.recover(calibrate=True)

    def test_card_lost(self):
        """The hardware becomes unconfigured and stays so while the card is missing."""
        arm = self.arm
        self.fail_truly(lambda: CELL.inject('pcl833a-lost'), 'unconfigured', 'card-lost')
        self.assertFalse(arm.set_hardware_state('inactive'))
        CELL.clear()
        self.assertTrue(arm.set_hardware_state('inactive'))
        self.recover(calibrate=True)

    def test_deadline(self, proc_info):
        """The loop stalls for less than the guard timeout: then the torque ramps down."""
        pid = pid_of(proc_info, 'control_node')

        def stall():
            os.kill(pid, signal.SIGSTOP)
            time.sleep(STALL)
            os.kill(pid, signal.SIGCONT)

        states = self.fail_truly(stall, 'inactive', 'deadline-missed', allowed=STALL_MOTION)
        back = next(b for a, b in zip(states, states[1:]) if stamp(b) - stamp(a) > 0.9 * STALL)
        gone = stamp(Reaction(states).zero) - stamp(back)
        print(f'the torque was gone {1e3 * gone:.0f} ms after the stall')
        self.assertGreater(gone, 0.5 * RAMP)
        self.assertLess(gone, 2 * RAMP)
        ramp = [s for s in states if stamp(s) >= stamp(back)]
        largest = max(abs(s.effort[1]) for s in ramp)
        # The stalled arm may have swung away under too small a torque: stopping it takes more.
        allowed = max(abs(back.effort[1]), *[abs(t[1]) for t in holding_torques(ramp[:5])])
        print(f'at most {largest:.1f} N m; the holding torque is up to {allowed:.1f} N m')
        self.assertLess(largest, 1.1 * allowed)
        self.assert_streaming()
        self.assertTrue(self.trigger('reset_fault').success)
        self.recover(calibrate=False)


@launch_testing.post_shutdown_test()
class AfterShutdown(launch_support.AfterShutdown):
    """Checks after the shutdown."""

    @classmethod
    def tearDownClass(cls):
        """Clean up."""
        CELL.forget()
