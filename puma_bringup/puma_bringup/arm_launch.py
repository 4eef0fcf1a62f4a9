# SPDX-License-Identifier: Apache-2.0
"""Launch arguments and processes of an arm under ros2_control, shared by the launch files."""

from pathlib import Path

from ament_index_python.packages import get_package_prefix, get_package_share_directory
from launch.actions import DeclareLaunchArgument, RegisterEventHandler, Shutdown
from launch.event_handlers import OnProcessExit
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
import xacro

LAWS = ('point_to_point', 'tracking', 'tracking_integral')
CONTROLLERS = (*LAWS, 'gravity_hold', 'hand_guiding')
BROADCASTERS = ('joint_state_broadcaster', 'io_state_broadcaster')  # claim no command interface
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
    """Declare the arguments of every launch file for a PUMA."""
    return [
        argument('robot', '560', 'PUMA model', ['560', '600']),
        argument('namespace', '', 'namespace of all nodes, for a second arm'),
    ]


def control_arguments():
    """Declare the arguments of the launch files that control a PUMA."""
    return [
        *model_arguments(),
        argument('controller', 'tracking_integral',
                 'controller to activate; the others are loaded, inactive',
                 [*CONTROLLERS, 'none']),
        argument('controllers_file', share('puma_bringup', 'config', 'controllers.yaml'),
                 'parameters of the controller manager and the controllers; of several files the '
                 'later ones override the earlier ones'),
        *manager_arguments(),
    ]


def manager_arguments():
    """Declare the arguments of the launch files that control any arm."""
    return [
        argument('rviz', 'false', 'start RViz', ['true', 'false']),
        argument('update_rate', '1000', 'rate of the control loop, Hz'),
        argument('use_sim_time', 'false', 'use the time of /clock', ['true', 'false']),
        argument('hardware_parameters', '',
                 'parameters of the hardware plugin, as "key=value key=value"'),
    ]


def value(context, name):
    """Return the value of a launch argument."""
    return LaunchConfiguration(name).perform(context).strip()


def is_true(context, name):
    """Return the value of a launch argument that is true or false."""
    return value(context, name) == 'true'


def hardware_name(context):
    """Return the name of the hardware component: of the <ros2_control> tag."""
    return 'puma' + value(context, 'robot')


def puma_xacro(context):
    """Return the path of the PUMA's description."""
    return share('puma_description', 'urdf', hardware_name(context) + '.urdf.xacro')


def robot_description(text):
    """Return a description as a parameter of a node."""
    return {'robot_description': ParameterValue(text, value_type=str)}


def description(context, **mappings):
    """Return the PUMA's description as a parameter of a node."""
    return robot_description(xacro.process_file(puma_xacro(context), mappings=mappings).toxml())


def own_topics(context):
    """Return remappings of global topics into the namespace of the arm, if it has one."""
    if not value(context, 'namespace').strip('/'):
        return []
    return [(f'/{name}', name) for name in ('tf', 'tf_static', 'robot_description', 'clock')]


def robot_state_publisher(context, *parameters):
    """Return the node that publishes the robot description and the frames."""
    return Node(package='robot_state_publisher', executable='robot_state_publisher',
                namespace=value(context, 'namespace'), parameters=list(parameters),
                remappings=own_topics(context), output='screen')


def rviz(context, fixed_frame=None):
    """Return RViz with the configuration of puma_description, perhaps with another fixed frame."""
    return Node(package='rviz2', executable='rviz2', namespace=value(context, 'namespace'),
                arguments=['-d', share('puma_description', 'rviz', 'view.rviz'),
                           *(['-f', fixed_frame] if fixed_frame else [])],
                remappings=own_topics(context), output='log')


def active_controllers(chosen):
    """Return all controllers to activate for the chosen one."""
    if chosen == 'none':
        return [*IO]
    return [*IO, chosen, *([chosen + '_trajectory'] if chosen in LAWS else [])]


