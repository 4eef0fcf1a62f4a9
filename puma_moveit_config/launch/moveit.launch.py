# SPDX-License-Identifier: Apache-2.0
"""Plan and execute motions of the PUMA: ros2 launch puma_moveit_config moveit.launch.py rviz:=true.

hardware:=sim simulates the arm, emulated emulates its I/O cards as well, real drives it. Arguments
of puma_bringup's sim.launch.py and real.launch.py are passed on.
"""

from launch import LaunchDescription
from launch.actions import GroupAction, IncludeLaunchDescription, OpaqueFunction
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import EqualsSubstitution, LaunchConfiguration
from launch_ros.actions import Node
import xacro

from puma_bringup import arm_launch, moveit
from puma_bringup.arm_launch import argument, share, value


def arm(hardware, launch_file, **arguments):
    """Return a launch file of puma_bringup, for this hardware only; without its RViz."""
    included = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(share('puma_bringup', 'launch', launch_file)),
        launch_arguments={'rviz': 'false', **arguments}.items())
    chosen = EqualsSubstitution(LaunchConfiguration('hardware'), hardware)
    return GroupAction([included], condition=IfCondition(chosen))


def move_group(context):
    """Return move_group, the gripper's action and RViz."""
    file = value(context, 'description') or arm_launch.puma_xacro(context)
    return [
        *moveit.nodes(context, share('puma_moveit_config', 'config'),
                      xacro.process_file(file).toxml()),
        Node(package='puma_bringup', executable='tool_gripper',
             namespace=value(context, 'namespace'), output='screen')]


def generate_launch_description():
    """Declare the arguments and start arm and MoveIt."""
    return LaunchDescription([
        argument('hardware', 'sim', 'simulated arm, emulated I/O cards, or the real arm',
                 ['sim', 'emulated', 'real']),
        argument('controllers_file', ' '.join([
            share('puma_bringup', 'config', 'controllers.yaml'),
            share('puma_moveit_config', 'config', 'ros2_controllers.yaml')]),
            'parameters of the controller manager and the controllers; of several files the later '
            'ones override the earlier ones'),
        *arm_launch.control_arguments(),
        argument('description', '', 'URDF or xacro file of your arm, as for real.launch.py; '
                 'default: puma_description'),
        *moveit.moveit_arguments(),
        arm('sim', 'sim.launch.py'),
        arm('emulated', 'real.launch.py', io='emulated', calibrate='true'),
        arm('real', 'real.launch.py', io='ports'),
        OpaqueFunction(function=move_group),
    ])
