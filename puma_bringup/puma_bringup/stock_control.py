# SPDX-License-Identifier: Apache-2.0
"""Stock trajectory controller with joint PIDs, for comparison with computed torque."""

import os
import subprocess
import xml.etree.ElementTree as ElementTree

from puma_bringup.arm_launch import program, share

KIND = 'joint_trajectory_controller/JointTrajectoryController'


def inertia_at(urdf, q, *options):
    """Return the diagonal of the joint-space inertia matrix with drives, kg m² or kg.

    options: of `ga`, which select the chain.
    """
    text = ','.join(map(str, q))
    done = subprocess.run([program('ga_tools', 'ga'), 'inertia', urdf, '--states', '-',
                           '--drives', '--quiet', *options],
                          input=text, check=True, capture_output=True, text=True)
    matrix = list(map(float, done.stdout.splitlines()[-1].split(',')))
    return matrix[::len(q) + 1]


def effort_limits(urdf):
    """Return the effort limits of a description by joint name."""
    return {joint.get('name'): float(joint.find('limit').get('effort'))
            for joint in ElementTree.parse(urdf).getroot().iter('joint')
            if joint.find('limit') is not None}


def write_parameters(folder, name, joints, pose, bandwidth, integral):
    """Write the parameters of joint PIDs of this bandwidth [rad/s] at a pose; return the file.

    Critically damped, with the gains of a computed-torque law of that bandwidth at the pose.
    Without `integral` they are PDs.
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
