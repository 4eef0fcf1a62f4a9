# SPDX-License-Identifier: Apache-2.0
"""What the computed-torque controllers are compared with: the stock trajectory controller's PID."""

import os
import subprocess
import xml.etree.ElementTree as ElementTree

from puma_bringup.arm_launch import program, share

KIND = 'joint_trajectory_controller/JointTrajectoryController'


def inertia_at(urdf, q, *options):
    """Return what every joint of an arm has to accelerate at a pose, drives included, kg m² or kg.

    options: of `ga`, which say where the arm begins and ends.
    """
    text = ','.join(map(str, q))
    done = subprocess.run([program('ga_tools', 'ga'), 'inertia', urdf, '--states', '-',
                           '--drives', '--quiet', *options],
                          input=text, check=True, capture_output=True, text=True)
    matrix = list(map(float, done.stdout.splitlines()[-1].split(',')))
    return matrix[::len(q) + 1]


def effort_limits(urdf):
    """Return the effort limits of a description by the joints' names."""
    return {joint.get('name'): float(joint.find('limit').get('effort'))
            for joint in ElementTree.parse(urdf).getroot().iter('joint')
            if joint.find('limit') is not None}


def write_parameters(folder, name, joints, pose, bandwidth, integral):
    """Write the parameters of an effort PID of a bandwidth [rad/s] around a pose; the file.

    It has the gains that a computed-torque law of that bandwidth has at the pose, joint by joint,
    and knows nothing else of the arm. Critically damped; without the integral a PD.
    """
    urdf = share('puma_description', 'urdf', 'puma560.urdf')
    limits = effort_limits(urdf)
    lines = [
        f'/**/{name}:', '  ros__parameters:', f'    type: {KIND}',
        f'    joints: [{", ".join(joints)}]',
        '    command_interfaces: [effort]', '    state_interfaces: [position, velocity]',
        '    allow_nonzero_velocity_at_trajectory_end: false',
        '    constraints: {stopped_velocity_tolerance: 0.1, goal_time: 5.0}', '    gains:']
    for joint, inertia in zip(joints, inertia_at(urdf, pose)):
        limit = limits[joint]
        p, d = bandwidth**2 * inertia, 2 * bandwidth * inertia
        i = bandwidth**3 / 4 * inertia if integral else 0.0
        lines.append(f'      {joint}: {{p: {p:.1f}, i: {i:.1f}, d: {d:.2f}, u_clamp_max: {limit},'
                     f' u_clamp_min: {-limit}, i_clamp_max: {limit}, i_clamp_min: {-limit},'
                     ' antiwindup_strategy: conditional_integration}')
    path = os.path.join(folder, name + '.yaml')
    with open(path, 'w') as file:
        file.write('\n'.join(lines) + '\n')
    return path
