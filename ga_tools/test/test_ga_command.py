# SPDX-License-Identifier: Apache-2.0
"""The `ga` command as its user meets it: arguments, CSV in, CSV and messages out."""

import csv
import json
import math
import os
import pathlib
import pty
import random
import select
import subprocess
import threading
import time

import pytest

GA = os.environ['GA_COMMAND']
ROBOTS = pathlib.Path(os.environ['GA_ROBOTS'])
SANITIZED = b'__asan_init' in pathlib.Path(GA).read_bytes()
COMMANDS = ['info', 'id', 'fd', 'inertia', 'bias', 'gravity', 'fk']
METHODS = ['tensor', 'vector', 'dalembert', 'mlc']
G = 9.81

# Pendulum about y: at q = 0 its mass lies on the x axis, and z is up.
MASS, LENGTH, IYY = 2.0, 0.5, 0.03
ARMATURE, VISCOUS, COULOMB = 0.4, 0.7, 0.25

# Planar arm about z: link lengths, centres of mass, masses, inertias.
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


@pytest.fixture
def pendulum(tmp_path):
    drive = (f'<ros2_control name="c" type="system"><joint name="swing">'
             f'<param name="armature">{ARMATURE}</param></joint></ros2_control>')
    return robot(tmp_path / 'pendulum.urdf', '<link name="base"/>',
                 link('bob', MASS, LENGTH, (0.02, IYY, 0.03)),
                 joint('swing', 'base', 'bob', axis='0 1 0',
                       more=f'<dynamics damping="{VISCOUS}" friction="{COULOMB}"/>'), drive)


@pytest.fixture
def planar(tmp_path):
    return robot(tmp_path / 'planar.urdf', '<link name="base"/>',
                 link('upper', M1, LC1, (I1, I1, I1)), link('fore', M2, LC2, (I2, I2, I2)),
                 '<link name="tool"/>', joint('shoulder', 'base', 'upper'),
                 joint('elbow', 'upper', 'fore', x=L1),
                 joint('flange', 'fore', 'tool', kind='fixed', x=L2))


@pytest.fixture
def six(tmp_path):
    parts = ['<link name="l0"/>']
    for i in range(1, 7):
        limit = '<limit lower="-1" upper="1" velocity="1" effort="9"/>' if i == 3 else ''
        parts.append(link(f'l{i}', 7 - i, 0.1 * i, (0.05, 0.06, 0.07)))
        parts.append(joint(f'j{i}', f'l{i - 1}', f'l{i}', 'prismatic' if i == 3 else 'continuous',
                           x=0.3, rpy=f'{0.5 * i} {0.2 * i} 0.1', more=limit))
    return robot(tmp_path / 'six.urdf', *parts)


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


# --- values -------------------------------------------------------------------------------------


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


# --- the robot's options ------------------------------------------------------------------------


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


# --- the states ---------------------------------------------------------------------------------


def test_header_gives_the_columns_in_any_order(planar):
    rows = random_rows(5, 4)
    expected = values('bias', planar, states=lines(rows))
    mixed = '"qd2",note, q2 ,t,qd1,q1\n' + ''.join(
        f'{qd2!r},"a, b",{q2!r},10:15,{qd1!r},{q1!r}\n' for q1, q2, qd1, qd2 in rows)
    assert values('bias', planar, '--quiet', states=mixed) == expected
    named = 'elbow,velocity_shoulder,shoulder,velocity_elbow\n' + lines(
        [q2, qd1, q1, qd2] for q1, q2, qd1, qd2 in rows)
    assert values('bias', planar, states=named) == expected


def test_columns_that_are_not_read_are_noted(planar):
    done = run('gravity', planar, states='t,q1,shoulder_note,q2\n0,0,x,0\n')
    assert done.returncode == 0 and done.stdout.count(b'\n') == 2
    assert done.stderr.decode() == ('ga: note: standard input: line 1: columns t, shoulder_note '
                                    'are ignored; read are q1,q2\n')
    assert run('gravity', planar, '--quiet', states='t,q1,q2\n0,0,0\n').stderr == b''


