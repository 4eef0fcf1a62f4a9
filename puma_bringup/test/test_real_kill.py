# SPDX-License-Identifier: Apache-2.0
"""The controller manager is killed or interrupted in mid-motion: the arm is safe."""

import os
import re
import signal
import time

from emulated_cell import Cell
from fault_support import RAMP
import launch_support
from launch_support import Arm, point
from launched import Launched

launch_support.isolate(12)

START = [0.0, -0.8, 2.2, 0.0, 0.4, 0.0]
AWAY = [1.0, -1.2, 2.6, 0.5, -0.4, 0.8]
ALLOWED = 20.0  # ms
STOPPING_DISTANCE = 0.15  # rad, including the motion before the signal
MARGIN = 0.2  # s for the signal and the switch


def move():
    """Start a motion; return in mid-motion."""
    arm = Arm()
    try:
        arm.wait_for_controllers(tracking='active', tracking_trajectory='active')
        goal, _ = arm.goal([point(8.0, AWAY)])
        assert arm.send('tracking_trajectory', goal) is not None
        arm.until(lambda: abs(arm.positions()[0] - START[0]) > 0.3, 'the arm moves')
    finally:
        arm.close()


class End:
    """The end of the controller manager by a signal in mid-motion, and its effects."""

    def __init__(self, number, kind):
        """Start the arm, move it, send the signal, read the state."""
        cell = Cell(kind)
        arguments = {'io': 'emulated', 'cell': cell.name, 'controller': 'tracking',
                     'calibrate': 'true', 'guard_timeout': '500',
                     'emulated_arm': '--start ' + ' '.join(map(str, START))}
        try:
            with Launched('real.launch.py', **arguments) as launch:
                move()
                self.before = cell.look()
                self.manager = launch.pid('control_node')
                witness = cell.witness(1.5)
                sent = time.monotonic_ns()
                os.kill(self.manager, number)
                self.after = witness()
                launch.ended()
        finally:
            cell.forget()
        self.text = launch.text()
        self.took = 1e-6 * (self.after['outputs_changed_ns'] - sent)  # ms
        self.died = dict(re.findall(r'\[(\w+)-\d+\]: process has died '
                                    r'\[pid \d+, exit code (-?\d+)', self.text))

    def assert_safe(self):
        """The arm was under torque before, and has none afterwards."""
        assert self.before['powered']
        assert max(map(abs, self.before['volts'])) > 0.1
        assert self.after['volts'] == [0.0] * 6
        assert not self.after['power_output']
        assert self.after['illegal_accesses'] == 0


def test_a_kill_takes_the_outputs_to_zero_within_20_ms():
    """By the clock of the cards: time of the last change of an output."""
    end = End(signal.SIGKILL, 'kill')
    end.assert_safe()
    print(f'kill -9 in mid-motion: the last output changed {end.took:.2f} ms later')
    assert f'guard: process {end.manager} died' in end.text
    assert end.died == {'control_node': '-9'}, 'guard and robot exit normally'
    assert 0 < end.took < ALLOWED


def test_an_interrupt_is_a_controlled_stop():
    """The torque ramps down, the brakes engage, then all processes exit normally."""
    end = End(signal.SIGINT, 'interrupt')
    end.assert_safe()
    print(f'interrupted in mid-motion: the last output changed {end.took:.0f} ms later')
    assert 0.7e3 * RAMP < end.took < 1e3 * (RAMP + MARGIN), 'cut off, or late'
    assert end.died == {}
    assert 'all controllers are deactivated' in end.text
    assert 'has stopped the arm and disconnected' in end.text, 'the guard does not trip'
    assert 'hangs' not in end.text
    # By the control loop, before the shutdown.
    assert end.text.index('Deactivated controllers') < end.text.index('Shutdown request received')
    motion = max(abs(a - b) for a, b in zip(end.before['q'], end.after['q']))
    print(f'motion since then {1e3 * motion:.1f} mrad')
    assert motion < STOPPING_DISTANCE
