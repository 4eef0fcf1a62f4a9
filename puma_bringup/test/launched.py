# SPDX-License-Identifier: Apache-2.0
"""A `ros2 launch` process, for tests that start several or expect a failure."""

import os
import re
import signal
import subprocess
import threading
import time


class Launched:
    """Context manager that runs `ros2 launch puma_bringup FILE name:=value …`."""

    def __init__(self, file, **arguments):
        """Set the command."""
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
        """Interrupt it if it is still running."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.ended()

    def ended(self, patience=60):
        """Wait for its end; return the exit code."""
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
        """Return its output so far."""
        return ''.join(self.lines)

    def wait_for(self, text, patience=90):
        """Wait for this text in its output."""
        end = time.monotonic() + patience
        while text not in self.text():
            assert time.monotonic() < end, f'{text!r}: not printed within {patience} s'
            assert self.process.poll() is None, f'{text!r}: ended before\n{self.text()}'
            time.sleep(0.1)
