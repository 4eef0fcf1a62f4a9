# SPDX-License-Identifier: Apache-2.0
"""The arm over its cards: ros2 launch puma_bringup real.launch.py io:=ports controller:=tracking.

io:=emulated starts cards with a simulated arm behind them, as a process of their own. A guard runs
beside the controller manager and cuts the outputs if that dies.
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


def real_arm(context):
    """Return the processes."""
    io = arm_launch.value(context, 'io')
    calibration = arm_launch.value(context, 'calibration_file')
    parameters = [f'io={io}', f'guard={arm_launch.value(context, "guard")}']
    guard = ['guard', '--io', io, '--timeout', arm_launch.value(context, 'guard_timeout')]
    if io == 'emulated':
        cell = cell_of(context)
        parameters.append(f'cell={cell}')
        guard += ['--cell', cell]
        calibration = calibration or arm_launch.share('puma_hardware', 'config',
                                                      'emulated_calibration.json')
    if calibration:
        parameters.append(f'calibration_file={calibration}')
    actions = arm_launch.controlled_arm(context, 'puma_hardware/PumaSystem', parameters,
                                        inactive=True)
    if arm_launch.value(context, 'guard') == 'true':
        actions.insert(0, puma(context, *guard,
                               on_exit=Shutdown(reason='the guard has ended')))
    actions.append(starter(context))
    if io == 'ports':
        return actions

    started = []

    def when_ready(event):
        """Start everything else once, when the emulated cards are there."""
        if READY not in event.text or started:
            return None
        started.append(True)
        return actions

    robot = puma(context, 'emulate', cell, *arm_launch.value(context, 'emulated_arm').split(),
                 on_exit=Shutdown(reason='the emulated robot has ended'))
    return [RegisterEventHandler(OnProcessIO(target_action=robot, on_stdout=when_ready)), robot]


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
