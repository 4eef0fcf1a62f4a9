# SPDX-License-Identifier: Apache-2.0
"""Motions of `puma motion` as trajectories."""

import bisect
import csv
import subprocess

from builtin_interfaces.msg import Duration
from puma_bringup.arm_launch import program
from trajectory_msgs.msg import JointTrajectoryPoint


def point(t, q, qd=None, qdd=None):
    """Return a trajectory point; by default at rest."""
    seconds = int(t)
    return JointTrajectoryPoint(
        positions=list(q), velocities=list(qd or [0.0] * len(q)),
        accelerations=list(qdd or [0.0] * len(q)),
        time_from_start=Duration(sec=seconds, nanosec=round((t - seconds) * 1e9)))


class Motion:
    """A motion of `puma motion`, sampled at 1000 Hz."""

    def __init__(self, name='line'):
        """Compute it; `name` as for `puma motion --trajectory`. Raises ValueError if it refuses."""
        done = subprocess.run(
            [program('puma_hardware', 'puma'), 'motion', '--trajectory', name, '--rate', '1000'],
            capture_output=True, text=True)
        if done.returncode != 0:
            raise ValueError(done.stderr.strip())
        header, *rows = list(csv.reader(done.stdout.splitlines()))
        n = (len(header) - 1) // 3
        self.joints = header[1:n + 1]
        values = [list(map(float, row)) for row in rows]
        self.time = [row[0] for row in values]
        self.q = [row[1:n + 1] for row in values]
        self.qd = [row[n + 1:2 * n + 1] for row in values]
        self.qdd = [row[2 * n + 1:] for row in values]

    def points(self, every=20):
        """Return way-points, one every so many milliseconds."""
        chosen = sorted({*range(0, len(self.time), every), len(self.time) - 1})
        return [point(self.time[k], self.q[k], self.qd[k], self.qdd[k]) for k in chosen]

    def at(self, t):
        """Return the positions at a time, linearly interpolated."""
        t = min(max(t, 0.0), self.time[-1])
        k = min(max(bisect.bisect_right(self.time, t), 1), len(self.time) - 1)
        share = (t - self.time[k - 1]) / (self.time[k] - self.time[k - 1])
        return [a + share * (b - a) for a, b in zip(self.q[k - 1], self.q[k])]
