# SPDX-License-Identifier: Apache-2.0
"""A URDF reader based on the standard library, and the algebra that the tests need."""

import math
import os
from pathlib import Path
import subprocess
import xml.etree.ElementTree as ET

PACKAGE = Path(__file__).resolve().parent.parent
URDF = PACKAGE / 'urdf'
GA = os.environ.get('GA_COMMAND', '')  # the `ga` command; empty if not built
JOINTS = [f'joint{i}' for i in range(1, 7)]
LINKS = [f'link{i}' for i in range(1, 7)]
GRAVITY = 9.81


def numbers(text):
    """Return the numbers in an attribute."""
    return [float(word) for word in text.split()]


def product(a, b):
    """Multiply two matrices (lists of rows)."""
    return [[sum(a[i][k] * b[k][j] for k in range(len(b))) for j in range(len(b[0]))]
            for i in range(len(a))]


def transform(rotation, translation):
    """Return a 4 x 4 transform."""
    return [list(row) + [t] for row, t in zip(rotation, translation)] + [[0, 0, 0, 1]]


def turn(axis, angle):
    """Return the rotation matrix about 'x', 'y' or 'z'."""
    c, s = math.cos(angle), math.sin(angle)
    return {'x': [[1, 0, 0], [0, c, -s], [0, s, c]], 'y': [[c, 0, s], [0, 1, 0], [-s, 0, c]],
            'z': [[c, -s, 0], [s, c, 0], [0, 0, 1]]}[axis]


def origin(element):
    """Return the transform of an element's <origin>."""
    tag = element.find('origin')
    if tag is None:
        return transform(turn('x', 0), [0, 0, 0])
    roll, pitch, yaw = numbers(tag.get('rpy', '0 0 0'))
    rotation = product(product(turn('z', yaw), turn('y', pitch)), turn('x', roll))
    return transform(rotation, numbers(tag.get('xyz', '0 0 0')))


def apply(frame, point):
    """Transform a point from a frame to its parent."""
    return [sum(row[k] * point[k] for k in range(3)) + row[3] for row in frame[:3]]


class Inertial:
    """Mass, center of mass, and inertia tensor about it along the link axes."""

    def __init__(self, element):
        assert numbers(element.find('origin').get('rpy')) == [0, 0, 0]
        self.com = numbers(element.find('origin').get('xyz'))
        self.mass = float(element.find('mass').get('value'))
        self.tensor = {key: float(value) for key, value in element.find('inertia').items()}
        self.moments = [self.tensor[key] for key in ('ixx', 'iyy', 'izz')]
        self.products = [self.tensor[key] for key in ('ixy', 'ixz', 'iyz')]


class Robot:
    """The parts of a URDF, by name."""

    def __init__(self, text):
        self.root = ET.fromstring(text)
        self.name = self.root.get('name')
        self.links = {link.get('name'): link for link in self.root.findall('link')}
        self.joints = {joint.get('name'): joint for joint in self.root.findall('joint')}
        self.inertials = {name: Inertial(link.find('inertial'))
                          for name, link in self.links.items()
                          if link.find('inertial') is not None}
        self.control = self.root.find('ros2_control')

    def limit(self, joint):
        """Return lower, upper, velocity and effort of a joint."""
        tag = self.joints[joint].find('limit')
        return [float(tag.get(key)) for key in ('lower', 'upper', 'velocity', 'effort')]

    def drive(self, joint):
        """Return the parameters of a joint in <ros2_control>, as text."""
        tag = self.control.find(f"joint[@name='{joint}']")
        return {param.get('name'): param.text for param in tag.findall('param')}

    def frames(self, positions):
        """Return the frame of every link in the root link, for joint positions by name."""
        children = {joint.find('child').get('link') for joint in self.joints.values()}
        (root,) = set(self.links) - children
        frames = {root: transform(turn('x', 0), [0, 0, 0])}
        waiting = dict(self.joints)
        while waiting:
            for name, joint in list(waiting.items()):
                parent = joint.find('parent').get('link')
                if parent not in frames:
                    continue
                frame = product(frames[parent], origin(joint))
                if joint.get('type') != 'fixed':
                    assert numbers(joint.find('axis').get('xyz')) == [0, 0, 1]
                    spin = transform(turn('z', positions[name]), [0, 0, 0])
                    frame = product(frame, spin)
                frames[joint.find('child').get('link')] = frame
                del waiting[name]
        return frames


def load(name):
    """Read one of the checked-in descriptions."""
    return Robot((URDF / f'{name}.urdf').read_text())


def dh_frames(rows, positions):
    """Return frames 1, 2, … in frame 0 from modified-DH rows (alpha, a, d)."""
    frame, frames = transform(turn('x', 0), [0, 0, 0]), []
    for (alpha, a, d), q in zip(rows, positions):
        link = product(transform(turn('x', alpha), [a, 0, 0]), transform(turn('z', q), [0, 0, 0]))
        frame = product(product(frame, link), transform(turn('x', 0), [0, 0, d]))
        frames.append(frame)
    return frames


def difference(a, b):
    """Return the largest difference of the elements of two matrices."""
    return max(abs(x - y) for row, other in zip(a, b) for x, y in zip(row, other))


def ga_gravity(urdf, positions):
    """Return the holding torques that the `ga` command computes."""
    states = ','.join(repr(q) for q in positions) + '\n'
    done = subprocess.run([GA, 'gravity', str(urdf), '--quiet', '--states', '-'], input=states,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [float(word) for word in done.stdout.split('\n')[1].split(',')]
