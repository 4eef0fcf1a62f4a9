# SPDX-License-Identifier: Apache-2.0
"""Control a simulated PUMA: ros2 launch puma_bringup sim.launch.py controller:=tracking."""

from launch import LaunchDescription
from launch.actions import OpaqueFunction

from puma_bringup.arm_launch import argument, control_arguments, controlled_arm, value


def simulated_arm(context):
    """Return the processes."""
    return controlled_arm(context, 'puma_hardware/PumaSimSystem',
                          [f'payload_mass={value(context, "payload")}',
                           f'simulated_time={value(context, "use_sim_time")}'])


def generate_launch_description():
    """Declare the arguments and start the arm."""
    return LaunchDescription([
        *control_arguments(),
        argument('payload', '0', 'mass at the flange that no controller knows of, kg'),
        OpaqueFunction(function=simulated_arm),
    ])
