# SPDX-License-Identifier: Apache-2.0
"""Robot descriptions of any arm, as text."""

from xml.etree import ElementTree


def with_parameters(urdf, words):
    """Return the description with these parameters, key=value, of its hardware."""
    root = ElementTree.fromstring(urdf)
    hardware = root.findall('ros2_control/hardware')
    for word in words:
        key, equals, value = word.partition('=')
        if not key or not equals:
            raise ValueError(f"hardware_parameters: '{word}' is not of the form key=value")
        if len(hardware) != 1:
            raise ValueError(f'hardware_parameters: the description has {len(hardware)} '
                             '<ros2_control> tags with <hardware>, not one')
        for param in hardware[0].findall('param'):
            if param.get('name') == key:
                hardware[0].remove(param)
        ElementTree.SubElement(hardware[0], 'param', name=key).text = value
    return ElementTree.tostring(root, encoding='unicode')


def root_link(urdf):
    """Return the name of the link that is no joint's child."""
    root = ElementTree.fromstring(urdf)
    children = {child.get('link') for child in root.findall('joint/child')}
    return next(link.get('name') for link in root.findall('link')
                if link.get('name') not in children)
