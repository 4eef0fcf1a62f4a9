# SPDX-License-Identifier: Apache-2.0
"""Any arm: ros2 launch puma_bringup arm.launch.py description:=FILE controllers_file:=FILE."""

import xml.etree.ElementTree as ElementTree

from launch import LaunchDescription
from launch.actions import OpaqueFunction
from launch_ros.parameter_descriptions import ParameterValue
import xacro

from puma_bringup import arm_launch


def with_parameters(urdf, words):
    """Return the description with these parameters, key=value, given to its hardware."""
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
    """Return the link that no joint moves."""
    root = ElementTree.fromstring(urdf)
    children = {child.get('link') for child in root.findall('joint/child')}
    return next(link.get('name') for link in root.findall('link')
                if link.get('name') not in children)


def arm(context):
    """Return the processes."""
    sim_time = arm_launch.value(context, 'use_sim_time')
    text = xacro.process_file(arm_launch.value(context, 'description'),
                              mappings={'simulated_time': sim_time}).toxml()
    words = arm_launch.value(context, 'hardware_parameters').split()
    if words:
        text = with_parameters(text, words)
    model = {'robot_description': ParameterValue(text, value_type=str)}
    active = arm_launch.value(context, 'active').split()
    names = [*arm_launch.value(context, 'inactive').split(), *active]
    return arm_launch.control_nodes(context, model, names, active, fixed_frame=root_link(text))


def generate_launch_description():
    """Declare the arguments and start the arm."""
    argument = arm_launch.argument
    return LaunchDescription([
        argument('description', None, 'URDF or xacro file with a <ros2_control> tag'),
        argument('controllers_file', None,
                 'parameters of the controller manager and the controllers'),
        argument('active', 'joint_state_broadcaster tracking tracking_trajectory',
                 'controllers to activate, in one switch'),
        argument('inactive', 'gravity_hold',
                 'controllers to load before them: what they fall back to, others to switch to'),
        argument('namespace', '', 'of all nodes'),
        *arm_launch.manager_arguments(),
        OpaqueFunction(function=arm),
    ])
