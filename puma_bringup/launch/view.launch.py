# SPDX-License-Identifier: Apache-2.0
"""The description alone, moved by sliders: ros2 launch puma_bringup view.launch.py robot:=600."""

from launch import LaunchDescription
from launch.actions import OpaqueFunction
from launch_ros.actions import Node

from puma_bringup import arm_launch


def described_arm(context):
    """Return the processes."""
    publisher = 'joint_state_publisher'
    if arm_launch.value(context, 'sliders') == 'true':
        publisher += '_gui'
    nodes = [
        arm_launch.robot_state_publisher(
            context, arm_launch.description(context, ros2_control='false')),
        Node(package=publisher, executable=publisher,
             namespace=arm_launch.value(context, 'namespace'), output='screen'),
    ]
    if arm_launch.value(context, 'rviz') == 'true':
        nodes.append(arm_launch.rviz(context))
    return nodes


def generate_launch_description():
    """Declare the arguments and start the nodes."""
    return LaunchDescription([
        *arm_launch.model_arguments(),
        arm_launch.argument('rviz', 'true', 'start RViz', ['true', 'false']),
        arm_launch.argument('sliders', 'true', 'a window to move the joints with',
                            ['true', 'false']),
        OpaqueFunction(function=described_arm),
    ])
