# SPDX-License-Identifier: Apache-2.0
"""The xacro files: the checked-in URDF files are up to date, and the arguments work.

These tests need the `xacro` command of ROS 2.
"""

import shutil
import sys
import xml.etree.ElementTree as ET

import pytest
from urdf_file import dh_frames, difference, GA, ga_gravity, JOINTS, LINKS, PACKAGE, Robot, URDF

sys.path.insert(0, str(PACKAGE / 'scripts'))
from generate_urdf import ROBOTS, xacro  # noqa: E402

from test_puma600 import PRINTED_DH  # noqa: E402

pytestmark = pytest.mark.skipif(not shutil.which('xacro'),
                                reason='no xacro command: install ROS 2')


def canonical(text):
    """Remove comments and white space, which depend on the version of xacro."""
    return ET.canonicalize(text, strip_text=True)


@pytest.mark.parametrize('robot', ROBOTS)
def test_the_checked_in_urdf_is_what_xacro_makes(robot):
    """If not, run scripts/generate_urdf.py."""
    assert canonical((URDF / f'{robot}.urdf').read_text()) == canonical(xacro(robot))


@pytest.mark.parametrize('robot', ROBOTS)
def test_prefix_goes_before_every_name(robot):
    plain, prefixed = Robot(xacro(robot)), Robot(xacro(robot, 'prefix:=left_'))
    assert list(prefixed.links) == [f'left_{name}' for name in plain.links]
    assert list(prefixed.joints) == [f'left_{name}' for name in plain.joints]
    assert prefixed.control.get('name') == f'left_{robot}'
    for joint in JOINTS:
        assert prefixed.drive(f'left_{joint}') == plain.drive(joint)


@pytest.mark.parametrize('robot', ROBOTS)
def test_world_lies_on_the_floor(robot):
    frames = Robot(xacro(robot, 'world:=true')).frames(dict.fromkeys(JOINTS, 0))
    assert frames['floor'][2][3] == pytest.approx(0, abs=1e-15)
    assert frames['base_link'][2][3] == pytest.approx(26.45 * 0.0254)
    assert 'world' in frames


@pytest.mark.parametrize('robot', ROBOTS)
def test_ros2_control_can_be_left_out(robot):
    assert Robot(xacro(robot, 'ros2_control:=false')).control is None


@pytest.mark.parametrize('robot', ROBOTS)
def test_hardware_plugin_and_its_parameters_can_be_given(robot):
    control = Robot(xacro(robot, 'hardware_plugin:=puma_hardware/PumaSystem',
                          'hardware_parameters:=port=0x300 dry_run=true rate=1e3')).control
    assert control.findtext('hardware/plugin') == 'puma_hardware/PumaSystem'
    given = {param.get('name'): param.text for param in control.findall('hardware/param')}
    assert given == {'port': '0x300', 'dry_run': 'true', 'rate': '1e3'}


def test_malformed_hardware_parameters_are_named():
    with pytest.raises(RuntimeError, match='expected key=value, found verbose'):
        xacro('puma560', 'hardware_parameters:=verbose')


def test_published_moments_of_link_3_can_be_had():
    robot = Robot(xacro('puma560', 'link3_inertia:=published'))
    assert robot.inertials['link3'].moments == [0.066, 0.0125, 0.086]


def test_unknown_kind_of_inertia_is_named():
    with pytest.raises(RuntimeError, match='physical or published, not measured'):
        xacro('puma560', 'link3_inertia:=measured')


def test_the_printed_signs_of_the_puma_600_can_be_had():
    robot = Robot(xacro('puma600', 'd3:=-0.15', 'd4:=-0.433'))
    q = [0.3, -0.5, 0.7, 1.1, -0.4, 0.2]
    frames = robot.frames(dict(zip(JOINTS, q)))
    for name, expected in zip(LINKS, dh_frames(PRINTED_DH, q)):
        assert difference(frames[name], expected) < 1e-12, name


@pytest.mark.skipif(not GA, reason='no ga command: build ga_tools first')
@pytest.mark.parametrize('robot', ROBOTS)
def test_neither_prefix_nor_world_changes_the_dynamics(robot, tmp_path):
    q = [0.3, -0.5, 0.7, 1.1, -0.4, 0.2]
    other = tmp_path / 'other.urdf'
    other.write_text(xacro(robot, 'prefix:=left_', 'world:=true'))
    assert ga_gravity(other, q) == pytest.approx(ga_gravity(URDF / f'{robot}.urdf', q), rel=1e-12)
