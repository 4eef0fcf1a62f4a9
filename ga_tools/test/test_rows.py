# SPDX-License-Identifier: Apache-2.0
"""Values of `ga id`, `fd`, `inertia`, `bias`, `gravity` and `fk`, and the robot's options."""

import math

import pytest

from ga_bench import (ARMATURE, COULOMB, G, I1, I2, IYY, L1, L2, LC1, LC2, LENGTH, M1, M2, MASS,
                      VISCOUS, close, fails, joint, lines, link, random_rows, robot, run, table,
                      values)

METHODS = ['tensor', 'vector', 'dalembert', 'mlc']


def test_inverse_dynamics_of_a_pendulum(pendulum):
    rows = random_rows(20, 3)
    header, results = table(run('id', pendulum, states=lines(rows)))
    assert header == ['tau1']
    inertia = IYY + MASS * LENGTH**2
    close(results, [[inertia * qdd - MASS * G * LENGTH * math.cos(q)] for q, _, qdd in rows])


def test_drives_add_armature_and_friction(pendulum):
    rows = random_rows(20, 3)
    rigid = values('id', pendulum, states=lines(rows))
    driven = values('id', pendulum, '--drives', states=lines(rows))
    close(driven, [[tau + ARMATURE * qdd + VISCOUS * qd + math.copysign(COULOMB, qd)]
                   for (_, qd, qdd), (tau,) in zip(rows, rigid)])
    inertia = IYY + MASS * LENGTH**2
    close(values('inertia', pendulum, states='0\n'), [[inertia]])
    close(values('inertia', pendulum, '--drives', states='0\n'), [[inertia + ARMATURE]])


def test_gravity_of_a_pendulum(pendulum):
    rows = [[0.0], [0.3], [math.pi / 2], [-2.0]]
    header, results = table(run('gravity', pendulum, states=lines(rows)))
    assert header == ['tau1']
    close(results, [[-MASS * G * LENGTH * math.cos(q)] for q, in rows])
    turned = values('gravity', pendulum, '--gravity', '-.5', 0, '+3', states=lines(rows))
    close(turned, [[MASS * LENGTH * (3 * math.cos(q) - .5 * math.sin(q))] for q, in rows])


def test_payload_is_a_point_mass_at_the_tip(pendulum):
    found = values('id', pendulum, '--payload', 1.5, 0.8, 0, 0, states='0.3,0,1\n')
    inertia = IYY + MASS * LENGTH**2 + 1.5 * 0.8**2
    close(found, [[inertia - (MASS * LENGTH + 1.5 * 0.8) * G * math.cos(0.3)]])


def planar_terms(q1, q2, qd1, qd2):
    """Spong and Vidyasagar, Robot Dynamics and Control, 1989, §6.4: D row by row, and C + G."""
    c2, s2 = math.cos(q2), math.sin(q2)
    d12 = M2 * (LC2**2 + L1 * LC2 * c2) + I2
    d11 = M1 * LC1**2 + M2 * (L1**2 + LC2**2 + 2 * L1 * LC2 * c2) + I1 + I2
    h = -M2 * L1 * LC2 * s2
    g2 = M2 * LC2 * G * math.cos(q1 + q2)
    g1 = (M1 * LC1 + M2 * L1) * G * math.cos(q1) + g2
    return [d11, d12, d12, M2 * LC2**2 + I2], [h * qd2 * (2 * qd1 + qd2) + g1, -h * qd1**2 + g2]


def test_inertia_and_bias_of_a_planar_arm(planar):
    rows = random_rows(20, 4)
    terms = [planar_terms(*row) for row in rows]
    header, inertias = table(run('inertia', planar, states=lines(row[:2] for row in rows)))
    assert header == ['d11', 'd12', 'd21', 'd22']
    close(inertias, [d for d, _ in terms])
    header, biases = table(run('bias', planar, '--gravity', 0, -G, 0, states=lines(rows)))
    assert header == ['tau1', 'tau2']
    close(biases, [h for _, h in terms])


def test_link_poses_of_a_planar_arm(planar):
    rows = random_rows(20, 2) + [[math.pi, 0.0], [3.0, 3.0]]
    header, results = table(run('fk', planar, states=lines(rows)))
    parts = ['.x', '.y', '.z', '.qx', '.qy', '.qz', '.qw']
    assert header == [name + part for name in ['base', 'upper', 'fore', 'tool'] for part in parts]

    def pose(x, y, angle):
        sign = -1 if math.cos(angle / 2) < 0 else 1
        return [x, y, 0, 0, 0, sign * math.sin(angle / 2), sign * math.cos(angle / 2)]

    for (q1, q2), found in zip(rows, results):
        elbow = L1 * math.cos(q1), L1 * math.sin(q1)
        tool = elbow[0] + L2 * math.cos(q1 + q2), elbow[1] + L2 * math.sin(q1 + q2)
        close([found], [pose(0, 0, 0) + pose(0, 0, q1) + pose(*elbow, q1 + q2) +
                        pose(*tool, q1 + q2)])


HALF_TURNS = [(math.pi, 0, 0), (0, math.pi, 0), (0, 0, math.pi), (math.pi, math.pi / 2, 0)]


