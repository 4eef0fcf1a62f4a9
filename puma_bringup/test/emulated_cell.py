# SPDX-License-Identifier: Apache-2.0
"""Client of an emulated robot in a process of its own."""

import json
import os
from pathlib import Path
import subprocess
import time

from puma_bringup import arm_launch


class Cell:
    """Emulated cards and arm, accessed without ROS 2."""

    def __init__(self, kind):
        """Choose a name; `kind` distinguishes the tests."""
        self.name = f'{kind}_{os.getpid()}'

    def look(self, *options):
        """Return the output of `puma cell`."""
        done = subprocess.run(self._command(*options), check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    def witness(self, seconds):
        """Read the state after a delay, even if the robot ends earlier; call the result."""
        process = subprocess.Popen(self._command('--after', str(seconds)), stdout=subprocess.PIPE,
                                   text=True)
        time.sleep(0.3)  # until it has opened the cards

        return lambda: json.loads(process.communicate()[0])

    def forget(self):
        """Remove the shared memory of the heartbeat; the emulator removes that of the cards."""
        Path('/dev/shm', f'puma_heartbeat_{self.name}').unlink(missing_ok=True)

    def _command(self, *options):
        return [arm_launch.program('puma_hardware', 'puma'), 'cell', self.name, *options]

    def inject(self, fault):
        """Inject a fault."""
        self.look('--inject', fault)

    def clear(self):
        """Clear all faults."""
        self.look('--clear')


def pid_of(proc_info, name):
    """Return the process id of the launched process of that name."""
    return next(proc_info[key].pid for key in proc_info.process_names() if name in key)
