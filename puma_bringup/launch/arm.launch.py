# SPDX-License-Identifier: Apache-2.0
"""Any arm: ros2 launch puma_bringup arm.launch.py description:=FILE controllers_file:=FILE."""

from launch import LaunchDescription
from launch.actions import OpaqueFunction
from launch_ros.parameter_descriptions import ParameterValue
import xacro

from puma_bringup import arm_launch


def arm(context):
    """Return the processes."""
    sim_time = arm_launch.value(context, 'use_sim_time')
    text = xacro.process_file(arm_launch.value(context, 'description'),
                              mappings={'simulated_time': sim_time}).toxml()
    model = {'robot_description': ParameterValue(text, value_type=str)}
    active = arm_launch.value(context, 'active').split()
    names = [*arm_launch.value(context, 'inactive').split(), *active]
    return arm_launch.control_nodes(context, model, names, active)


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
        argument('update_rate', '1000', 'of the control loop, Hz'),
        argument('use_sim_time', 'false', 'take the time from /clock', ['true', 'false']),
        OpaqueFunction(function=arm),
    ])
