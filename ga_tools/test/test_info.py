# SPDX-License-Identifier: Apache-2.0
"""`ga info` as text, of complete, incomplete and hostile descriptions."""

import pytest

from ga_bench import (ARMATURE, COULOMB, SANITIZED, VISCOUS, fails, hand, joint, link, robot, run,
                      values)
from sim_bench import ROBOTS


def test_info_of_the_puma_560():
    text = run('info', ROBOTS / 'puma560_akb.urdf').stdout.decode()
    assert 'Minimal parameters: 36 ' in text
    listed = run('info', ROBOTS / 'puma560_akb.urdf', '--minimal').stdout.decode()
    assert '  36  ' in listed and '  37  ' not in listed


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