@pytest.mark.parametrize('text', [
    '0.1,0.2\n0.3,0.4\n',
    '0.1,0.2\n0.3,0.4',
    '0.1,0.2\r\n0.3,0.4\r\n',
    '\ufeff0.1,0.2\n0.3,0.4\n',
    '\ufeffq1,q2\r\n0.1,0.2\r\n0.3,0.4',
    '\n  \n0.1,0.2\n\r\n\t\n0.3,0.4\n\n',
    ' +0.1 ,\t2e-1\n3E-1 , +.4\n',
    '"0.1","0.2"\n"0.3",0.4\n',
])
def test_forms_of_the_same_table(planar, tmp_path, text):
    expected = values('gravity', planar, '--gravity', 0, -G, 0, states='0.1,0.2\n0.3,0.4\n')
    assert len(expected) == 2
    path = tmp_path / 'states.csv'
    path.write_bytes(text.encode())
    arguments = ['gravity', planar, '--gravity', 0, -G, 0]
    assert values(*arguments, states=text) == expected
    assert table(run(*arguments, '--states', path))[1] == expected


@pytest.mark.parametrize('text', ['', 'q1,q2\n', '\n\n'])
def test_no_states_give_a_header_alone(planar, text):
    assert table(run('gravity', planar, states=text)) == (['tau1', 'tau2'], [])


BAD_STATES = [
    ('0,0\n0,abc\n', ['standard input: line 2, column 2 (q2)', "'abc' is not a number"]),
    ('q2,q1\n\n0,0\n0,x\n', ['line 4, column 2 (q1)', "'x'"]),
    ('0,nan\n', ['line 1, column 2', 'not finite']),
    ('0,0\n-inf,0\n', ['line 2, column 1', 'not finite']),
    ('0,0\n1e999,0\n', ['line 2, column 1', "'1e999' is not finite"]),
    ('0,0\n0,\n', ['line 2, column 2', 'empty']),
    ('0,0\n0\n', ['line 2', '1 field, expected 2', 'q1,q2']),
    ('0,0,0\n', ['line 1', '3 fields, expected 2', 'q1,q2']),
    ('q1,q2,\n0,0\n', ['line 2', '2 fields', 'header has 3']),
    ('t,q1\n0,0\n', ['line 1', 'lacks q2', 'columns are: t, q1']),
    ('q1,q2,q1\n0,0,0\n', ['line 1', 'q1 twice']),
    ('0;1\n0;1\n', ['line 1']),
    ('0,1\n0 1\n', ['line 2, column 1', 'commas']),
    ('0,0\n0,+-1\n', ['line 2, column 2']),
    ('0,0\n0,0x10\n', ['line 2, column 2', "'0x10'"]),
    ('0,0\n"0,0\n', ['line 2, column 1', 'quote']),
    ('0,0\n0,1\x00\x1b[2J\n', ['line 2, column 2', "'1??[2J'"]),
    ('0,0\n' + '0' * 1_100_000 + ',0\n', ['line 2', 'longer than 1048576 bytes']),
]


@pytest.mark.parametrize('text, words', BAD_STATES, ids=range(len(BAD_STATES)))
def test_bad_states_name_their_line(planar, text, words):
    fails('gravity', planar, states=text, words=words)


def test_results_before_a_bad_line_are_written(pendulum):
    done = fails('gravity', pendulum, states='0\n0\nx\n', words=['line 3'])
    assert done.stdout.count(b'\n') == 3


def test_results_are_finite(pendulum):
    fails('id', pendulum, '--payload', 10, 1, 0, 0, states='0,0,1.7e308\n',
          words=['line 1', 'tau1', 'not finite'])


