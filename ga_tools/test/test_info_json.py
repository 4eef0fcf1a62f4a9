# SPDX-License-Identifier: Apache-2.0
"""`ga info --json`: the format of doc/info_json.md."""

import json

import pytest

from ga_bench import ARMATURE, COULOMB, G, IYY, LENGTH, MASS, VISCOUS, hand, run
from sim_bench import PUMA_URDF


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
                           'minimal_parameters', 'closed_form_kinematics']
    assert (chain['base'], chain['tip']) == ('base', 'bob')
    assert chain['gravity']['root'] == [0, 0, -G]
    (swing,) = chain['joints']
    assert list(swing) == ['name', 'link', 'type', 'dh', 'limits', 'armature', 'friction',
                           'parameters', 'body']
    assert (swing['name'], swing['link'], swing['type']) == ('swing', 'bob', 'continuous')
    assert swing['limits'] == {'lower': None, 'upper': None, 'velocity': None, 'effort': None,
                               'soft_lower': None, 'soft_upper': None}
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


def test_json_says_whether_there_are_closed_formulas(pendulum):
    assert info(pendulum)['chain']['closed_form_kinematics'] is False
    assert info(PUMA_URDF)['chain']['closed_form_kinematics'] is True


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
