# SPDX-License-Identifier: Apache-2.0
"""The arm over its cards: ros2 launch puma_bringup real.launch.py io:=ports settings:=my_arm.yaml.

io:=emulated starts cards with a simulated arm behind them, as a process of their own; with
use_sim_time:=true they are part of the controller manager's process, in simulated time. A guard
runs beside the controller manager and cuts the outputs if that dies.

One description, with the settings in it, is for all of them: it is written to a file, and the
emulated robot and the guard read that file.
"""

import os
from pathlib import Path
import subprocess
import tempfile
from xml.etree import ElementTree

from launch import LaunchDescription
from launch.actions import ExecuteProcess, LogInfo, OpaqueFunction, RegisterEventHandler, Shutdown
from launch.event_handlers import OnProcessIO, OnShutdown
import launch.logging
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
import xacro

from puma_bringup import arm_launch

READY = b'emulating a robot'
# Nobody is hurt by an emulated arm, and the computer that runs it may stall for tenths of a second;
# what then looks like a jump, like overspeed or like a dead process is neither.
TOLERANT = {'safety.deadline_ratio': '10', 'safety.max_missed_deadlines': '500',
            'safety.jump_ratio': '20', 'safety.overspeed_ratio': '2',
            'safety.calibration_speed_ratio': '1', 'guard_timeout': '1'}
GUARD_TIMEOUT = {'ports': 8.0, 'emulated': 500.0}  # ms
MISSED_BEATS = 4  # that a guard has to bear, whatever the rate


def is_true(context, name):
    """Return whether a launch argument says so."""
    return arm_launch.value(context, name) == 'true'


def hardware_name(context):
    """Return the name of the <ros2_control> that the others know."""
    return 'puma' + arm_launch.value(context, 'robot')


def defaults_of(context):
    """Return the settings that count unless the description or the user gives others."""
    emulated = arm_launch.value(context, 'io') == 'emulated'
    return TOLERANT if emulated and not is_true(context, 'use_sim_time') else {}