def test_tiny_numbers_are_zero(pendulum):
    assert values('gravity', pendulum, states='1e-999\n') == values(
        'gravity', pendulum, states='0\n')


def test_unreadable_states(pendulum, tmp_path):
    missing = tmp_path / 'none.csv'
    fails('id', pendulum, '--states', missing, words=[str(missing), 'No such file'])
    fails('id', pendulum, '--states', tmp_path, words=[str(tmp_path), 'directory'])
    fails('id', tmp_path / 'none.urdf', states='0,0,0\n', words=['none.urdf', 'No such file'])


# --- the stream ---------------------------------------------------------------------------------


def test_a_million_rows_in_constant_memory(six):
    count = 20_000 if SANITIZED else 1_000_000
    block = lines([round(value, 6) for value in row] for row in random_rows(1000, 18)).encode()
    process = subprocess.Popen([GA, 'id', six, '--states', '-'], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    found = []

    def count_lines():
        found.append(sum(part.count(b'\n') for part in iter(lambda: process.stdout.read1(), b'')))

    reader = threading.Thread(target=count_lines)
    reader.start()
    for _ in range(count // 1000):
        process.stdin.write(block)
    process.stdin.close()
    reader.join()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    assert process.returncode == 0 and found == [count + 1]
    if not SANITIZED:  # sanitizers keep freed memory
        assert usage.ru_maxrss < 100_000  # kB


def test_a_state_is_answered_before_the_next(pendulum):
    with subprocess.Popen([GA, 'gravity', pendulum, '--states', '-'], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, bufsize=0) as process:
        for expected in [2, 1]:  # lines: header and result, result
            process.stdin.write(b'0\n')
            got = b''
            while got.count(b'\n') < expected:
                assert select.select([process.stdout], [], [], 30)[0], 'no answer'
                got += process.stdout.read(4096)
        process.stdin.close()
        assert process.wait() == 0


def test_a_reader_that_leaves_is_no_error(pendulum, tmp_path):
    states = tmp_path / 'states.csv'
    states.write_text('0,0,0\n' * 200_000)
    done = subprocess.run(['bash', '-c', 'set -o pipefail; "$0" id "$1" --states "$2" | head -1',
                           GA, pendulum, states], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b'tau1\n', b'')


@pytest.mark.parametrize('arguments', [['id', '--states', '/dev/null'], ['info'], ['--help']])
def test_a_full_disk_is_an_error(pendulum, arguments):
    command = [GA, *arguments] + ([] if arguments == ['--help'] else [str(pendulum)])
    with open('/dev/full', 'wb') as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 1 and done.stderr.startswith(b'ga: ')
    assert b'No space left' in done.stderr


def test_progress_on_a_terminal_at_most_twice_a_second(pendulum):
    ours, theirs = pty.openpty()
    start = time.monotonic()
    with subprocess.Popen([GA, 'id', pendulum, '--states', '-'], stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, stderr=theirs, bufsize=0) as process:
        while time.monotonic() - start < 1.3:
            process.stdin.write(b'0,0,0\n')
            time.sleep(0.01)
        process.stdin.close()
        assert process.wait() == 0
    elapsed = time.monotonic() - start
    os.close(theirs)
    shown = ''
    while select.select([ours], [], [], 1)[0]:
        try:
            shown += os.read(ours, 4096).decode()
        except OSError:  # the other end is closed
            break
    os.close(ours)
    assert 1 <= shown.count('rows/s') <= 2 * elapsed
    assert shown.endswith('\r\x1b[K')


# --- help, usage, info --------------------------------------------------------------------------


def test_help_has_examples():
    assert b'Example' in run('--help').stdout
    for command in COMMANDS:
        done = run(command, '--help')
        assert done.returncode == 0 and done.stderr == b''
        assert b'Example' in done.stdout and b'ga ' + command.encode() in done.stdout
        assert b'--freeze' in done.stdout and b'--gravity' in done.stdout


def test_version():
    done = run('--version')
    assert done.returncode == 0 and done.stdout.startswith(b'ga ')


def test_bad_usage(pendulum):
    fails(words=['no command', 'info, id, fd'])
    fails('fly', pendulum, words=["'fly'", 'info, id, fd'])
    fails('--fast', words=['--fast'])
    fails('id', words=['robot', 'required'])
    fails('id', pendulum, words=['--states', 'required'])
    fails('id', pendulum, '--fast', states='', words=['--fast'])
    fails('id', pendulum, '--method', 'magic', states='', words=['magic', 'dalembert'])
    fails('fk', pendulum, '--method', 'tensor', states='', words=['--method'])


def test_info_of_the_puma_560():
    text = run('info', ROBOTS / 'puma560_akb.urdf').stdout.decode()
    assert 'Minimal parameters: 36 ' in text
    listed = run('info', ROBOTS / 'puma560_akb.urdf', '--minimal').stdout.decode()
    assert '  36  ' in listed and '  37  ' not in listed


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


def test_info_ends_the_chain_before_the_gripper(tmp_path):
    done = run('info', hand(tmp_path / 'hand.urdf'))
    text = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b'')
    for words in ['Tip link    l6',
                  'Chosen as   the only branch besides the gripper, with 6 actuated joints',
                  'l6  (j6, revolute, joint 6 of the chain)  <- tip',
                  'left  (left_finger, prismatic, gripper)',
                  "joints 'left_finger' (line", 'fixed at 0', '--freeze left_finger=POSITION',
                  "effort of joints 'j1' (line", 'no torque at all']:
        assert words in text, words
    assert not {'inf', '-inf', 'nan', '-nan'} & set(text.split())
    assert 'Missing' not in text
    states = '0,0,0,0,0,0\n'
    assert len(values('gravity', tmp_path / 'hand.urdf', '--quiet', states=states)[0]) == 6


def test_info_lists_two_arms_with_the_options(tmp_path):
    parts = ['<link name="base"/>', link('torso', 9, 0, (1, 1, 1)),
             joint('waist', 'base', 'torso')]
    for side in ('left', 'right'):
        parts += [link(f'{side} {i}', 2, 0.1, (0.05, 0.06, 0.07)) for i in (1, 2)]
        parts += [joint(f'{side}_1', 'torso', f'{side} 1'),
                  joint(f'{side}_2', f'{side} 1', f'{side} 2')]
    urdf = robot(tmp_path / 'two.urdf', *parts)
    done = run('info', urdf)
    text = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b'')
    assert 'Chosen as   the first of 2 branches with 3 actuated joints each' in text
    assert "--tip 'left 2' --freeze all or --tip 'right 2' --freeze all" in text
    assert 'Branches to choose from' in text and 'undecided' in text
    fails('gravity', urdf, states='0,0,0\n',
          words=["--tip 'left 2' --freeze all or --tip 'right 2' --freeze all"])
    done = run('info', urdf, '--tip', 'right 2', '--freeze', 'all')
    assert b'Missing' not in done.stdout and b'the tip that was asked for' in done.stdout


