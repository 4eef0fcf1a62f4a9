# SPDX-License-Identifier: Apache-2.0
"""Every link has physical moments of inertia; scripts/nearest_inertia.py finds the nearest ones."""

import random
import sys

import pytest
from urdf_file import LINKS, load, PACKAGE

sys.path.insert(0, str(PACKAGE / 'scripts'))
from nearest_inertia import excess, MARGIN, nearest  # noqa: E402

PUBLISHED_LINK3 = [0.066, 0.0125, 0.086]


def squared_distance(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b))


@pytest.mark.parametrize('robot', ['puma560', 'puma600'])
@pytest.mark.parametrize('link', LINKS)
def test_moments_are_positive_and_satisfy_the_triangle_inequality(robot, link):
    """The products of inertia are zero, so the moments are the principal ones."""
    body = load(robot).inertials[link]
    assert body.mass > 0
    assert body.products == [0, 0, 0]
    assert min(body.moments) > 0
    assert min(excess(body.moments)) > 0


def test_the_published_moments_of_link_3_do_not():
    assert min(excess(PUBLISHED_LINK3)) == pytest.approx(-0.0075)


def test_link_3_of_the_560_is_what_the_script_finds():
    assert load('puma560').inertials['link3'].moments == pytest.approx(nearest(PUBLISHED_LINK3))


def test_physical_moments_stay_as_they_are():
    assert nearest([0.13, 0.524, 0.539]) == (0.13, 0.524, 0.539)


@pytest.mark.parametrize('moments', [PUBLISHED_LINK3, [0.1, 0.1, 0.9], [1, 0.001, -0.5],
                                     [-1, 0.5, 0.2], [-1, -2, -0.5], [0.2, 0.9, 0.1]])
def test_no_physical_moments_are_nearer(moments):
    """Compared with random bodies, which are physical by construction."""
    found = nearest(moments)
    assert min(excess(found)) > 0
    assert min(excess(found)) == pytest.approx(MARGIN)
    generator = random.Random(4)
    for scale in (1e-3, 1e-1, 1):
        for _ in range(3000):
            # xx, yy, zz are the second moments of mass, near the result and far from it.
            xx, yy, zz = (max(MARGIN / 2, e / 2 + generator.gauss(0, scale))
                          for e in excess(found))
            other = (yy + zz, xx + zz, xx + yy)
            assert squared_distance(other, moments) >= squared_distance(found, moments) - 1e-12
