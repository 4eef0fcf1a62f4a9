# SPDX-License-Identifier: Apache-2.0
"""Processes of a PUMA behind its I/O cards, real or emulated, for real.launch.py.

All processes use one description, which contains the settings. The guard and the emulated robot
read it from a temporary file.
"""

import os
from pathlib import Path
import subprocess
import tempfile
from xml.etree import ElementTree

from launch.actions import ExecuteProcess, LogInfo, RegisterEventHandler, Shutdown
from launch.event_handlers import OnShutdown
import launch.logging
from launch_ros.actions import Node
from puma_bringup import arm_launch
from puma_bringup.arm_launch import hardware_name, is_true, value
import xacro

# For an emulated arm, which can do no harm: a non-real-time host may stall for tenths of a second,
# which would look like an encoder jump, overspeed or a dead process.
RELAXED = {'safety.deadline_ratio': '10', 'safety.max_missed_deadlines': '500',
           'safety.jump_ratio': '20', 'safety.overspeed_ratio': '2',
           'safety.calibration_speed_ratio': '1', 'guard_timeout': '3'}
GUARD_TIMEOUT = {'ports': 8.0, 'emulated': 1000.0}  # ms
MISSED_HEARTBEATS = 4  # that the guard tolerates at any update rate
START_TIMEOUT = '60'  # s for the emulated robot


def described(context, *parameters):
    """Return the description with all settings; raises RuntimeError if they are invalid.

    The later overrides the earlier: relaxed limits, the description's own parameters, the settings
    file, `parameters`, hardware_parameters.
    """
    options = []
    if value(context, 'io') == 'emulated' and not is_true(context, 'use_sim_time'):
        for name, limit in RELAXED.items():
            options += ['--default', f'{name}={limit}']
    if settings := value(context, 'settings'):
        options += ['--settings', settings]
    if calibration := value(context, 'calibration_file'):
        parameters = [*parameters, f'calibration_file={os.path.abspath(calibration)}']
    for word in [*parameters, *value(context, 'hardware_parameters').split()]:
        options += ['--set', word]
    file = value(context, 'description') or arm_launch.puma_xacro(context)
    with tempfile.NamedTemporaryFile('w', suffix='.urdf') as plain:
        plain.write(xacro.process_file(file).toxml())
        plain.flush()
        done = subprocess.run(
            [arm_launch.program('puma_hardware', 'puma'), 'urdf', '--urdf', plain.name,
             '--plugin', 'puma_hardware/PumaSystem', *options], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    name = ElementTree.fromstring(done.stdout).find('ros2_control').get('name')
    if name != hardware_name(context):
        raise RuntimeError(f'description: its <ros2_control> is named {name!r}; name it '
                           f'{hardware_name(context)!r}, or give another robot:=')
    return done.stdout


def written(text):
    """Write the description to a file; return its path, and the action that removes it."""
    with tempfile.NamedTemporaryFile('w', prefix='puma_', suffix='.urdf', delete=False) as file:
        file.write(text)
    return file.name, RegisterEventHandler(OnShutdown(
        on_shutdown=lambda *_: Path(file.name).unlink(missing_ok=True)))


def puma(urdf, *arguments, output='screen', **others):
    """Return a `puma` command with this description as a process."""
    return ExecuteProcess(cmd=[arm_launch.program('puma_hardware', 'puma'), *arguments,
                               '--urdf', urdf], output=output, **others)


def cell_name(context):
    """Return the name of the emulated robot; by default it contains the namespace."""
    namespace = value(context, 'namespace').strip('/').replace('/', '_')
    return value(context, 'cell') or '_'.join(filter(None, ['puma', namespace]))


def guard_timeout(context):
    """Return the time without a heartbeat after which the guard trips, ms."""
    least = GUARD_TIMEOUT[value(context, 'io')]
    periods = 1000 * MISSED_HEARTBEATS / arm_launch.update_rate(context)
    return value(context, 'guard_timeout') or f'{max(least, periods):g}'


def guard(context, urdf, *where):
    """Return the guard, if there is to be one. It stands by if another one is running."""
    if not is_true(context, 'guard'):
        return []
    return [puma(urdf, 'guard', *where, '--stand-by', '--timeout', guard_timeout(context),
                 on_exit=Shutdown(reason='the guard has ended'))]


def starter(context):
    """Return the node that calibrates and activates the arm, or a message with its command."""
    namespace = value(context, 'namespace')
    arguments = ['--hardware', hardware_name(context), '--controller', value(context, 'controller')]
    if is_true(context, 'calibrate'):
        return Node(package='puma_bringup', executable='start_arm', namespace=namespace,
                    arguments=arguments, output='screen')
    remap = f' --ros-args -r __ns:=/{namespace.strip("/")}' if namespace else ''
    return LogInfo(msg='the arm is inactive until it is calibrated, with small motions of every '
                       'joint: ros2 run puma_bringup start_arm ' + ' '.join(arguments) + remap)


def controlled(context, text):
    """Return the nodes that control the arm of this description; it stays inactive at first."""
    return arm_launch.controlled_arm(context, model=arm_launch.robot_description(text),
                                     inactive=True, then=[starter(context)])


def on_ports(context):
    """Return the processes of an arm on real cards."""
    if is_true(context, 'use_sim_time'):
        raise RuntimeError('use_sim_time:=true with io:=ports: a real arm runs in real time, and '
                           'nothing would publish its /clock; leave use_sim_time out')
    if not is_true(context, 'guard'):
        launch.logging.get_logger('launch.user').warning(
            'guard:=false: NOTHING takes the voltage off the amplifiers if the controller manager '
            'dies or hangs; the arm then keeps its last torque. Never use this with the amplifiers '
            'connected!')
    text = described(context, 'io=ports', f'guard={value(context, "guard")}')
    urdf, remove = written(text)
    return [remove, *guard(context, urdf, '--io', 'ports'), *controlled(context, text)]


def emulated(context):
    """Return the processes of an arm on emulated cards."""
    if is_true(context, 'use_sim_time'):
        return controlled(context, described(context, 'io=emulated', 'guard=false',
                                             'simulated_time=true'))
    cell = cell_name(context)
    text = described(context, 'io=emulated', f'cell={cell}', f'guard={value(context, "guard")}')
    urdf, remove = written(text)
    limits = ' '.join(f'{name}={limit}' for name, limit in RELAXED.items())
    robot = puma(urdf, 'emulate', cell, *value(context, 'emulated_arm').split(),
                 on_exit=Shutdown(reason='the emulated robot has ended'))
    ready = puma(urdf, 'cell', cell, '--wait', START_TIMEOUT, output='log')
    return [
        remove,
        LogInfo(msg='the arm is emulated, with limits relaxed for non-real-time hosts (guard '
                    f'{guard_timeout(context)} ms, {limits}); those of io:=ports are strict'),
        robot,
        *arm_launch.on_success(
            ready, [*guard(context, urdf, '--cell', cell), *controlled(context, text)],
            [Shutdown(reason='the emulated robot has not started')])]


def processes(context):
    """Return the processes of the arm."""
    arm_launch.update_rate(context)  # refused before anything else
    return (on_ports if value(context, 'io') == 'ports' else emulated)(context)
