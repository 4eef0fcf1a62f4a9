# SPDX-License-Identifier: Apache-2.0
"""puma600.urdf against the tables of the paper on PC-based PUMA control, copied independently."""

import math
import random

import pytest
from urdf_file import (apply, dh_frames, difference, GA, ga_gravity, GRAVITY, JOINTS, LINKS, load,
                       URDF)

ROBOT = load('puma600')
RIGHT = math.pi / 2

# Table 5 with d3 and d4 positive; it prints both negative.
DH = [(0, 0, 0), (-RIGHT, 0, 0), (0, 0.432, 0.15), (RIGHT, -0.02, 0.433), (-RIGHT, 0, 0),
      (RIGHT, 0, 0)]
PRINTED_DH = [(alpha, a, -d) for alpha, a, d in DH]
# Tables 6 and 7.
BODIES = {
    'link1': (10.521, [0, -0.054, 0]),
    'link2': (15.781, [0.1398, 0, 0.1491]),
    'link3': (8.767, [-0.32e-3, -0.197, 0]),
    'link4': (1.052, [0, 0, -0.057]),
    'link5': (1.052, [0, -0.007, 0]),
    'link6': (0.351, [0, 0, 0.0372]),
}
# Our substitutes for the lost tensors: axis, radius, length. Link 2 is a box.
CYLINDERS = {'link1': ('y', 0.105, 0.292), 'link3': ('y', 0.055, 0.460),
             'link4': ('z', 0.043, 0.090), 'link5': ('z', 0.035, 0.070),
             'link6': ('z', 0.0315, 0.038)}


def test_link_frames_are_those_of_table_5_with_positive_d3_and_d4():
    generator = random.Random(3)
    for _ in range(20):
        q = [generator.uniform(-3, 3) for _ in JOINTS]
        frames = ROBOT.frames(dict(zip(JOINTS, q)))
        for name, expected in zip(LINKS, dh_frames(DH, q)):
            assert difference(frames[name], expected) < 1e-12, name


@pytest.mark.parametrize('name', LINKS)
def test_masses_and_centers_are_those_of_tables_6_and_7(name):
    assert ROBOT.inertials[name].mass == BODIES[name][0]
    assert ROBOT.inertials[name].com == BODIES[name][1]


@pytest.mark.parametrize('name', LINKS)
def test_tensors_are_those_of_uniform_bodies_of_the_stated_size(name):
    if name == 'link2':
        x, y, z = 0.650, 0.200, 0.104
        expected = [(y * y + z * z) / 12, (x * x + z * z) / 12, (x * x + y * y) / 12]
    else:
        axis, radius, length = CYLINDERS[name]
        expected = [(3 * radius ** 2 + length ** 2) / 12] * 3
        expected['xyz'.index(axis)] = radius ** 2 / 2
    body = ROBOT.inertials[name]
    assert [moment / body.mass for moment in body.moments] == pytest.approx(expected, rel=1e-12)
    assert body.products == [0, 0, 0]


def centers_off_their_links(dh):
    """Return the links whose center of mass is on the wrong side of their joint, at q = 0."""
    frames = dh_frames(dh, [0] * 6)
    elbow, wrist = frames[2], frames[3]
    wrong = []
    # The upper arm is between shoulder and elbow, the forearm between elbow and wrist, the wrist
    # drum on the forearm side of the wrist.
    if apply(frames[1], BODIES['link2'][1])[1] * elbow[1][3] < 0:
        wrong.append('link2')
    if (apply(frames[2], BODIES['link3'][1])[2] - elbow[2][3]) * (wrist[2][3] - elbow[2][3]) < 0:
        wrong.append('link3')
    if (apply(frames[3], BODIES['link4'][1])[2] - wrist[2][3]) * (elbow[2][3] - wrist[2][3]) < 0:
        wrong.append('link4')
    return wrong


def test_positive_d3_and_d4_put_every_center_on_its_link():
    assert centers_off_their_links(DH) == []


def test_the_printed_signs_do_not():
    assert centers_off_their_links(PRINTED_DH) == ['link2', 'link3', 'link4']


def stretched_load():
    """Return the torque of joint 2 that holds the arm straight out, from the tables above."""
    frames = dh_frames(DH, [0, 0, RIGHT, 0, 0, 0])
    return GRAVITY * sum(mass * apply(frames[int(name[-1]) - 1], com)[0]
                         for name, (mass, com) in BODIES.items() if name != 'link1')


def test_stretched_out_joint_2_carries_96_2_newton_meters():
    assert stretched_load() == pytest.approx(96.2, abs=0.05)


@pytest.mark.skipif(not GA, reason='no ga command: build ga_tools first')
def test_ga_computes_the_same_load():
    torques = ga_gravity(URDF / 'puma600.urdf', [0, 0, RIGHT, 0, 0, 0])
    assert torques[1] == pytest.approx(-stretched_load(), rel=1e-9)


def test_encoders_are_the_papers():
    """200 and 250 lines per revolution, counted in quadrature."""
    counts = [int(ROBOT.drive(joint)['encoder_counts_per_rev']) for joint in JOINTS]
    assert counts == [800, 800, 1000, 1000, 1000, 1000]


def test_what_the_paper_does_not_give_is_the_560s():
    other = load('puma560')
    for joint in JOINTS:
        assert ROBOT.limit(joint) == other.limit(joint)
        ours, theirs = ROBOT.drive(joint), other.drive(joint)
        del ours['encoder_counts_per_rev'], theirs['encoder_counts_per_rev']
        assert ours == theirs
