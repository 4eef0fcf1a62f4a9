# SPDX-License-Identifier: Apache-2.0
"""Show the description, with sliders: ros2 launch puma_bringup view.launch.py robot:=600."""

from launch import LaunchDescription
from launch.actions import OpaqueFunction
from launch_ros.actions import Node

from puma_bringup import arm_launch
from puma_bringup.arm_launch import argument, is_true, value


def described_arm(context):
    """Return the processes."""
    publisher = 'joint_state_publisher' + ('_gui' if is_true(context, 'sliders') else '')
    return [
        arm_launch.robot_state_publisher(
            context, arm_launch.description(context, ros2_control='false')),
        Node(package=publisher, executable=publisher, namespace=value(context, 'namespace'),
             output='screen'),
        *([arm_launch.rviz(context)] if is_true(context, 'rviz') else []),
    ]


def generate_launch_description():
    """Declare the arguments and start the nodes."""
    return LaunchDescription([
        *arm_launch.model_arguments(),
        argument('rviz', 'true', 'start RViz', ['true', 'false']),
        argument('sliders', 'true', 'open a window with a slider per joint', ['true', 'false']),
        OpaqueFunction(function=described_arm),
    ])