def test_info_without_inertia_shows_the_kinematics(tmp_path):
    urdf = robot(tmp_path / 'r.urdf', '<link name="a"/>', '<link name="b"/>', '<link name="c"/>',
                 joint('j', 'a', 'b'), joint('k', 'b', 'c', x=0.4))
    done = run('info', urdf)
    text = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b'')
    assert 'torques need masses' in text and '--allow-missing-inertia' in text
    assert 'Modified Denavit-Hartenberg' in text and '0.4' in text
    assert 'Bodies' not in text and 'Minimal parameters' not in text
    done = run('info', urdf, '--allow-missing-inertia')
    assert b'Missing' not in done.stdout and b'torques need masses' in done.stdout


@pytest.mark.parametrize('more, words', [
    ('<xacro:sensor/>', 'xacro that was not expanded'),
    ('<link name="odd"><inertial><mass value="-1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
     'ixz="0" iyz="0"/></inertial></link>' + joint('m', 'l2', 'odd', 'fixed'), "link 'odd'"),
    ('<link name="odd"/>' + joint('m', 'l0', 'odd', axis='0 0 0'), "joint 'm'"),
    ('<link name="odd"/>' + joint('m', 'l0', 'odd', 'floating'), None),
])
def test_info_answers_where_torques_are_refused(tmp_path, more, words):
    urdf = hand(tmp_path / 'r.urdf', more)
    done = run('info', urdf)
    assert (done.returncode, done.stderr) == (0, b'')
    assert 'Tip link    l6' in done.stdout.decode()
    states = '0,0,0,0,0,0\n'
    if words is None:
        assert len(values('gravity', urdf, '--quiet', states=states)) == 1
        return
    assert 'Missing' in done.stdout.decode() and words in done.stdout.decode()
    fails('gravity', urdf, states=states, words=[words])
    fails('info', urdf, '--strict', words=[words])


