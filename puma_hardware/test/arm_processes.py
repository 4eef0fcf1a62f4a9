# SPDX-License-Identifier: Apache-2.0
"""Commands that touch the arm, as processes beside each other, for their tests."""

import contextlib
import os
from pathlib import Path
import subprocess

PUMA = os.environ['PUMA_COMMAND']


def puma(*arguments, code=0, **others):
    """Run a command to its end."""
    done = subprocess.run([PUMA, *arguments], capture_output=True, text=True, timeout=300, **others)
    assert done.returncode == code, done.stdout + done.stderr
    return done


@contextlib.contextmanager
def running(*arguments, says):
    """Run a command beside the test from the line on that says so."""
    with subprocess.Popen([PUMA, *arguments], stdout=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline()
        assert says in line, line
        try:
            yield process
        finally:
            process.terminate()


@contextlib.contextmanager
def emulated_robot(kind, *options):
    """Be a robot; its name."""
    name = f'{kind}_{os.getpid()}'
    with running('emulate', name, *options, says='emulating'):
        yield name
    Path('/dev/shm', f'puma_heartbeat_{name}').unlink(missing_ok=True)