@pytest.mark.parametrize('rpy', HALF_TURNS + [tuple(row) for row in random_rows(20, 3, seed=4)])
def test_quaternions_of_any_rotation(tmp_path, rpy):
    roll, pitch, yaw = rpy
    urdf = robot(tmp_path / 'r.urdf', '<link name="a"/>', '<link name="b"/>',
                 joint('j', 'a', 'b', rpy=f'{roll!r} {pitch!r} {yaw!r}'))
    x, y, z, w = values('fk', urdf, states='0\n')[0][-4:]
    assert w >= 0 and x * x + y * y + z * z + w * w == pytest.approx(1, abs=1e-15)
    cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    close([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
            2 * (x * y + w * z), 2 * (x * z - w * y), 2 * (y * z + w * x),
            1 - 2 * (x * x + y * y)]],
          [[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr,
            sy * cp, -sp, cp * sr, cp * cr]], 1e-14)


@pytest.mark.parametrize('command, width', [('id', 18), ('fd', 18), ('inertia', 6), ('bias', 12),
                                            ('gravity', 6)])
def test_methods_agree(six, command, width):
    states = lines(random_rows(50, width))
    first, *others = [values(command, six, '--method', name, states=states) for name in METHODS]
    for other in others:
        close(other, first, 1e-10)


@pytest.mark.parametrize('more', [[], ['--drives']])
def test_forward_dynamics_undoes_inverse_dynamics(six, more):
    rows = random_rows(50, 18)
    torques = values('id', six, *more, states=lines(rows))
    header, found = table(run('fd', six, *more, states=lines(
        row[:12] + tau for row, tau in zip(rows, torques))))
    assert header == [f'qdd{i}' for i in range(1, 7)]
    close(found, [row[12:] for row in rows], 1e-9)


def test_inertia_columns_of_ten_joints_are_separated(tmp_path):
    parts = ['<link name="l0"/>']
    for i in range(1, 11):
        parts += [link(f'l{i}', 1, 0.1, (1, 1, 1)), joint(f'j{i}', f'l{i - 1}', f'l{i}', x=0.1)]
    header, rows = table(run('inertia', robot(tmp_path / 'ten.urdf', *parts),
                             states=','.join(['0'] * 10) + '\n'))
    assert header == [f'd{i}_{j}' for i in range(1, 11) for j in range(1, 11)]
    assert rows[0][9] == pytest.approx(1 + 0.1 * 1.0, rel=1e-12)  # Izz + m · 0.1 m · 1 m


def test_frozen_joints_are_rigid(planar):
    q1, q2 = 0.4, 1.1
    expected = [[planar_terms(q1, q2, 0, 0)[0][0]]]
    close(values('inertia', planar, '--freeze', f'elbow={q2}', states=f'{q1}\n'), expected)
    expected = [[planar_terms(q1, 0, 0, 0)[0][0]]]
    close(values('inertia', planar, '--freeze', 'elbow', states=f'{q1}\n'), expected)
    close(values('inertia', planar, '--tip', 'upper', '--freeze', 'all', states=f'{q1}\n'),
          expected)
    expected = [[planar_terms(0, 0, 0, 0)[0][3]]]
    close(values('inertia', planar, '--base', 'upper', '--freeze', 'shoulder', states='0\n'),
          expected)


def test_bad_robot_options(planar):
    fails('gravity', planar, '--tip', 'upper', states='0\n', words=["'elbow'", '--freeze all'])
    fails('info', planar, '--tip', 'hand', words=["'hand'", 'base, upper, fore, tool'])
    fails('info', planar, '--freeze', 'wrist', words=["'wrist'"])
    fails('info', planar, '--freeze', 'elbow=up', words=['--freeze elbow=up', "'up'"])
    fails('info', planar, '--freeze', 'elbow', '--freeze', 'elbow=1', words=['twice'])
    fails('info', planar, '--gravity', 0, 0, 'nan', words=['gravity', 'finite'])
    fails('info', planar, '--gravity', 0, 0, words=['--gravity'])
    fails('info', planar, '--payload', -1, 0, 0, 0, words=['payload', 'negative (-1)', 'kilograms'])
    fails('info', planar, '--snap', 1, words=['snap'])


def test_missing_inertia_is_an_error_unless_allowed(tmp_path):
    urdf = robot(tmp_path / 'r.urdf', '<link name="a"/>', '<link name="b"/>', joint('j', 'a', 'b'))
    fails('gravity', urdf, states='0\n', words=["'b'", '<inertial>'])
    assert values('gravity', urdf, '--allow-missing-inertia', states='0\n') == [[0]]
    assert len(values('fk', urdf, states='0\n')) == 1  # poses need no inertia
    # Without inertia no torque gives a finite acceleration.
    fails('fd', urdf, '--allow-missing-inertia', states='0,0,1\n', words=['line 1', 'qdd1'])


def test_warnings_go_to_standard_error(tmp_path):
    # No body has one moment above the sum of the others: accepted with a warning.
    urdf = robot(tmp_path / 'r.urdf', '<link name="a"/>', link('b', 1, 0.1, (1, 1, 5)),
                 joint('j', 'a', 'b'))
    done = run('gravity', urdf, states='0\n')
    assert done.returncode == 0 and done.stdout == b'tau1\n0\n'
    assert done.stderr.startswith(b"ga: warning: ") and b"'b'" in done.stderr
    assert run('gravity', urdf, '--quiet', states='0\n').stderr == b''
    fails('gravity', urdf, '--strict', states='0\n', words=["'b'"])
    done = run('info', urdf)
    assert done.stderr == b'' and b"Warnings\n  link 'b'" in done.stdout
