# SPDX-License-Identifier: Apache-2.0
"""The arm under ros2_control: the arguments and the processes that all its launch files share."""

from pathlib import Path
import re

from ament_index_python.packages import get_package_prefix, get_package_share_directory
from launch.actions import DeclareLaunchArgument, LogInfo, RegisterEventHandler, Shutdown
from launch.event_handlers import OnProcessExit, OnProcessIO
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
import xacro

LAWS = ('point_to_point', 'tracking', 'tracking_integral')
CONTROLLERS = (*LAWS, 'gravity_hold')
BROADCASTERS = ('joint_state_broadcaster', 'io_state_broadcaster')  # claim no command
IO = (*BROADCASTERS, 'io_controller')


def share(package, *parts):
    """Return the path of an installed file."""
    return str(Path(get_package_share_directory(package), *parts))


def program(package, name):
    """Return the path of an installed program."""
    return str(Path(get_package_prefix(package), 'lib', package, name))


def argument(name, default, description, choices=None):
    """Declare a launch argument."""
    return DeclareLaunchArgument(name, default_value=default, description=description,
                                 choices=choices)


def model_arguments():
    """Declare what every launch file takes."""
    return [
        argument('robot', '560', 'which PUMA', ['560', '600']),
        argument('namespace', '', 'of all nodes, for a second arm on the same machine'),
    ]


def control_arguments():
    """Declare what the launch files with a controller manager take."""
    return [
        *model_arguments(),
        argument('controller', 'tracking_integral',
                 'what drives the arm at first; the others are loaded and can be switched to',
                 [*CONTROLLERS, 'none']),
        argument('controllers_file', share('puma_bringup', 'config', 'controllers.yaml'),
                 'parameters of the controller manager and the controllers'),
        *manager_arguments(),
    ]


def manager_arguments():
    """Declare what a controller manager of any arm takes."""
    return [
        argument('rviz', 'false', 'start RViz', ['true', 'false']),
        argument('update_rate', '1000', 'of the control loop, Hz'),
        argument('use_sim_time', 'false', 'take the time from /clock', ['true', 'false']),
        argument('hardware_parameters', '',
                 'parameters of the hardware plugin, as "key=value key=value"'),
    ]


def value(context, name):
    """Return a launch argument's value."""
    return LaunchConfiguration(name).perform(context).strip()


def description(context, **mappings):
    """Return the robot description as a node's parameter."""
    robot = 'puma' + value(context, 'robot')
    text = xacro.process_file(share('puma_description', 'urdf', robot + '.urdf.xacro'),
                              mappings=mappings).toxml()
    return {'robot_description': ParameterValue(text, value_type=str)}


def own_topics(context):
    """Return remappings that keep frames and clock of an arm in a namespace to itself."""
    if not value(context, 'namespace').strip('/'):
        return []
    return [(f'/{name}', name) for name in ('tf', 'tf_static', 'robot_description', 'clock')]


def robot_state_publisher(context, *parameters):
    """Return the node that publishes the description, one of its parameters, and the frames."""
    return Node(package='robot_state_publisher', executable='robot_state_publisher',
                namespace=value(context, 'namespace'), parameters=list(parameters),
                remappings=own_topics(context), output='screen')


def rviz(context, fixed_frame=None):
    """Return RViz as puma_description sets it up; of an arm on another frame than its floor."""
    return Node(package='rviz2', executable='rviz2', namespace=value(context, 'namespace'),
                arguments=['-d', share('puma_description', 'rviz', 'view.rviz'),
                           *(['-f', fixed_frame] if fixed_frame else [])],
                remappings=own_topics(context), output='log')


def active_controllers(chosen):
    """Return the controllers that are active while this one drives the arm."""
    if chosen == 'none':
        return [*IO]
    return [*IO, chosen, *([chosen + '_trajectory'] if chosen in LAWS else [])]


def puma_controllers():
    """Return the names of all controllers of controllers.yaml, in the order to load them."""
    names = [*IO, 'gravity_hold']  # the fallback must be there before those it serves
    for law in LAWS:
        names += [law, law + '_trajectory']
    return names


