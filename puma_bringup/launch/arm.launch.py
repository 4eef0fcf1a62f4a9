# SPDX-License-Identifier: Apache-2.0
"""Control any arm: ros2 launch puma_bringup arm.launch.py description:=… controllers_file:=…"""

from launch import LaunchDescription
from launch.actions import OpaqueFunction
import xacro

from puma_bringup import arm_launch, descriptions, moveit
from puma_bringup.arm_launch import argument, value


def arm(context):
    """Return the processes."""
    text = xacro.process_file(value(context, 'description'),
                              mappings={'simulated_time': value(context, 'use_sim_time')}).toxml()
    if words := value(context, 'hardware_parameters').split():
        text = descriptions.with_parameters(text, words)
    active = value(context, 'active').split()
    folder = value(context, 'moveit')
    return [
        *arm_launch.control_nodes(
            context, arm_launch.robot_description(text),
            [*value(context, 'inactive').split(), *active], active,
            fixed_frame=descriptions.root_link(text), with_rviz=not folder),
        *(moveit.nodes(context, folder, text) if folder else [])]


def generate_launch_description():
    """Declare the arguments and start the arm."""
    return LaunchDescription([
        argument('description', None, 'URDF or xacro file with a <ros2_control> tag'),
        argument('controllers_file', None,
                 'parameters of the controller manager and the controllers'),
        argument('active', 'joint_state_broadcaster tracking tracking_trajectory',
                 'controllers to activate, in one switch'),
        argument('inactive', 'gravity_hold',
                 'controllers to load before them: fallbacks, and others to switch to'),
        argument('namespace', '', 'namespace of all nodes'),
        argument('moveit', '', 'folder with a MoveIt configuration, as `describe` writes it: '
                 'plan and execute motions with MoveIt, too'),
        *moveit.moveit_arguments(),
        *arm_launch.manager_arguments(),
        OpaqueFunction(function=arm),
    ])
