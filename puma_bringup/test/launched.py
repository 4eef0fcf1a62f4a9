# SPDX-License-Identifier: Apache-2.0
"""A launch as its user starts it, for tests that start one more than once or see it fail."""

import os
import re
import signal
import subprocess
import threading
import time


class Launched:
    """`ros2 launch puma_bringup FILE name:=value …`, from the beginning to the end of a block."""

    def __init__(self, file, **arguments):
        """Say what to start."""
        self.command = ['ros2', 'launch', 'puma_bringup', file,
                        *[f'{name}:={value}' for name, value in arguments.items()]]
        self.lines = []

    def __enter__(self):
        """Start it, in a session of its own."""
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.STDOUT, start_new_session=True)
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.process.stdout))
        self.reader.start()
        return self

    def __exit__(self, *_):
        """Interrupt it where it has not ended."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.ended()

    def ended(self, patience=60):
        """Wait for its end; the exit code."""
        try:
            self.process.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            raise
        finally:
            self.reader.join(timeout=10)
            self.process.stdout.close()
        return self.process.returncode

    def pid(self, name):
        """Return the process id of the launched process of that name."""
        found = re.search(rf'\[{name}-\d+\]: process started with pid \[(\d+)\]', self.text())
        assert found, f'{name} was not started'
        return int(found.group(1))

    def text(self):
        """Return what it has printed."""
        return ''.join(self.lines)

    def wait_for(self, text, patience=90):
        """Wait until it prints that."""
        end = time.monotonic() + patience
        while text not in self.text():
            assert time.monotonic() < end, f'{text!r}: not printed within {patience} s'
            assert self.process.poll() is None, f'{text!r}: ended before\n{self.text()}'
            time.sleep(0.1)