def test_info_of_a_description_without_moving_joints(tmp_path):
    done = run('info', robot(tmp_path / 'cup.urdf', '<link name="cup"/>', '<link name="lip"/>',
                             joint('m', 'cup', 'lip', 'fixed')))
    text = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b'')
    assert 'lip  (m, fixed)' in text and "no moving joint behind link 'cup'" in text


# --- info for programs --------------------------------------------------------------------------


def info(urdf, *arguments):
    done = run('info', urdf, '--json', *arguments)
    assert (done.returncode, done.stderr) == (0, b''), done
    return json.loads(done.stdout, parse_constant=pytest.fail)  # no NaN, no Infinity


def test_json_is_complete(pendulum, tmp_path):
    data = info(pendulum)
    assert list(data) == ['format', 'version', 'file', 'robot', 'ready', 'chain', 'branches',
                          'missing', 'not_given', 'warnings', 'tree']
    assert (data['format'], data['version'], data['ready']) == ('ga_info', 1, True)
    assert (data['file'], data['robot'], data['missing']) == (str(pendulum), 'r', [])
    chain = data['chain']
    assert list(chain) == ['base', 'tip', 'reason', 'gravity', 'frame0', 'joints', 'links',
                           'minimal_parameters']
    assert (chain['base'], chain['tip']) == ('base', 'bob')
    assert chain['gravity']['root'] == [0, 0, -G]
    (swing,) = chain['joints']
    assert list(swing) == ['name', 'link', 'type', 'dh', 'limits', 'armature', 'friction',
                           'parameters', 'body']
    assert (swing['name'], swing['link'], swing['type']) == ('swing', 'bob', 'continuous')
    assert swing['limits'] == {'lower': None, 'upper': None, 'velocity': None, 'effort': None}
    assert swing['armature'] == ARMATURE
    assert swing['friction'] == {'viscous': VISCOUS, 'coulomb_positive': COULOMB,
                                 'coulomb_negative': COULOMB}
    assert swing['parameters'] == {'armature': str(ARMATURE)}
    assert swing['body']['mass'] == MASS
    assert sorted(swing['body']['inertia'].values())[-1] == pytest.approx(0.03)
    assert data['branches'] == [{'tip': 'bob', 'joints': 1, 'options': '--tip bob'}]
    tree = data['tree']
    assert tree['root'] == 'base' and [part['name'] for part in tree['links']] == ['base', 'bob']
    assert tree['links'][0] == {'name': 'base', 'line': 1, 'parent_joint': None,
                                'child_joints': ['swing'], 'inertial': None}
    assert tree['links'][1]['inertial'] == {
        'mass': MASS, 'com': [LENGTH, 0, 0],
        'inertia': {'ixx': 0.02, 'iyy': IYY, 'izz': 0.03, 'ixy': 0, 'ixz': 0, 'iyz': 0}}
    assert list(tree['joints'][0]) == ['name', 'line', 'type', 'parent', 'child', 'origin', 'axis',
                                       'limits', 'armature', 'friction', 'mimic', 'parameters',
                                       'role']
    assert tree['joints'][0]['role'] == 'chain' and tree['joints'][0]['axis'] == [0, 1, 0]


