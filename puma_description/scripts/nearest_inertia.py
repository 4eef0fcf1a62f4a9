#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Find the physical principal moments of inertia that are nearest to the given ones.

The moments of a rigid body satisfy the triangle inequality A + B >= C in every order; moments that
were measured one by one may not. The distance is the Frobenius norm of the tensor, which for fixed
axes is the Euclidean distance of the moments. The margin keeps A + B - C positive after rounding,
so that simulators accept the body.

usage: nearest_inertia.py A B C [MARGIN]   (kg m^2; margin 3e-6)
"""

from itertools import combinations
import sys

MARGIN = 3e-6


def excess(moments):
    """Return for each moment the sum of the other two minus that moment."""
    total = sum(moments)
    return [total - 2 * moment for moment in moments]


def nearest(moments, margin=MARGIN):
    """Return the nearest moments with all excesses at least the margin."""
    lacking = [margin - e for e in excess(moments)]
    if max(lacking) <= 0:
        return tuple(moments)
    best = None
    for count in (1, 2, 3):
        for active in combinations(range(3), count):
            candidate = on_faces(moments, lacking, active)
            if min(excess(candidate)) < margin - 1e-12 * max(map(abs, moments)):
                continue
            distance = sum((c - m) ** 2 for c, m in zip(candidate, moments))
            if best is None or distance < best[0]:
                best = (distance, candidate)
    return best[1]


def on_faces(moments, lacking, active):
    """Project onto the planes on which these excesses equal the margin.

    The normals of the planes are (1, 1, 1) - 2 e_k: scalar products 3 with themselves, -1 with each
    other.
    """
    if len(active) == 1:
        pull = {active[0]: lacking[active[0]] / 3}
    elif len(active) == 2:
        i, j = active
        pull = {i: (3 * lacking[i] + lacking[j]) / 8, j: (3 * lacking[j] + lacking[i]) / 8}
    else:
        pull = {k: (lacking[k] + sum(lacking)) / 4 for k in active}
    total = sum(pull.values())
    return tuple(m + total - 2 * pull.get(k, 0) for k, m in enumerate(moments))


def main():
    """Print the nearest moments."""
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    moments = [float(word) for word in sys.argv[1:4]]
    margin = float(sys.argv[4]) if len(sys.argv) == 5 else MARGIN
    print(*(f'{moment:.9g}' for moment in nearest(moments, margin)))


if __name__ == '__main__':
    main()
