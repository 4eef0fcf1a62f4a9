# SPDX-License-Identifier: Apache-2.0
"""Two arms on their own emulated cards: the death of one does not affect the other."""

import contextlib
import os
import signal

from emulated_cell import Cell
import launch_support
from launch_support import Arm, point
from launched import Launched

launch_support.isolate(17)

START = {'left': [0.3, -0.8, 2.2, 0.0, 0.4, 0.0], 'right': [-0.3, -1.0, 2.4, 0.2, -0.4, 0.3]}
CELLS = {side: Cell(side) for side in START}


def launched(side):
    """Return the launch of one arm."""
    return Launched(
        'real.launch.py', namespace=side, io='emulated', cell=CELLS[side].name,
        controller='tracking', calibrate='true', guard_timeout='1000',
        emulated_arm='--start ' + ' '.join(map(str, START[side])))


def test_one_dies_and_the_other_goes_on():
    with contextlib.ExitStack() as stack:
        for cell in CELLS.values():
            stack.callback(cell.forget)
        launches = {side: stack.enter_context(launched(side)) for side in START}
        arms = {side: Arm(side) for side in START}
        for arm in arms.values():
            stack.callback(arm.close)
        for side, arm in arms.items():
            arm.wait_for_controllers(tracking='active', tracking_trajectory='active')
            off = max(abs(q - p) for q, p in zip(arm.positions(), START[side]))
            assert off < 0.01, f'{side} is calibrated at its start: {arm.positions()}'
        right = arms['right']
        goal, _ = right.goal([point(6.0, [q + 0.3 for q in START['right']])])
        handle = right.send('tracking_trajectory', goal)
        right.until(lambda: right.positions()[0] > START['right'][0] + 0.05, 'it moves')

        witness = CELLS['left'].witness(2.0)
        os.kill(launches['left'].pid('control_node'), signal.SIGKILL)
        left = witness()
        assert left['volts'] == [0.0] * 6
        assert not left['power_output']
        launches['left'].ended()
        assert 'died' in launches['left'].text()

        status, code, message = right.result(handle)
        assert code == 0, f'{status} {code} {message}'
        assert right.hardware_state() == 'active'
        assert right.diagnosis()[1]['guard has tripped'] == 'no'
        assert CELLS['right'].look()['powered']

        # Terminated by a supervisor: the arm is stopped first.
        witness = CELLS['right'].witness(1.5)
        os.kill(launches['right'].pid('control_node'), signal.SIGTERM)
        ended = witness()
        assert ended['volts'] == [0.0] * 6
        assert not ended['power_output']
        assert launches['right'].ended() == 0
        assert 'Terminated: all controllers are deactivated' in launches['right'].text()
        assert 'has stopped the arm and disconnected' in launches['right'].text()