def test_json_has_null_for_what_is_not_given(planar):
    data = info(planar)
    for given in data['chain']['joints']:
        assert given['armature'] is None and given['friction'] is None
    assert any('friction' in what for what in data['not_given'])
    assert [link['body'] for link in data['chain']['links']] == [0, 1, 2, 2]


def test_json_tells_roles_and_what_is_missing(tmp_path):
    data = info(hand(tmp_path / 'hand.urdf', '<xacro:sensor/>'))
    roles = {part['name']: part['role'] for part in data['tree']['joints']}
    assert roles['j6'] == 'chain' and roles['left_finger'] == 'gripper'
    assert data['ready'] is False
    assert [missing['kind'] for missing in data['missing']] == ['description']
    frozen = info(tmp_path / 'hand.urdf', '--freeze', 'all', '--tip', 'l3')
    roles = {part['name']: part['role'] for part in frozen['tree']['joints']}
    assert roles['j3'] == 'chain' and roles['j4'] == roles['left_finger'] == 'frozen'
    undecided = info(tmp_path / 'hand.urdf', '--tip', 'l3')
    assert {part['role'] for part in undecided['tree']['joints']} >= {'undecided'}
    assert {missing['kind'] for missing in undecided['missing']} == {'description', 'choice'}


def test_json_of_names_that_are_not_utf8(tmp_path):
    path = tmp_path / 'r.urdf'
    path.write_bytes(b'<robot name="r\xff"><link name="a\xfe"/></robot>')
    assert info(path)['chain'] is None


# --- hostile files ------------------------------------------------------------------------------

def deep(count):
    return b'<robot name="r">' + b'<a>' * count + b'</a>' * count + b'</robot>'


def bush(links, parent_of):
    return ('<robot name="r"><link name="l0"/>' + ''.join(
        link(f'l{i}', 1, 0.1, (1, 1, 1)) + joint(f'j{i}', f'l{parent_of(i)}', f'l{i}')
        for i in range(1, links)) + '</robot>').encode()


HOSTILE = [
    (b'', ['is empty']),
    (b' \n\t ', ['is empty']),
    (b'\x00\x01\x02\xff', ['NUL byte']),
    (b'\x7fELF' + bytes(1000), ['NUL byte']),
    ('<robot name="r"/>'.encode('utf-16'), ['NUL byte', 'UTF-8']),
    (b'hello', ['line 1']),
    (b'<robot', ['line 1']),
    (b'<sdf version="1.9"><model name="m"/></sdf>', ['<sdf>', '<robot>']),
    (b'<robot name="r"/>', ['no <link>']),
    (deep(100_000), ['nested deeper']),
    (b'<robot name="r">' + b' ' * (17 << 20) + b'</robot>', ['longer than 16 MiB']),
    (b'<robot name="r"><link name="a"/><link name="b"/>'
     b'<joint name="x" type="fixed"><parent link="a"/><child link="b"/></joint>'
     b'<joint name="y" type="fixed"><parent link="b"/><child link="a"/></joint></robot>',
     ['cycle']),
    (b'<robot name="r"><link name="a"/><link name="b"/></robot>', ['2 root links']),
    (b'<robot name="r"><link name="a"><inertial><mass value="nan"/><inertia ixx="1" ixy="0" ixz="0"'
     b' iyy="1" iyz="0" izz="1"/></inertial></link></robot>', ["'nan'", 'finite']),
    (b'<robot name="r"><link name="a"><inertial><mass value="1e999"/><inertia ixx="1" ixy="0" '
     b'ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link></robot>', ["'1e999'"]),
    (b'<robot name="r"><link name="a"/><link name="b"/><joint name="x" type="continuous">'
     b'<parent link="a"/><child link="b"/><origin xyz="0 inf 0"/></joint></robot>',
     ["'inf'", 'finite']),
]


