# SPDX-License-Identifier: Apache-2.0
"""The arm over its cards: ros2 launch puma_bringup real.launch.py io:=ports controller:=tracking.

io:=emulated starts cards with a simulated arm behind them, as a process of their own; with
use_sim_time:=true they are part of the controller manager's process, in simulated time. A guard
runs beside the controller manager and cuts the outputs if that dies.
"""

from launch import LaunchDescription
from launch.actions import ExecuteProcess, LogInfo, OpaqueFunction, RegisterEventHandler, Shutdown
from launch.event_handlers import OnProcessIO
from launch_ros.actions import Node

from puma_bringup import arm_launch

READY = b'emulating a robot'


def card_settings(context):
    """Return the options that give the cards' settings to the puma command."""
    robot = 'puma' + arm_launch.value(context, 'robot')
    options = ['--urdf', arm_launch.share('puma_description', 'urdf', robot + '.urdf')]
    for word in arm_launch.value(context, 'hardware_parameters').split():
        if word.startswith('pcl'):
            options += ['--set', word]
    return options


def puma(context, *arguments, **others):
    """Return a puma command as a process."""
    return ExecuteProcess(cmd=[arm_launch.program('puma_hardware', 'puma'), *arguments,
                               *card_settings(context)], output='screen', **others)


def cell_of(context):
    """Return the name of the emulated cards: that of the arm's namespace unless told otherwise."""
    name = arm_launch.value(context, 'namespace').strip('/').replace('/', '_')
    return arm_launch.value(context, 'cell') or '_'.join(filter(None, ['puma', name]))


def starter(context):
    """Return what calibrates and starts the arm, or says how to."""
    namespace = arm_launch.value(context, 'namespace')
    arguments = ['--hardware', 'puma' + arm_launch.value(context, 'robot'),
                 '--controller', arm_launch.value(context, 'controller')]
    if arm_launch.value(context, 'calibrate') != 'true':
        remap = f' --ros-args -r __ns:=/{namespace.strip("/")}' if namespace else ''
        return LogInfo(msg='the arm is inactive until it is calibrated, with small motions of every'
                           ' joint: ros2 run puma_bringup start_arm ' + ' '.join(arguments) + remap)
    return Node(package='puma_bringup', executable='start_arm', namespace=namespace,
                arguments=arguments, output='screen')


def guard(context, *where):
    """Return the guard as a list of one action, or nothing."""
    if arm_launch.value(context, 'guard') != 'true':
        return []
    return [puma(context, 'guard', *where, '--timeout', arm_launch.value(context, 'guard_timeout'),
                 on_exit=Shutdown(reason='the guard has ended'))]


def arm_over(context, *parameters):
    """Return the controller manager with the arm over these cards, and what starts it."""
    parameters = [*parameters, f'guard={arm_launch.value(context, "guard")}']
    calibration = arm_launch.value(context, 'calibration_file')
    if calibration:
        parameters.append(f'calibration_file={calibration}')
    return [*arm_launch.controlled_arm(context, 'puma_hardware/PumaSystem', parameters,
                                       inactive=True), starter(context)]


def emulated_cell(context):
    """Return the emulated cards as a process, and everything else when they are there."""
    cell = cell_of(context)
    robot = puma(context, 'emulate', cell, *arm_launch.value(context, 'emulated_arm').split(),
                 on_exit=Shutdown(reason='the emulated robot has ended'))
    rest = [*guard(context, '--cell', cell), *arm_over(context, 'io=emulated', f'cell={cell}')]

    def when_ready(event):
        nonlocal rest
        if READY not in event.text:
            return None
        actions, rest = rest, None
        return actions

    return [RegisterEventHandler(OnProcessIO(target_action=robot, on_stdout=when_ready)), robot]


def real_arm(context):
    """Return the processes."""
    if arm_launch.value(context, 'io') == 'ports':
        return [*guard(context, '--io', 'ports'), *arm_over(context, 'io=ports')]
    if not arm_launch.value(context, 'calibration_file'):
        context.launch_configurations['calibration_file'] = arm_launch.share(
            'puma_hardware', 'config', 'emulated_calibration.json')
    if arm_launch.value(context, 'use_sim_time') == 'true':
        return arm_over(context, 'io=emulated', 'simulated_time=true')
    return emulated_cell(context)


def generate_launch_description():
    """Declare the arguments and start the arm."""
    return LaunchDescription([
        *arm_launch.control_arguments(),
        arm_launch.argument('io', 'ports', 'where the cards are', ['ports', 'emulated']),
        arm_launch.argument('cell', '', 'name of the emulated cards; `puma cell NAME` shows them'),
        arm_launch.argument('emulated_arm', '',
                            'options of `puma emulate`, as "--start 0 -1.5 1.5 0 0 0"'),
        arm_launch.argument('calibration_file', '',
                            'written by `puma calibrate --build`; the emulated arm has one'),
        arm_launch.argument('calibrate', 'false',
                            'calibrate at once, with small motions, and start the controller',
                            ['true', 'false']),
        arm_launch.argument('guard', 'true', 'a process that cuts the outputs if the controller '
                            'manager dies; on no account without it when the amplifiers are on',
                            ['true', 'false']),
        arm_launch.argument('guard_timeout', '8', 'ms without a heartbeat that make it cut'),
        OpaqueFunction(function=real_arm),
    ])
