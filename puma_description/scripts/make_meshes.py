#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generate the visual meshes: meshes/*.stl (binary STL, meters, each in its link's frame).

The joints are at the positions of the kinematics. The shapes follow photographs and the proportions
in the catalog; no dimension is a measurement.

usage: make_meshes.py [DIRECTORY]   (default: ../meshes beside this script)
"""

import math
from pathlib import Path
import struct
import sys

# Joint centers (config/puma560.yaml). The frame of link 2 is at y = 0.2435 in link 1, outside the
# upper arm; the forearm is on the inner side of the upper arm, 0.1501 m from the waist axis.
FLOOR_Z = -0.67183
ELBOW_X = 0.4318
JOINT2_Y = 0.2435
WRIST_X = -0.0203

# Extents of the shoulder barrel and the upper arm across the arm, y of link 1.
BARREL_Y = (-0.200, 0.172)
BARREL_RADIUS = 0.105
UPPER_ARM_Y = (0.176, 0.280)

SEGMENTS = 40


# --- curves -----------------------------------------------------------------------------------

def hull(circles, shrink=0.0, segments=SEGMENTS):
    """Return the convex hull of circles (x, y, radius), sampled by the direction of its normal.

    The number of points does not depend on the circles, so hulls can be lofted.
    """
    points = []
    for k in range(segments):
        angle = 2 * math.pi * (k + 0.5) / segments
        nx, ny = math.cos(angle), math.sin(angle)
        x, y, radius = max(circles, key=lambda c: c[0] * nx + c[1] * ny + c[2])
        points.append((x + (radius - shrink) * nx, y + (radius - shrink) * ny))
    return points


def rounded_box(x, y, corner):
    """Return the circles of a rectangle with rounded corners; x and y are (low, high)."""
    return [(cx, cy, corner) for cx in (x[0] + corner, x[1] - corner)
            for cy in (y[0] + corner, y[1] - corner)]


# --- closed surfaces: lists of triangles, counterclockwise seen from outside -------------------

def loft(sections):
    """Connect outlines with equal numbers of points, counterclockwise seen from the last one."""
    triangles = []
    count = len(sections[0])
    for lower, upper in zip(sections, sections[1:]):
        for k in range(count):
            a, b = lower[k], lower[(k + 1) % count]
            c, d = upper[(k + 1) % count], upper[k]
            triangles += [(a, b, c), (a, c, d)]
    for section, outward in ((sections[0], -1), (sections[-1], 1)):
        center = tuple(sum(p[i] for p in section) / count for i in range(3))
        for k in range(count):
            edge = (section[k], section[(k + 1) % count])
            triangles.append((center, *edge[::outward]))
    return triangles


def plate(circles, z, bevel=0.0):
    """Extrude the hull of circles from z[0] to z[1], with beveled edges."""
    levels = [(z[0], bevel), (z[0] + bevel, 0), (z[1] - bevel, 0), (z[1], bevel)]
    if not bevel:
        levels = [(z[0], 0), (z[1], 0)]
    return loft([[(x, y, height) for x, y in hull(circles, shrink)] for height, shrink in levels])


def turned(profile, segments=SEGMENTS):
    """Revolve (radius, z) points, z rising, about z."""
    return loft([[(x, y, z) for x, y in hull([(0, 0, radius)], segments=segments)]
                 for radius, z in profile])


def drum(radius, z, bevel):
    """Return a cylinder with beveled edges."""
    return turned([(radius - bevel, z[0]), (radius, z[0] + bevel),
                   (radius, z[1] - bevel), (radius - bevel, z[1])])


def moved(triangles, function):
    """Map every vertex; the function must preserve the orientation."""
    return [tuple(function(*p) for p in triangle) for triangle in triangles]


def z_to_y(triangles):
    """Rotate the z axis to y."""
    return moved(triangles, lambda x, y, z: (x, z, -y))


def z_to_minus_y(triangles):
    """Rotate the z axis to -y."""
    return moved(triangles, lambda x, y, z: (x, -z, y))


# --- the links ----------------------------------------------------------------------------------

def base():
    """Draw the column from the floor to the waist, its foot and the cable box behind it."""
    column = turned([(0.165, FLOOR_Z), (0.170, FLOOR_Z + 0.005), (0.170, FLOOR_Z + 0.022),
                     (0.165, FLOOR_Z + 0.027), (0.118, FLOOR_Z + 0.036), (0.104, FLOOR_Z + 0.062),
                     (0.098, FLOOR_Z + 0.110), (0.098, -0.262), (0.094, -0.258)])
    box = plate(rounded_box((-0.175, -0.07), (-0.062, 0.062), 0.008),
                (FLOOR_Z + 0.024, FLOOR_Z + 0.165), 0.006)
    return column + box


def link1():
    """Draw the waist and the shoulder barrel."""
    waist = turned([(0.094, -0.254), (0.102, -0.248), (0.102, -0.196), (0.094, -0.188),
                    (0.092, -0.120), (0.098, -0.070), (0.098, 0.0)])
    return waist + z_to_y(drum(BARREL_RADIUS, BARREL_Y, 0.012))


def link2():
    """Draw the upper arm: wide behind the shoulder, where the motors are, narrow at the elbow."""
    z = tuple(y - JOINT2_Y for y in UPPER_ARM_Y)
    tail, nose = -0.200, ELBOW_X
    outline = [(tail, -0.060, 0.045), (tail, 0.060, 0.045), (-0.01, 0, 0.125),
               (nose, 0, 0.082)]
    cover = [(tail + 0.012, -0.056, 0.034), (tail + 0.012, 0.056, 0.034), (-0.01, 0, 0.104),
             (nose, 0, 0.060)]
    return plate(outline, z, 0.010) + plate(cover, (z[1] - 0.002, z[1] + 0.006), 0.003)


def link3():
    """Draw the forearm: a deep box at the elbow that tapers to the round wrist."""
    sections = []
    for y, x, z, corner in (
            (0.118, (-0.052, 0.052), (-0.050, 0.014), 0.016),
            (0.106, (-0.068, 0.068), (-0.064, 0.024), 0.018),
            (0.040, (-0.076, 0.076), (-0.066, 0.026), 0.018),
            (-0.050, (-0.078, 0.074), (-0.066, 0.026), 0.018),
            (-0.090, (-0.076, 0.068), (-0.064, 0.028), 0.020),
            (-0.315, (WRIST_X - 0.046, WRIST_X + 0.046), (-0.045, 0.045), 0.034),
            (-0.338, (WRIST_X - 0.044, WRIST_X + 0.044), (-0.044, 0.044), 0.042),
            (-0.343, (WRIST_X - 0.040, WRIST_X + 0.040), (-0.040, 0.040), 0.038)):
        # Drawn along z and rotated to -y, which maps the second coordinate of the outline to z.
        sections.append([(px, pz, -y) for px, pz in hull(rounded_box(x, z, corner))])
    hub = plate([(0, 0, 0.062)], (-0.074, 0.028), 0.006)
    return z_to_minus_y(loft(sections)) + hub


def link4():
    """Draw the rotating part of the wrist: a short drum and the fork around joint 5."""
    cheek = [(0, 0, 0.034), (-0.030, 0.058, 0.004), (0.030, 0.058, 0.004)]
    fork = [triangle for y in ((-0.040, -0.026), (0.026, 0.040))
            for triangle in z_to_y(plate(cheek, y, 0.003))]
    return turned([(0.040, -0.087), (0.043, -0.084), (0.043, -0.056), (0.040, -0.050)]) + fork


def link5():
    """Draw the knuckle in the fork and the neck to the flange."""
    knuckle = drum(0.031, (-0.0245, 0.0245), 0.004)
    neck = z_to_minus_y(turned([(0.0235, 0.010), (0.0235, 0.037), (0.021, 0.040)]))
    return knuckle + neck


def link6():
    """Draw the flange, with a pin that shows its rotation."""
    flange = turned([(0.020, 0.0405), (0.022, 0.042), (0.022, 0.047), (0.0315, 0.0475),
                     (0.0315, 0.0550), (0.0303, 0.05625)])
    pin = turned([(0.0035, 0.050), (0.0035, 0.0575)], segments=16)
    return flange + moved(pin, lambda x, y, z: (x + 0.022, y, z))


LINKS = {'base': base, 'link1': link1, 'link2': link2, 'link3': link3, 'link4': link4,
         'link5': link5, 'link6': link6}


# --- STL ------------------------------------------------------------------------------------------

def normal(a, b, c):
    """Return the triangle's unit normal."""
    u = [b[i] - a[i] for i in range(3)]
    v = [c[i] - a[i] for i in range(3)]
    n = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
    length = math.sqrt(sum(x * x for x in n))
    return tuple(x / length for x in n)


def stl(name, triangles):
    """Return the bytes of a binary STL file."""
    parts = [f'{name} of the PUMA, drawn by make_meshes.py'.encode().ljust(80, b'\0'),
             struct.pack('<I', len(triangles))]
    for triangle in triangles:
        values = [x for point in (normal(*triangle), *triangle) for x in point]
        parts.append(struct.pack('<12fH', *values, 0))
    return b''.join(parts)


def main():
    """Write all links."""
    directory = Path(__file__).resolve().parent.parent / 'meshes'
    if len(sys.argv) > 1:
        directory = Path(sys.argv[1])
    for name, draw in LINKS.items():
        (directory / f'{name}.stl').write_bytes(stl(name, draw()))


if __name__ == '__main__':
    main()
