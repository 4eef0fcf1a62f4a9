# SPDX-License-Identifier: Apache-2.0
"""Small robots with known dynamics, and calls of the `ga` command."""

import csv
import pathlib
import random
import subprocess

import pytest

from sim_bench import GA

SANITIZED = b'__asan_init' in pathlib.Path(GA).read_bytes()
G = 9.81

# Pendulum about y: at q = 0 its mass lies on the x axis, and z is up.
MASS, LENGTH, IYY = 2.0, 0.5, 0.03
ARMATURE, VISCOUS, COULOMB = 0.4, 0.7, 0.25

# Planar arm about z: link lengths, centers of mass, masses, inertias.
L1, L2, LC1, LC2, M1, M2, I1, I2 = 0.7, 0.4, 0.3, 0.2, 3.0, 1.5, 0.05, 0.02


def link(name, mass, x, moments):
    ixx, iyy, izz = moments
    return (f'<link name="{name}"><inertial><origin xyz="{x} 0 0"/><mass value="{mass}"/>'
            f'<inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/>'
            '</inertial></link>')


def joint(name, parent, child, kind='continuous', x=0.0, rpy='0 0 0', axis='0 0 1', more=''):
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{x} 0 0" rpy="{rpy}"/><axis xyz="{axis}"/>{more}</joint>')


def robot(path, *parts):
    path.write_text('<robot name="r">' + '\n'.join(parts) + '</robot>')
    return path


def run(*arguments, states=None, **options):
    """Runs ga; states, if given, go in through standard input."""
    command = [GA, *map(str, arguments)]
    if states is not None:
        command += ['--states', '-']
    data = states.encode() if isinstance(states, str) else states
    return subprocess.run(command, input=data, capture_output=True, timeout=60, **options)


def table(done):
    """Header and rows of a run that must have gone well."""
    assert (done.returncode, done.stderr) == (0, b''), done
    header, *rows = csv.reader(done.stdout.decode().splitlines())
    return header, [[float(field) for field in row] for row in rows]


def values(*arguments, states):
    """The rows alone."""
    return table(run(*arguments, states=states))[1]


def fails(*arguments, states=None, words=(), code=2):
    """The run ends with the code and one line that has all the words."""
    done = run(*arguments, states=states)
    message = done.stderr.decode()
    assert done.returncode == code, done
    assert message.startswith('ga: ') and message.count('\n') == 1, message
    for word in words:
        assert word in message, message
    return done


def lines(rows):
    return ''.join(','.join(repr(value) for value in row) + '\n' for row in rows)


def random_rows(count, width, seed=1):
    generator = random.Random(seed)
    return [[generator.uniform(-2, 2) for _ in range(width)] for _ in range(count)]


def close(found, expected, tolerance=1e-12):
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        assert a == pytest.approx(b, rel=tolerance, abs=tolerance)


def hand(path, more=''):
    """Six joints and a parallel gripper."""
    parts = ['<link name="l0"/>']
    for i in range(1, 7):
        parts += [link(f'l{i}', 2, 0.1, (0.05, 0.06, 0.07)),
                  joint(f'j{i}', f'l{i - 1}', f'l{i}', 'revolute', x=0.3, axis='0 1 0',
                        more='<limit lower="-1" upper="1" velocity="1" effort="0"/>')]
    for side in ('left', 'right'):
        parts += [link(side, 0.1, 0, (0.01, 0.01, 0.01)),
                  joint(f'{side}_finger', 'l6', side, 'prismatic', axis='0 1 0',
                        more='<limit lower="0" upper="0.04" velocity="1" effort="9"/>')]
    return robot(path, *parts, more)