def spawner(context, names, active, then=()):
    """Load all controllers in one process, activate the chosen ones in one switch, then go on.

    Without its controllers an arm cannot be moved or stopped by anybody: if one of them cannot be
    had, the launch says which and ends. `then` are actions that need them.
    """
    remappings = [f'-r {old}:={new}' for old, new in own_topics(context) if new == 'clock']
    arguments = ['--activate-as-group', '--switch-asap', '--controller-manager-timeout', '60',
                 '--service-call-timeout', '60', '--switch-timeout', '30']
    for name in names:
        arguments += ['--controller', name, '--param-file', value(context, 'controllers_file')]
        if remappings:  # a newer controller manager does not hand its own on
            arguments += ['--controller-ros-args', ' '.join(remappings)]
        if name not in active:
            arguments.append('--inactive')
    node = Node(package='controller_manager', executable='spawner',
                namespace=value(context, 'namespace'), arguments=arguments, output='screen')
    loaded = []

    def listen(event):
        text = re.sub(r'\x1b\[[0-9;]*m', '', event.text.decode(errors='replace'))
        loaded.extend(re.findall(r'Loaded (\S+)', text))

    def ended(event, launch_context):
        if event.returncode == 0:
            return list(then)
        if launch_context.is_shutdown:
            return None
        reason = why_not_spawned(names, active, loaded, value(context, 'controllers_file'))
        return [LogInfo(msg=f'error: {reason}'), Shutdown(reason=reason)]

    return [RegisterEventHandler(OnProcessIO(target_action=node, on_stdout=listen,
                                             on_stderr=listen)),
            RegisterEventHandler(OnProcessExit(target_action=node, on_exit=ended)), node]


def why_not_spawned(names, active, loaded, file):
    """Return what a spawner that has failed leaves undone, given what it has loaded."""
    missing = [name for name in names if name not in loaded]
    if not missing:
        return (f'the controllers {", ".join(n for n in names if n in active)} cannot be activated;'
                ' the controller manager says why, above')
    if loaded:
        missing.insert(0, f'{loaded[-1]} (loaded; perhaps not configured)')
    return (f'controllers are missing: {", ".join(missing)}; the controller manager says why, '
            f'above. Their parameters are in {file}')


def update_rate(context):
    """Return the control loop's rate, Hz; refuses what is none."""
    text = value(context, 'update_rate')
    if not text.isascii() or not text.isdigit() or not 10 <= int(text) <= 10000:
        raise RuntimeError(f'update_rate:={text}: give a whole number of Hz from 10 to 10000')
    return int(text)


def controlled_arm(context, plugin=None, parameters=(), inactive=False, model=None, then=()):
    """Return everything for a PUMA behind this hardware plugin; `parameters` are key=value.

    inactive: the hardware is connected and shows its state, and waits for a person to go on.
    model: description() of the arm, if it is made already; plugin and parameters are not asked.
    then: actions for when all controllers are there.
    """
    if model is None:
        words = ' '.join([*parameters, value(context, 'hardware_parameters')])
        model = description(context, hardware_plugin=plugin, hardware_parameters=words)
    active = active_controllers(value(context, 'controller'))
    waiting = {}
    if inactive:
        active = BROADCASTERS
        waiting = {'hardware_components_initial_state.inactive':
                   ['puma' + value(context, 'robot')]}
    return control_nodes(context, model, puma_controllers(), active, waiting, then)


def control_nodes(context, model, names, active, manager_parameters=None, then=(),
                  fixed_frame=None):
    """Return the controller manager of a described arm, its frames, its controllers and RViz."""
    clock = {'use_sim_time': value(context, 'use_sim_time') == 'true'}
    # On /diagnostics, which all robots share, names with the namespace; the hardware has them too.
    manager = {'update_rate': update_rate(context), 'diagnostic_updater.use_fqn': True,
               **(manager_parameters or {})}
    return [
        robot_state_publisher(context, model, clock),
        Node(package='puma_bringup', executable='control_node',
             namespace=value(context, 'namespace'),
             parameters=[value(context, 'controllers_file'), clock, manager],
             remappings=own_topics(context), output='screen',
             on_exit=Shutdown(reason='the controller manager has ended')),
        *spawner(context, names, active, then),
        *([rviz(context, fixed_frame)] if value(context, 'rviz') == 'true' else []),
    ]
