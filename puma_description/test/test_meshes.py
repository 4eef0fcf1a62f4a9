# SPDX-License-Identifier: Apache-2.0
"""The meshes are valid STL files, used by the descriptions and covered by collision shapes."""

from collections import Counter
import math
import struct
import subprocess
import sys

import pytest
from urdf_file import apply, load, numbers, origin, PACKAGE

MESHES = sorted((PACKAGE / 'meshes').glob('*.stl'))
URI = 'package://puma_description/'
STEMS = [path.stem for path in MESHES]


def triangles(path):
    """Return (normal, corner, corner, corner) of every facet."""
    data = path.read_bytes()
    (count,) = struct.unpack_from('<I', data, 80)
    assert len(data) == 84 + 50 * count
    facets = []
    for k in range(count):
        values = struct.unpack_from('<12f', data, 84 + 50 * k)
        facets.append([values[i:i + 3] for i in range(0, 12, 3)])
    return facets


def inverse_apply(frame, point):
    """Transform a point from the parent of the frame to the frame."""
    moved = [p - row[3] for p, row in zip(point, frame)]
    return [sum(frame[k][i] * moved[k] for k in range(3)) for i in range(3)]


def distance_outside(frame, shape, point):
    """Return the distance of a point outside of a box or cylinder."""
    x, y, z = inverse_apply(frame, point)
    if shape.tag == 'box':
        beyond = [max(0, abs(p) - s / 2)
                  for p, s in zip((x, y, z), numbers(shape.get('size')))]
    else:
        beyond = [max(0, math.hypot(x, y) - float(shape.get('radius'))),
                  max(0, abs(z) - float(shape.get('length')) / 2)]
    return math.hypot(*beyond)


@pytest.mark.parametrize('robot', ['puma560', 'puma600'])
def test_every_mesh_is_there_and_used(robot):
    used = [mesh.get('filename') for mesh in load(robot).root.iter('mesh')]
    assert sorted(used) == [f'{URI}meshes/{path.name}' for path in MESHES]


def test_they_are_small():
    assert sum(path.stat().st_size for path in MESHES) < 300_000


@pytest.mark.parametrize('path', MESHES, ids=STEMS)
def test_numbers_are_finite_and_normals_are_unit_vectors_that_fit(path):
    for normal, a, b, c in triangles(path):
        assert all(math.isfinite(x) and abs(x) < 1 for p in (a, b, c) for x in p)
        u, v = ([q - p for p, q in zip(a, other)] for other in (b, c))
        cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
        length = math.hypot(*cross)
        assert length > 0
        assert [x / length for x in cross] == pytest.approx(normal, abs=1e-3)


@pytest.mark.parametrize('path', MESHES, ids=STEMS)
def test_surfaces_are_closed_and_face_outwards(path):
    """Every edge occurs once in each direction, and the enclosed volume is positive."""
    edges, volume = Counter(), 0
    for _, a, b, c in triangles(path):
        edges.update([(a, b), (b, c), (c, a)])
        volume += sum(a[i] * (b[i - 2] * c[i - 1] - b[i - 1] * c[i - 2]) for i in range(3)) / 6
    assert all(edges[b, a] == count for (a, b), count in edges.items())
    assert volume > 0


@pytest.mark.parametrize('robot', ['puma560', 'puma600'])
def test_collision_shapes_cover_the_meshes(robot):
    """To 2 mm, at points along every edge."""
    for name, link in load(robot).links.items():
        shapes = [(origin(tag), tag.find('geometry')[0]) for tag in link.findall('collision')]
        for visual in link.findall('visual'):
            mesh = visual.find('geometry/mesh')
            if mesh is None:
                continue
            frame = origin(visual)
            edges = set()
            for _, a, b, c in triangles(PACKAGE / mesh.get('filename').removeprefix(URI)):
                edges.update(tuple(sorted(edge)) for edge in ((a, b), (b, c), (c, a)))
            for p, q in edges:
                for share in (0, 0.25, 0.5, 0.75, 1) if math.dist(p, q) > 0.02 else (0, 1):
                    mixed = [(1 - share) * x + share * y for x, y in zip(p, q)]
                    point = apply(frame, mixed)
                    outside = min(distance_outside(*shape, point) for shape in shapes)
                    assert outside < 0.002, (name, mixed)


def test_they_are_what_the_script_draws(tmp_path):
    subprocess.run([sys.executable, PACKAGE / 'scripts/make_meshes.py', tmp_path], check=True)
    for path in MESHES:
        ours, drawn = triangles(path), triangles(tmp_path / path.name)
        assert len(ours) == len(drawn)
        for facet, other in zip(ours, drawn):
            for p, q in zip(facet, other):  # the sine of another CPU may differ in the last bit
                assert p == pytest.approx(q, abs=1e-6)
