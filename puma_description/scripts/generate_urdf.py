#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generate urdf/puma560.urdf and urdf/puma600.urdf from their xacro files.

Needs the `xacro` command: source the setup file of ROS 2 first.
"""

from pathlib import Path
import subprocess

URDF = Path(__file__).resolve().parent.parent / 'urdf'
ROBOTS = ('puma560', 'puma600')


def xacro(robot, *arguments):
    """Return the URDF text of a robot for these xacro arguments (name:=value)."""
    command = ['xacro', f'{robot}.urdf.xacro', *arguments]  # no folder: xacro quotes the name
    done = subprocess.run(command, cwd=URDF, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f'{" ".join(command)}:\n{done.stderr}')
    return done.stdout


def main():
    """Write both files."""
    for robot in ROBOTS:
        (URDF / f'{robot}.urdf').write_text(xacro(robot))


if __name__ == '__main__':
    main()
