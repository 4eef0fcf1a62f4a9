# SPDX-License-Identifier: Apache-2.0
"""Emulated cards in a process of their own, as the tests of the real arm see and break them."""

import json
import os
from pathlib import Path
import subprocess
import time

from puma_bringup import arm_launch

# The machine that runs the tests may stall the arm or the loop for tenths of a second; what then
# looks like a jump or like overspeed is none.
PATIENT = ' '.join([
    'safety.deadline_ratio=10', 'safety.max_missed_deadlines=500', 'guard_timeout=1',
    'safety.jump_ratio=20', 'safety.overspeed_ratio=2', 'safety.calibration_speed_ratio=1'])


class Cell:
    """The cards and the arm behind them, beside ROS 2."""

    def __init__(self, kind):
        """Choose a name; `kind` tells one test from another."""
        self.name = f'{kind}_{os.getpid()}'

    def look(self, *options):
        """Return what `puma cell` tells."""
        done = subprocess.run(self._command(*options), check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    def witness(self, seconds):
        """Look so much later, at cards that may be gone by then; call the result to see."""
        process = subprocess.Popen(self._command('--after', str(seconds)), stdout=subprocess.PIPE,
                                   text=True)
        time.sleep(0.3)  # by now it has opened them

        return lambda: json.loads(process.communicate()[0])

    def forget(self):
        """Remove what the guard and the arm met in; the cards remove themselves."""
        Path('/dev/shm', f'puma_heartbeat_{self.name}').unlink(missing_ok=True)

    def _command(self, *options):
        return [arm_launch.program('puma_hardware', 'puma'), 'cell', self.name, *options]

    def inject(self, fault):
        """Break something."""
        self.look('--inject', fault)

    def mend(self):
        """Mend everything."""
        self.look('--clear')


def pid_of(proc_info, name):
    """Return the process id of the launched process of that name."""
    return next(proc_info[key].pid for key in proc_info.process_names() if name in key)
