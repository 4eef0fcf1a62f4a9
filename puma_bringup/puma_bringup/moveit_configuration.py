# SPDX-License-Identifier: Apache-2.0
"""MoveIt configuration of any arm, from its description: the files that moveit.py reads."""

import json
import math
from pathlib import Path
import subprocess
import tempfile
from xml.sax.saxutils import quoteattr

from ament_index_python.packages import PackageNotFoundError
from puma_bringup.arm_launch import program, share
from puma_bringup.moveit import loaded, PIPELINES
import yaml

# Shares of the velocity and torque limits that plans use; the rest is for feedback.
VELOCITY_SHARE, TORQUE_RESERVE = 0.9, 0.1
DIGITS = 3  # of velocities and accelerations, rounded down
# s, from rest to the velocity limit: accelerations are no higher. For a joint whose description
# lacks the rotor inertia, the torque alone would allow any: 1.6e5 rad/s² at a UR10e's wrist.
LEAST_TIME = 0.05
CLOSED_FORM = 'ga_motion/ClosedFormKinematics'
SEARCH = 'kdl_kinematics_plugin/KDLKinematicsPlugin'
TIMEOUT = 0.05  # s for a search


class NotPossible(Exception):
    """The reason why there is no configuration."""


def output_of(command):
    """Return what a command prints."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        raise NotPossible('MoveIt is not installed')
    if done.returncode != 0:
        raise NotPossible(done.stderr.strip())
    return done.stdout


def rounded_down(value):
    """Return a positive value with DIGITS digits, not larger."""
    unit = 10.0**(math.floor(math.log10(value)) + 1 - DIGITS)
    return float(f'{math.floor(value / unit + 1e-9) * unit:.{DIGITS}g}')


def joint_limits(joints):
    """Return joint_limits.yaml from the joints of `ga limits --json`."""
    def limits(joint):
        position = {}
        if joint['lower'] is not None:
            position = {'has_position_limits': True,
                        'min_position': math.ceil(1e4 * joint['lower']) / 1e4,
                        'max_position': math.floor(1e4 * joint['upper']) / 1e4}
        return {**position,
                'has_velocity_limits': True, 'max_velocity': rounded_down(joint['velocity']),
                'has_acceleration_limits': True,
                'max_acceleration': rounded_down(min(joint['acceleration'],
                                                     joint['velocity'] / LEAST_TIME))}
    return {'default_velocity_scaling_factor': 0.1, 'default_acceleration_scaling_factor': 0.1,
            'joint_limits': {joint['name']: limits(joint) for joint in joints}}


def about_accelerations(joints):
    """Return the comment on the accelerations of joint_limits.yaml."""
    capped = [f'{joint["name"]} {joint["acceleration"]:.3g}' for joint in joints
              if joint['acceleration'] > joint['velocity'] / LEAST_TIME]
    lines = ['Accelerations: with these no motor needs more than '
             f'{1 - TORQUE_RESERVE:g} of its torque, and no joint reaches its',
             f'velocity limit in less than {LEAST_TIME:g} s.']
    if capped:
        lines[-1] += ' The torques alone would allow: ' + ', '.join(capped) + '.'
        lines.append('Probably the description lacks the inertia of these rotors (describe '
                     '--parameter JOINT.armature=...).')
    return ''.join(f'# {line}\n' for line in lines)


def limits_command(urdf, *ends):
    """Return the command that prints the limits of an arm."""
    return [program('ga_tools', 'ga'), 'limits', urdf, '--json', '--velocity-scale',
            str(VELOCITY_SHARE), '--reserve', str(TORQUE_RESERVE), *ends]


def srdf(name, chain, home, pairs):
    """Return the SRDF; `home` is the pose of that name, `pairs` the tags of pairs of links."""
    group_state = [f'    <joint name={quoteattr(joint)} value="{value:g}"/>'
                   for joint, value in home.items()]
    return '\n'.join([
        '<?xml version="1.0"?>', f'<robot name={quoteattr(name)}>', '  <group name="arm">',
        f'    <chain base_link={quoteattr(chain["base"])} tip_link={quoteattr(chain["tip"])}/>',
        '  </group>', '  <group name="tool">', f'    <link name={quoteattr(chain["tip"])}/>',
        '  </group>',
        f'  <end_effector name="tool" group="tool" parent_link={quoteattr(chain["tip"])} '
        'parent_group="arm"/>',
        '  <group_state name="home" group="arm">', *group_state, '  </group_state>', '',
        '  <!-- `ros2 run ga_motion sample_collisions` has printed these. -->',
        pairs.rstrip('\n'), '</robot>', ''])


def files(name, text, chain, home, ends, default_controller):
    """Return {file name: contents} for a description, as text with its drives.

    chain: of `ga info --json`. home: {joint: position}. ends: options of `ga` for the chain. Raises
    NotPossible.
    """
    try:
        templates = Path(share('puma_moveit_config', 'config'))
        sampler = program('ga_motion', 'sample_collisions')
    except PackageNotFoundError as error:
        raise NotPossible(f'package {error} is not installed')
    with tempfile.NamedTemporaryFile('w', suffix='.urdf') as urdf:
        urdf.write(text)
        urdf.flush()
        pairs = output_of([sampler, urdf.name, '--joints', ','.join(home)])
        limits = json.loads(output_of(limits_command(urdf.name, *ends)))['joints']
    controllers = loaded(templates / 'moveit_controllers.yaml')
    controllers['ga_controllers']['default_controllers'] = [default_controller]
    pipelines = {f'{pipeline}_planning.yaml': loaded(templates / f'{pipeline}_planning.yaml')
                 for pipeline in PIPELINES}
    pipelines['ompl_planning.yaml']['arm']['projection_evaluator'] = (
        'joints(' + ','.join(list(home)[:2]) + ')')
    kinematics = {'arm': {
        'kinematics_solver': CLOSED_FORM if chain['closed_form_kinematics'] else SEARCH,
        'kinematics_solver_search_resolution': 0.005, 'kinematics_solver_timeout': TIMEOUT}}
    contents = {'kinematics.yaml': kinematics, 'joint_limits.yaml': joint_limits(limits),
                'moveit_controllers.yaml': controllers, **pipelines,
                'pilz_cartesian_limits.yaml': loaded(templates / 'pilz_cartesian_limits.yaml')}
    return {f'{name}.srdf': srdf(name, chain, home, pairs),
            **{file: '# Written by `ros2 run puma_bringup describe`. The values are explained in\n'
                     f'# puma_moveit_config/config/{file}\n'
                     + (about_accelerations(limits) if file == 'joint_limits.yaml' else '')
                     + yaml.safe_dump(values, sort_keys=False, width=120)
               for file, values in contents.items()}}
