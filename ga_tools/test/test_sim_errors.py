# SPDX-License-Identifier: Apache-2.0
"""`ga sim` with impossible options: exit code 2, and a message that names the option."""

import pathlib
import re

import pytest

from sim_bench import PUMA_URDF, QUICK, ga, via


@pytest.mark.parametrize('option, value, named', [
    ('--law', 'magic', 'integral, tracking'),
    ('--law', 'pd,pd', 'once'),
    ('--law', 'integral,magic', 'magic'),
    ('--rate', '0', '50 to 20000'),
    ('--rate', '1', '50 to 20000'),
    ('--rate', 'nan', '50 to 20000'),
    ('--rate', 'inf', '50 to 20000'),
    ('--rate', 'fast', 'fast'),
    ('--bandwidth', '-3', '-3'),
    ('--damping', '0', '0.05'),
    ('--kp', '1,2', '6 joints'),
    ('--ki', '-1', '-1'),
    ('--ki', 'nan', 'nan'),
    ('--bandwidth', 'inf', 'inf'),
    ('--payload', '-1', '0 to 100 kg'),
    ('--mismatch', '-5', '-5'),
    ('--noise', 'nan', 'nan'),
    ('--settle', '1001', '1000'),
    ('--freeze', 'joint1=x', 'joint1=x'),
    ('--friction', '1.5', '1.5'),
    ('--payload', 'nan', 'nan'),
    ('--mismatch', '100', '99'),
    ('--stiction', '0.5', '0.5'),
    ('--noise', '1', '0.1'),
    ('--settle', '0', '0.1'),
    ('--seed', '-1', '-1'),
    ('--payload-com', '0,0', 'x,y,z'),
    ('--known-payload', '-1', 'payload.mass is -1 kg'),
    ('--known-payload', '1,0', 'give MASS[,X,Y,Z[,IXX,IXY,IXZ,IYY,IYZ,IZZ]]'),
    ('--known-payload', '1,0,0,nan', 'payload.com: z is nan'),
    ('--known-payload', '1,0,0,0,1,0,0,1,0,3', 'triangle inequality'),
    ('--payload-com', '0,0,nan', 'nan'),
    ('--payload-com', '0,0,5', '-2 to 2 m'),
    ('--payload-com', '0,0,0.1', 'without --payload'),
    ('--com-error', '1', '0 to 0.5 m'),
    ('--friction-error', '-1', '0 to 99 %'),
    ('--armature-error', 'nan', '0 to 99 %'),
    ('--torque-constant-error', '150', '0 to 99 %'),
    ('--delay', '1.5', 'whole cycles'),
    ('--delay', '-1', '0 to 100'),
    ('--lag', '1', '0 to 0.1 s'),
    ('--lag', 'inf', 'inf'),
    ('--torque-limit', '0', '0.01 to 1'),
    ('--torque-limit', '2', '0.01 to 1'),
    ('--elastic-frequency', '1000', '0 to 200 Hz'),
    ('--elastic-ratio', '0', '0.01 to 10'),
    ('--elastic-damping', '-0.1', '0 to 1'),
    ('--trajectory', 'zigzag', 'quintic'),
    ('--trajectory', 'missing.csv', 'missing.csv'),
    ('--output', '/dev/null/x', '/dev/null/x'),
    ('--color', 'red', '--color')])
def test_bad_input_ends_with_2_and_a_message_that_names_the_option(tmp_path, option, value, named):
    result = ga('sim', PUMA_URDF, option, value, cwd=tmp_path)
    assert result.returncode == 2
    assert option in result.stderr and named in result.stderr
    assert list(pathlib.Path(tmp_path).iterdir()) == []  # nothing is left behind


def test_an_output_folder_that_cannot_be_made_is_named_before_the_simulation(tmp_path):
    (tmp_path / 'file').write_text('')
    result = ga('sim', PUMA_URDF, *QUICK, '--output', tmp_path / 'file/out')
    assert result.returncode == 2 and '--output' in result.stderr
    assert result.stdout == ''  # no table: nothing was simulated


def test_refused_options_leave_no_output_folder_and_keep_one_that_was_there(tmp_path):
    (tmp_path / 'there').mkdir()
    for folder in ['there', 'new/deep']:
        result = ga('sim', PUMA_URDF, '--trajectory', 'zigzag', '--output', tmp_path / folder)
        assert result.returncode == 2 and 'zigzag' in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ['there']


@pytest.mark.parametrize('option, value, named', [
    ('--base', 'cellar', 'base_link'), ('--tip', 'finger', 'tool0'),
    ('--freeze', 'joint9', 'joint6')])
def test_a_choice_that_the_description_does_not_have_is_answered_with_what_it_has(
        tmp_path, option, value, named):
    result = ga('sim', PUMA_URDF, option, value, cwd=tmp_path)
    assert result.returncode == 2
    assert f"'{value}'" in result.stderr and named in result.stderr


def test_more_cycles_than_memory_are_refused():
    result = ga('sim', PUMA_URDF, '--settle', 1000, '--rate', 20000)
    assert result.returncode == 2
    assert '--settle' in result.stderr and '--rate' in result.stderr


def test_a_motion_of_more_cycles_than_memory_is_named(tmp_path):
    file = via(tmp_path, '0, 0,-1,1,0,0.4,0', '3000, 1,-1,1,0,0.6,0')
    result = ga('sim', PUMA_URDF, '--trajectory', file, cwd=tmp_path)
    assert result.returncode == 2
    assert f'--trajectory {file}: ' in result.stderr and '--rate' in result.stderr


def test_an_arm_with_a_joint_that_moves_nothing_is_refused_by_name(tmp_path):
    text = PUMA_URDF.read_text()
    zeros = '<inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>'
    text = re.sub('<inertia [^>]*>', zeros, text)
    text = re.sub('("armature">)[^<]*', r'\g<1>0', text)
    urdf = tmp_path / 'points.urdf'
    urdf.write_text(text)
    result = ga('sim', urdf, '--output', tmp_path / 'out')
    assert result.returncode == 2
    assert "joint 'joint6'" in result.stderr and "link 'link6'" in result.stderr
    assert not (tmp_path / 'out').exists()


def test_a_description_that_is_missing_or_not_given_is_named(tmp_path):
    missing = ga('sim', 'missing.urdf', cwd=tmp_path)
    assert missing.returncode == 2 and 'missing.urdf' in missing.stderr
    none = ga('sim', cwd=tmp_path)
    assert none.returncode == 2 and 'robot is required' in none.stderr
    assert list(tmp_path.iterdir()) == []
