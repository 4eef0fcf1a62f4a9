# SPDX-License-Identifier: Apache-2.0
"""Control a PUMA through its I/O cards: ros2 launch puma_bringup real.launch.py settings:=FILE.

io:=emulated starts an emulated robot as a process of its own; with use_sim_time:=true it is part of
the controller manager's process and runs in simulated time. A guard process sets the outputs to 0 V
if the controller manager dies or hangs.
"""

from launch import LaunchDescription
from launch.actions import OpaqueFunction

from puma_bringup import real_arm
from puma_bringup.arm_launch import argument, control_arguments


def generate_launch_description():
    """Declare the arguments and start the arm."""
    return LaunchDescription([
        *control_arguments(),
        argument('io', 'ports', 'real or emulated cards', ['ports', 'emulated']),
        argument('settings', '', 'settings file of your arm and its cards, one `name: value` per '
                 'line, as for `puma … --settings`'),
        argument('description', '', 'URDF or xacro file of your arm; default: puma_description'),
        argument('cell', '', 'name of the emulated robot; `puma cell NAME` shows its state'),
        argument('emulated_arm', '', 'options of `puma emulate`, as "--start 0 -1.5 1.5 0 0 0"'),
        argument('calibration_file', '', 'table written by `puma calibrate --build`; overrides the '
                 'settings. An emulated arm needs none'),
        argument('calibrate', 'false', 'calibrate at once, with small motions of every joint, and '
                 'start the controller', ['true', 'false']),
        argument('guard', 'true', 'start the process that sets the outputs to 0 V if the '
                 'controller manager dies; never false with the amplifiers on', ['true', 'false']),
        argument('guard_timeout', '', 'time without a heartbeat after which the guard trips, ms; '
                 'default: 8, or four periods of update_rate if that is more; 1000 for an emulated '
                 'arm'),
        OpaqueFunction(function=real_arm.processes),
    ])
