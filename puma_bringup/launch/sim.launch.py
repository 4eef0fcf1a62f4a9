# SPDX-License-Identifier: Apache-2.0
"""The simulated arm: ros2 launch puma_bringup sim.launch.py controller:=tracking rviz:=true."""

from launch import LaunchDescription
from launch.actions import OpaqueFunction

from puma_bringup import arm_launch


def simulated_arm(context):
    """Return the processes."""
    payload = arm_launch.value(context, 'payload')
    sim_time = arm_launch.value(context, 'use_sim_time')
    return arm_launch.controlled_arm(
        context, 'puma_hardware/PumaSimSystem',
        [f'payload_mass={payload}', f'simulated_time={sim_time}'])


def generate_launch_description():
    """Declare the arguments and start the arm."""
    return LaunchDescription([
        *arm_launch.control_arguments(),
        arm_launch.argument('payload', '0', 'kg at the flange that no controller knows of'),
        OpaqueFunction(function=simulated_arm),
    ])
