# SPDX-License-Identifier: Apache-2.0
"""Recordings of controller_state messages, and the report made from them."""

import json
import os
import subprocess
import tempfile

from puma_bringup.arm_launch import program

STILL = 1e-4  # rad/s: a slower reference counts as at rest


def stamp(message):
    """Return the time of a message, s."""
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


class Recording:
    """One run: reference, position and torque of every joint over time."""

    def __init__(self, name, label=None):
        """Begin with no samples."""
        self.name, self.label = name, label or name.replace('_', ' ').capitalize()
        self.joints = None
        self.time, self.q, self.q_ref, self.tau, self.speed = [], [], [], [], []

    def add(self, message):
        """Add a controller_state: of a law, or of a trajectory controller that commands effort.

        Messages that are out of order or incomplete are ignored.
        """
        if hasattr(message, 'interface_values'):
            values = [dict(zip(v.interface_names, v.values)) for v in message.interface_values]
            keys = ('position', 'reference.position', 'torque.total', 'reference.velocity')
            parts = [[v[key] for v in values if key in v] for key in keys]
        else:
            parts = [list(part) for part in (
                message.feedback.positions, message.reference.positions, message.output.effort,
                message.reference.velocities)]
        time, joints = stamp(message), len(message.joint_names)
        if joints == 0 or any(len(part) != joints for part in parts):
            return
        if self.time and time <= self.time[-1] or any(x != x for part in parts for x in part):
            return
        self.joints = list(message.joint_names)
        self.time.append(time)
        for kept, part in zip((self.q, self.q_ref, self.tau, self.speed), parts):
            kept.append(part)

    def motion(self):
        """Return the first and the last index at which the reference moves, or None."""
        moving = [k for k, row in enumerate(self.speed) if max(map(abs, row)) > STILL]
        return (moving[0], moving[-1]) if moving else None

    def as_run(self):
        """Return the run in the format of `puma report`, from the start of the motion."""
        found = self.motion()
        if found is None:
            raise ValueError(f'{self.name}: the reference never moves')
        first, last = found
        start = self.time[first]
        columns = [list(map(list, zip(*part[first:]))) for part in (self.q, self.q_ref, self.tau)]
        return {'id': self.name, 'label': self.label, 'joints': self.joints,
                'duration': max(self.time[last] - start, 1e-6),
                'time': [t - start for t in self.time[first:]],
                'q': columns[0], 'q_ref': columns[1], 'tau': columns[2]}


def write_report(recordings, output, title, subtitle='', urdf=None, data=None):
    """Write the HTML report with `puma report`, which also prints a table; its data to `data`."""
    runs = [recording.as_run() for recording in recordings]
    with tempfile.TemporaryDirectory() as folder:
        file = data or os.path.join(folder, 'recordings.json')
        with open(file, 'w') as out:
            json.dump({'title': title, 'subtitle': subtitle, 'recordings': runs}, out)
        command = [program('puma_hardware', 'puma'), 'report', file, '--output', output]
        if urdf:
            command += ['--urdf', urdf]
        subprocess.run(command, check=True)
    print(f'report: {os.path.abspath(output)}')