@pytest.mark.parametrize('content, words', HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_files_are_refused_with_a_reason(tmp_path, content, words):
    path = tmp_path / 'hostile.urdf'
    path.write_bytes(content)
    fails('info', path, words=[str(path), *words])


def test_a_folder_a_missing_file_and_an_endless_one_are_refused(tmp_path):
    fails('info', tmp_path, words=[str(tmp_path), 'is a directory'])
    fails('info', tmp_path / 'none.urdf', words=['none.urdf', 'No such file'])
    fails('info', '/dev/zero', words=['/dev/zero', '16 MiB'])


@pytest.mark.parametrize('parent_of', [lambda i: i - 1, lambda i: 0, lambda i: (i - 1) // 2],
                         ids=['chain', 'star', 'tree'])
def test_ten_thousand_links_are_answered(tmp_path, parent_of):
    path = tmp_path / 'big.urdf'
    path.write_bytes(bush(1000 if SANITIZED else 10_000, parent_of))
    done = run('info', path)
    assert (done.returncode, done.stderr) == (0, b'')
    assert len(done.stdout) < 5_000_000
    assert run('info', path, '--json').returncode == 0


def test_names_do_not_reach_the_terminal_as_commands(tmp_path):
    path = tmp_path / 'r.urdf'
    path.write_bytes(b'<robot name="r"><link name="a&#27;[2J"/></robot>')
    assert b'\x1b' not in run('info', path).stdout


def test_info_of_a_planar_arm(planar):
    done = run('info', planar)
    text = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b'')
    for words in ['Base link   base', 'Tip link    tool', 'Joints      2', 'Total mass  4.5 kg',
                  'Chosen as   the only branch, with 2 actuated joints',
                  'fore  (elbow, continuous, joint 2 of the chain)',
                  'Gravity     0 0 -9.81', 'Tx(a) Rx(alpha) Ry(beta) Rz(theta) Tz(d)',
                  'Frame 0 in the base link', 'r, the first revolute joint: 1 (shoulder)',
                  's, the first revolute joint not parallel to r: none', 'inertia matrix']:
        assert words in text, words
    rows = [line.split() for line in text.splitlines()]
    assert ['2', 'elbow', 'fore', 'continuous', '-', '-', '-', '-'] in rows
    assert ['2', 'elbow', '0', '0', '0.7', '0', '0', '+', 'q', '0', '+', 'q'] in rows
    assert ['2', 'fore', '1.5', '0.2', '0', '0', '0.02', '0.02', '0.02', '0', '0', '0'] in rows
    assert 'coulomb +' not in text and 'beta [' not in text and 'Warnings' not in text


def test_info_shows_drives_and_nearly_parallel_axes(pendulum, tmp_path):
    rows = [line.split() for line in run('info', pendulum).stdout.decode().splitlines()]
    assert ['1', 'swing', 'bob', 'continuous', '-', '-', '-', '-', str(ARMATURE), str(VISCOUS),
            str(COULOMB), str(COULOMB)] in rows
    urdf = robot(tmp_path / 'r.urdf', '<link name="a"/>', link('b', 1, 0.1, (1, 1, 1)),
                 link('c', 1, 0.1, (1, 1, 1)), joint('j1', 'a', 'b'),
                 joint('j2', 'b', 'c', x=1, rpy='0 1e-7 0'))
    text = run('info', urdf).stdout.decode()
    assert 'beta [rad]' in text and '1e-07' in text and 'Hayati' in text
    assert 'beta [' not in run('info', urdf, '--snap', '1e-6').stdout.decode()
