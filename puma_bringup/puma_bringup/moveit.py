# SPDX-License-Identifier: Apache-2.0
"""MoveIt for an arm under ros2_control: move_group, its planning scene and RViz.

A configuration is a folder laid out as that of MoveIt's setup assistant, config/ of
puma_moveit_config or what `describe` writes:

    NAME.srdf           groups, named poses, pairs of links that are not checked for collision
    kinematics.yaml, joint_limits.yaml, pilz_cartesian_limits.yaml, moveit_controllers.yaml
    PIPELINE_planning.yaml
    scene.yaml          objects of the planning scene (optional), a moveit_msgs/PlanningScene
    moveit.rviz         (optional)
"""

from pathlib import Path
from xml.etree import ElementTree

from launch.actions import ExecuteProcess, Shutdown
from launch_ros.actions import Node
from puma_bringup.arm_launch import argument, is_true, own_topics, share, value
import yaml

PIPELINES = ('ompl', 'pilz_industrial_motion_planner')  # the first one is the default
# The stock actions fail on a goal that arrives while the arm moves.
CAPABILITIES = {'capabilities': 'ga_motion/MoveAction',
                'disable_capabilities': 'move_group/MoveGroupMoveAction '
                                        'move_group/MoveGroupExecuteTrajectoryAction'}


def moveit_arguments():
    """Declare what the launch files with MoveIt have in common."""
    return [
        argument('scene', '', "objects of the planning scene at the start, a YAML file; default: "
                 "the configuration's scene.yaml"),
        argument('pipeline', PIPELINES[0], 'planning pipeline of requests that name none',
                 PIPELINES),
    ]


def loaded(file):
    """Return the contents of a YAML file."""
    return yaml.safe_load(Path(file).read_text())


def parameters(folder, urdf, pipeline=PIPELINES[0]):
    """Return the parameters of move_group; `urdf` is the description as text."""
    folder = Path(folder)
    srdf = folder / (ElementTree.fromstring(urdf).get('name') + '.srdf')
    if not srdf.is_file():
        raise RuntimeError(f'{folder}: there is no {srdf.name}, the configuration of this arm')
    return {
        'robot_description': urdf,
        'robot_description_semantic': srdf.read_text(),
        'robot_description_kinematics': loaded(folder / 'kinematics.yaml'),
        'robot_description_planning': {**loaded(folder / 'joint_limits.yaml'),
                                       **loaded(folder / 'pilz_cartesian_limits.yaml')},
        'planning_pipelines': list(PIPELINES),
        'default_planning_pipeline': pipeline,
        **{name: loaded(folder / f'{name}_planning.yaml') for name in PIPELINES},
        **loaded(folder / 'moveit_controllers.yaml'),
        **{f'publish_{what}': True for what in (
            'planning_scene', 'geometry_updates', 'state_updates', 'transforms_updates',
            'robot_description_semantic')},
    }


def scene_of(context, folder):
    """Return the process that puts the objects into the planning scene, in a list; or none."""
    file = Path(value(context, 'scene') or folder, '' if value(context, 'scene') else 'scene.yaml')
    if not value(context, 'scene') and not file.is_file():
        return []
    request = yaml.safe_dump({'scene': loaded(file)}, default_flow_style=True, width=1e6)
    namespace = value(context, 'namespace').strip('/')
    service = '/'.join(filter(None, ['', namespace, 'apply_planning_scene']))
    return [ExecuteProcess(cmd=['ros2', 'service', 'call', service,
                                'moveit_msgs/srv/ApplyPlanningScene', request.strip()],
                           name='planning_scene', output='log')]


def nodes(context, folder, urdf):
    """Return move_group with the configuration in this folder, and RViz if it is asked for."""
    given = parameters(folder, urdf, value(context, 'pipeline'))
    clock = {'use_sim_time': is_true(context, 'use_sim_time')}
    namespace, remappings = value(context, 'namespace'), own_topics(context)
    rviz = Node(package='rviz2', executable='rviz2', namespace=namespace, remappings=remappings,
                arguments=['-d', rviz_file(folder)], output='log',
                parameters=[{key: part for key, part in given.items()
                             if key.startswith('robot_description') or key in PIPELINES}, clock])
    return [
        Node(package='moveit_ros_move_group', executable='move_group', namespace=namespace,
             parameters=[given, clock, CAPABILITIES],
             remappings=remappings, output='screen',
             on_exit=Shutdown(reason='move_group has ended')),
        *scene_of(context, folder),
        *([rviz] if is_true(context, 'rviz') else []),
    ]


def rviz_file(folder):
    """Return the RViz configuration of this folder, or the PUMA's."""
    own = Path(folder, 'moveit.rviz')
    return str(own) if own.is_file() else share('puma_moveit_config', 'config', 'moveit.rviz')