def described(context, parameters):
    """Return the arm's description, with the settings that all processes go by."""
    given = arm_launch.value(context, 'description')
    file = given or arm_launch.share('puma_description', 'urdf',
                                     hardware_name(context) + '.urdf.xacro')
    plain = xacro.process_file(file).toxml()
    options = []
    if settings := arm_launch.value(context, 'settings'):
        options += ['--settings', settings]
    if calibration := arm_launch.value(context, 'calibration_file'):
        parameters = [*parameters, f'calibration_file={os.path.abspath(calibration)}']
    for word in [*parameters, *arm_launch.value(context, 'hardware_parameters').split()]:
        options += ['--set', word]
    for name, text in defaults_of(context).items():
        options += ['--default', f'{name}={text}']
    with tempfile.NamedTemporaryFile('w', suffix='.urdf') as described_so_far:
        described_so_far.write(plain)
        described_so_far.flush()
        done = subprocess.run(
            [arm_launch.program('puma_hardware', 'puma'), 'urdf', '--urdf',
             described_so_far.name, '--plugin', 'puma_hardware/PumaSystem', *options],
            capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    name = ElementTree.fromstring(done.stdout).find('ros2_control').get('name')
    if name != hardware_name(context):
        raise RuntimeError(f'description: its <ros2_control> is named {name!r}; name it '
                           f'{hardware_name(context)!r}, or give another robot:=')
    return done.stdout


def puma(urdf, *arguments, **others):
    """Return a puma command over this description as a process."""
    return ExecuteProcess(cmd=[arm_launch.program('puma_hardware', 'puma'), *arguments,
                               '--urdf', urdf], output='screen', **others)


def cell_of(context):
    """Return the name of the emulated cards: that of the arm's namespace unless told otherwise."""
    name = arm_launch.value(context, 'namespace').strip('/').replace('/', '_')
    return arm_launch.value(context, 'cell') or '_'.join(filter(None, ['puma', name]))


def starter(context):
    """Return what calibrates and starts the arm, or says how to."""
    namespace = arm_launch.value(context, 'namespace')
    arguments = ['--hardware', hardware_name(context),
                 '--controller', arm_launch.value(context, 'controller')]
    if not is_true(context, 'calibrate'):
        remap = f' --ros-args -r __ns:=/{namespace.strip("/")}' if namespace else ''
        return LogInfo(msg='the arm is inactive until it is calibrated, with small motions of every'
                           ' joint: ros2 run puma_bringup start_arm ' + ' '.join(arguments) + remap)
    return Node(package='puma_bringup', executable='start_arm', namespace=namespace,
                arguments=arguments, output='screen')


def guard_timeout(context):
    """Return the ms of silence that make the guard cut."""
    given = arm_launch.value(context, 'guard_timeout')
    if given:
        return given
    least = GUARD_TIMEOUT[arm_launch.value(context, 'io')]
    return f'{max(least, 1000 * MISSED_BEATS / arm_launch.update_rate(context)):g}'


def guard(context, urdf, *where):
    """Return the guard as a list of one action, or nothing. One on watch already is enough."""
    if not is_true(context, 'guard'):
        return []
    return [puma(urdf, 'guard', *where, '--stand-by', '--timeout', guard_timeout(context),
                 on_exit=Shutdown(reason='the guard has ended'))]


def controlled(context, text):
    """Return the controller manager with the arm of this description, and what starts it."""
    model = {'robot_description': ParameterValue(text, value_type=str)}
    return arm_launch.controlled_arm(context, model=model, inactive=True,
                                     then=[starter(context)])


def emulated_cell(urdf, context, rest):
    """Return the emulated cards as a process, and everything else when they are there."""
    robot = puma(urdf, 'emulate', cell_of(context),
                 *arm_launch.value(context, 'emulated_arm').split(),
                 on_exit=Shutdown(reason='the emulated robot has ended'))

    def when_ready(event):
        nonlocal rest
        if READY not in event.text:
            return None
        actions, rest = rest, None
        return actions

    return [RegisterEventHandler(OnProcessIO(target_action=robot, on_stdout=when_ready)), robot]


def written(text):
    """Write the description where the other processes find it; the path, and what removes it."""
    with tempfile.NamedTemporaryFile('w', prefix='puma_', suffix='.urdf', delete=False) as file:
        file.write(text)
    remove = RegisterEventHandler(OnShutdown(on_shutdown=lambda *_: Path(file.name).unlink(
        missing_ok=True)))
    return file.name, remove


def real_ports(context):
    """Return the processes of an arm on the machine's ports."""
    if is_true(context, 'use_sim_time'):
        raise RuntimeError('use_sim_time:=true with io:=ports: a real arm lives in real time, and '
                           'nobody would publish its /clock; leave use_sim_time out')
    if not is_true(context, 'guard'):
        launch.logging.get_logger('launch.user').warning(
            'guard:=false: NOTHING takes the voltage off the amplifiers if the controller manager '
            'dies or hangs; the arm then goes on pushing. On no account with the amplifiers '
            'connected!')
    text = described(context, ['io=ports', f'guard={arm_launch.value(context, "guard")}'])
    urdf, remove = written(text)
    return [remove, *guard(context, urdf, '--io', 'ports'), *controlled(context, text)]


def emulated(context):
    """Return the processes of an emulated arm."""
    if is_true(context, 'use_sim_time'):
        return controlled(context, described(
            context, ['io=emulated', 'guard=false', 'simulated_time=true']))
    cell = cell_of(context)
    text = described(context, ['io=emulated', f'cell={cell}',
                               f'guard={arm_launch.value(context, "guard")}'])
    urdf, remove = written(text)
    rest = [*guard(context, urdf, '--cell', cell), *controlled(context, text)]
    words = ' '.join(f'{name}={text}' for name, text in TOLERANT.items())
    told = LogInfo(msg='the arm is emulated: its limits bear a computer that stalls (guard '
                       f'{guard_timeout(context)} ms, {words}); those of io:=ports are strict')
    return [remove, told, *emulated_cell(urdf, context, rest)]


def real_arm(context):
    """Return the processes."""
    arm_launch.update_rate(context)
    return (real_ports if arm_launch.value(context, 'io') == 'ports' else emulated)(context)


def generate_launch_description():
    """Declare the arguments and start the arm."""
    return LaunchDescription([
        *arm_launch.control_arguments(),
        arm_launch.argument('io', 'ports', 'where the cards are', ['ports', 'emulated']),
        arm_launch.argument('settings', '', 'file of the settings of your arm and its cards, '
                            '`name: value` a line; the puma command takes the same'),
        arm_launch.argument('description', '', 'URDF or xacro file of your arm, in place of '
                            "puma_description's"),
        arm_launch.argument('cell', '', 'name of the emulated cards; `puma cell NAME` shows them'),
        arm_launch.argument('emulated_arm', '',
                            'options of `puma emulate`, as "--start 0 -1.5 1.5 0 0 0"'),
        arm_launch.argument('calibration_file', '',
                            'written by `puma calibrate --build`, in place of the one that the '
                            'settings name; the emulated arm has one'),
        arm_launch.argument('calibrate', 'false',
                            'calibrate at once, with small motions, and start the controller',
                            ['true', 'false']),
        arm_launch.argument('guard', 'true', 'a process that cuts the outputs if the controller '
                            'manager dies; on no account without it when the amplifiers are on',
                            ['true', 'false']),
        arm_launch.argument('guard_timeout', '', 'ms without a heartbeat that make it cut; empty: '
                            '8, or four periods of update_rate if that is more; 500 for an '
                            'emulated arm'),
        OpaqueFunction(function=real_arm),
    ])
