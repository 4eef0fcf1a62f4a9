# SPDX-License-Identifier: Apache-2.0
"""Changes of a description as text."""

from xml.etree import ElementTree

from puma_bringup import descriptions
import pytest

ONE = ('<robot name="arm"><link name="hand"/><link name="floor"/><joint name="j" type="fixed">'
       '<parent link="floor"/><child link="hand"/></joint><ros2_control name="arm" type="system">'
       '<hardware><plugin>p</plugin><param name="payload">1</param></hardware></ros2_control>'
       '</robot>')
TWO = ONE.replace('</robot>', '<ros2_control><hardware/></ros2_control></robot>')


def test_parameters_are_added_and_replaced():
    text = descriptions.with_parameters(ONE, ['payload=2', 'start=a:1,b=2'])
    hardware = ElementTree.fromstring(text).find('ros2_control/hardware')
    assert [(p.get('name'), p.text) for p in hardware.findall('param')] == [
        ('payload', '2'), ('start', 'a:1,b=2')]
    assert hardware.findtext('plugin') == 'p'


@pytest.mark.parametrize('urdf, word, told', [
    (ONE, 'gravity', "'gravity' is not of the form key=value"), (ONE, '=1', "'=1' is not"),
    (TWO, 'a=1', 'has 2 <ros2_control> tags'), ('<robot/>', 'a=1', 'has 0 <ros2_control> tags')])
def test_invalid_parameters_are_refused(urdf, word, told):
    with pytest.raises(ValueError, match=told):
        descriptions.with_parameters(urdf, [word])


def test_the_root_is_the_link_without_a_parent():
    assert descriptions.root_link(ONE) == 'floor'