def puma_controllers():
    """Return the controllers of controllers.yaml, in the order in which to load them."""
    names = [*IO, 'gravity_hold']  # a fallback must be loaded before the controllers that name it
    for law in LAWS:
        names += [law, law + '_trajectory']
    return [*names, 'hand_guiding']


def on_success(process, then, otherwise):
    """Return a process and the actions after its end; none if the launch is shutting down."""
    def ended(event, context):
        if event.returncode == 0:
            return then
        return None if context.is_shutdown else otherwise

    return [RegisterEventHandler(OnProcessExit(target_action=process, on_exit=ended)), process]


def spawner(context, names, active, then=()):
    """Load all controllers in one process and activate the chosen ones in one switch.

    then: actions after success. If a controller cannot be loaded, configured or activated,
    check_controllers prints which, and the launch shuts down.
    """
    namespace, files = value(context, 'namespace'), controllers_files(context)
    remappings = [f'-r {old}:={new}' for old, new in own_topics(context) if new == 'clock']
    arguments = ['--activate-as-group', '--switch-asap', '--controller-manager-timeout', '60',
                 '--service-call-timeout', '60', '--switch-timeout', '30']
    for name in names:
        arguments += ['--controller', name, *[word for file in files
                                              for word in ('--param-file', file)]]
        if remappings:  # newer controller managers do not pass on their own remappings
            arguments += ['--controller-ros-args', ' '.join(remappings)]
        if name not in active:
            arguments.append('--inactive')
    spawn = Node(package='controller_manager', executable='spawner', namespace=namespace,
                 arguments=arguments, output='screen')
    check = Node(package='puma_bringup', executable='check_controllers', namespace=namespace,
                 arguments=['--loaded', *names, '--active', *active, '--parameters',
                            ' and '.join(files)],
                 output='screen', on_exit=Shutdown(reason='the controllers are not ready'))
    return on_success(spawn, then, [check])


def controllers_files(context):
    """Return the paths of the files with the controllers' parameters."""
    return value(context, 'controllers_file').split()


def update_rate(context):
    """Return the rate of the control loop, Hz; raises RuntimeError if it is invalid."""
    text = value(context, 'update_rate')
    if not text.isascii() or not text.isdigit() or not 10 <= int(text) <= 10000:
        raise RuntimeError(f'update_rate:={text}: give a whole number of Hz from 10 to 10000')
    return int(text)


def controlled_arm(context, plugin=None, parameters=(), inactive=False, model=None, then=()):
    """Return all nodes of a PUMA with this hardware plugin; `parameters` are key=value.

    inactive: leave the hardware inactive; only the broadcasters are activated.
    model: description() of the arm, in place of `plugin` and `parameters`.
    then: actions after the controllers are loaded.
    """
    if model is None:
        words = ' '.join([*parameters, value(context, 'hardware_parameters')])
        model = description(context, hardware_plugin=plugin, hardware_parameters=words)
    active = active_controllers(value(context, 'controller'))
    waiting = {}
    if inactive:
        active = BROADCASTERS
        waiting = {'hardware_components_initial_state.inactive':
                   [hardware_name(context)]}
    return control_nodes(context, model, puma_controllers(), active, waiting, then)


def control_nodes(context, model, names, active, manager_parameters=None, then=(),
                  fixed_frame=None, with_rviz=True):
    """Return the controller manager, robot_state_publisher, controllers and RViz of an arm."""
    clock = {'use_sim_time': is_true(context, 'use_sim_time')}
    # Fully qualified names: all robots share /diagnostics.
    manager = {'update_rate': update_rate(context), 'diagnostic_updater.use_fqn': True,
               **(manager_parameters or {})}
    return [
        robot_state_publisher(context, model, clock),
        Node(package='puma_bringup', executable='control_node',
             namespace=value(context, 'namespace'),
             parameters=[*controllers_files(context), clock, manager],
             remappings=own_topics(context), output='screen',
             on_exit=Shutdown(reason='the controller manager has ended')),
        *spawner(context, names, active, then),
        *([rviz(context, fixed_frame)] if with_rviz and is_true(context, 'rviz') else []),
    ]
