# SPDX-License-Identifier: Apache-2.0
"""URDFs of well-known arms from published parameters, without drive data and meshes.

The trees have the features of the public descriptions: a `world` link, massless frames beside and
behind the flange, a hand with two fingers.

Sources of the parameters, rounded: the UR10e of ROS-Industrial's universal_robot, the KUKA LBR iiwa
14 R820 of Drake, and a Panda with masses of the public robot-assets collection.
"""

from math import pi


class Body:
    """A link: mass in kg, center of mass in m, inertia about it in kg m²."""

    def __init__(self, mass, center, xx, yy, zz, xy=0, xz=0, yz=0):
        self.mass, self.center = mass, center
        self.inertia = {'ixx': xx, 'ixy': xy, 'ixz': xz, 'iyy': yy, 'iyz': yz, 'izz': zz}


class Moving:
    """A joint about (or along) an axis of its own frame, and the body that it moves."""

    def __init__(self, xyz, rpy, lower, upper, effort, velocity, body, axis=(0, 0, 1),
                 kind='revolute'):
        self.xyz, self.rpy, self.body, self.axis, self.kind = xyz, rpy, body, axis, kind
        self.limits = {'lower': lower, 'upper': upper, 'effort': effort, 'velocity': velocity}


def numbers(values):
    """Return numbers as the text of an attribute."""
    return ' '.join(f'{value:.6g}' for value in values)


def link_text(name, body=None):
    """Return a link."""
    if body is None:
        return f'<link name="{name}"/>\n'
    inertia = ' '.join(f'{key}="{value:.6g}"' for key, value in body.inertia.items())
    return (f'<link name="{name}"><inertial><origin xyz="{numbers(body.center)}"/>'
            f'<mass value="{body.mass:.6g}"/><inertia {inertia}/></inertial></link>\n')


def joint_text(name, parent, child, moving=None, xyz=(0, 0, 0), rpy=(0, 0, 0)):
    """Return a joint, fixed without `moving`."""
    if moving:
        limits = ' '.join(f'{key}="{value:.6g}"' for key, value in moving.limits.items())
        kind, xyz, rpy = moving.kind, moving.xyz, moving.rpy
        inside = f'<axis xyz="{numbers(moving.axis)}"/><limit {limits}/>'
    else:
        kind, inside = 'fixed', ''
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{numbers(xyz)}" rpy="{numbers(rpy)}"/>{inside}</joint>\n')


def arm_text(name, base, joints, others):
    """Return the URDF of an arm of link0 to linkN below `base`; `others` is further text."""
    text = link_text(base) + link_text('link0') + joint_text('mounting', base, 'link0')
    for i, moving in enumerate(joints, 1):
        text += link_text(f'link{i}', moving.body)
        text += joint_text(f'joint{i}', f'link{i - 1}', f'link{i}', moving)
    return f'<?xml version="1.0"?>\n<robot name="{name}">\n{text}{others}</robot>\n'


def ur10e():
    """Six joints. Frames beside the base (`base`) and behind the wrist (`flange`, `tool0`)."""
    turn = 2 * pi
    joints = [
        Moving((0, 0, 0.1807), (0, 0, 0), -turn, turn, 330, 2.0944,
               Body(7.778, (0, 0, 0), 0.03147, 0.03147, 0.02188)),
        Moving((0, 0, 0), (pi / 2, 0, 0), -turn, turn, 330, 2.0944,
               Body(12.93, (-0.306, 0, 0.175), 0.03637, 0.42175, 0.42175)),
        Moving((-0.6127, 0, 0), (0, 0, 0), -pi, pi, 150, pi,
               Body(3.87, (-0.28578, 0, 0.0393), 0.01088, 0.11079, 0.11079)),
        Moving((-0.57155, 0, 0.17415), (0, 0, 0), -turn, turn, 56, pi,
               Body(1.96, (0, 0, 0), 0.00511, 0.00511, 0.00551)),
        Moving((0, -0.11985, 0), (pi / 2, 0, 0), -turn, turn, 56, pi,
               Body(1.96, (0, 0, 0), 0.00511, 0.00511, 0.00551)),
        Moving((0, 0.11655, 0), (-pi / 2, 0, 0), -turn, turn, 56, pi,
               Body(0.202, (0, 0, -0.025), 0.000144, 0.000144, 0.000205)),
    ]
    others = (link_text('base') + joint_text('base_frame', 'base_link', 'base', rpy=(0, 0, pi))
              + link_text('flange') + joint_text('flange_frame', 'link6', 'flange')
              + link_text('tool0') + joint_text('tool_frame', 'flange', 'tool0'))
    return arm_text('ur10e', 'base_link', joints, others)


def iiwa14():
    """Seven joints."""
    joints = [
        Moving((0, 0, 0.1575), (0, 0, 0), -2.967, 2.967, 320, 1.484,
               Body(5.76, (0, -0.03, 0.12), 0.033, 0.0333, 0.0123)),
        Moving((0, 0, 0.2025), (pi / 2, 0, pi), -2.094, 2.094, 320, 1.484,
               Body(6.35, (0.0003, 0.059, 0.042), 0.0305, 0.0304, 0.011)),
        Moving((0, 0.2045, 0), (pi / 2, 0, pi), -2.967, 2.967, 176, 1.745,
               Body(3.5, (0, 0.03, 0.13), 0.025, 0.0238, 0.0076)),
        Moving((0, 0, 0.2155), (pi / 2, 0, 0), -2.094, 2.094, 176, 1.309,
               Body(3.5, (0, 0.067, 0.034), 0.017, 0.0164, 0.006)),
        Moving((0, 0.1845, 0), (-pi / 2, pi, 0), -2.967, 2.967, 110, 2.269,
               Body(3.5, (0.0001, 0.021, 0.076), 0.01, 0.0087, 0.00449)),
        Moving((0, 0, 0.2155), (pi / 2, 0, 0), -2.094, 2.094, 40, 2.356,
               Body(1.8, (0, 0.0006, 0.0004), 0.0049, 0.0047, 0.0036)),
        Moving((0, 0.081, 0), (-pi / 2, pi, 0), -3.054, 3.054, 40, 2.356,
               Body(1.2, (0, 0, 0.02), 0.001, 0.001, 0.001)),
    ]
    others = (link_text('link_ee') + joint_text('ee_frame', 'link7', 'link_ee', xyz=(0, 0, 0.045)))
    return arm_text('iiwa14', 'world', joints, others)


def panda_with_hand():
    """Seven joints and a hand whose two fingers move in parallel; a frame beside the hand."""
    joints = [
        Moving((0, 0, 0.333), (0, 0, 0), -2.8973, 2.8973, 87, 2.175,
               Body(2.74, (0, -0.0325, -0.06758), 0.01804, 0.01591, 0.00621, yz=0.00468)),
        Moving((0, 0, 0), (-pi / 2, 0, 0), -1.7628, 1.7628, 87, 2.175,
               Body(2.74, (0, -0.06861, 0.03223), 0.01829, 0.00621, 0.01615, yz=-0.00473)),
        Moving((0, -0.316, 0), (pi / 2, 0, 0), -2.8973, 2.8973, 87, 2.175,
               Body(2.38, (0.04699, 0.03164, -0.0317), 0.00771, 0.00989, 0.00812, -0.00248,
                    -0.00332, -0.00218)),
        Moving((0.0825, 0, 0), (pi / 2, 0, 0), -3.0718, -0.0698, 87, 2.175,
               Body(2.38, (-0.03604, 0.03369, 0.03188), 0.008, 0.00825, 0.01025, 0.00347,
                    -0.00241, 0.00236)),
        Moving((-0.0825, 0.384, 0), (-pi / 2, 0, 0), -2.8973, 2.8973, 12, 2.61,
               Body(2.74, (0, 0.06104, -0.10418), 0.03037, 0.02888, 0.00444, yz=-0.00776)),
        Moving((0, 0, 0), (pi / 2, 0, 0), -0.0175, 3.7525, 12, 2.61,
               Body(1.55, (0.05105, 0.00911, 0.01063), 0.00303, 0.00404, 0.00558, -0.00044,
                    0.00063, 0.00013)),
        Moving((0.088, 0, 0), (pi / 2, 0, 0), -2.8973, 2.8973, 12, 2.61,
               Body(0.54, (0.01097, 0.0108, 0.06504), 0.00089, 0.00089, 0.00072, -0.00012,
                    0.00004, -0.00009)),
    ]
    others = (link_text('link8') + joint_text('flange', 'link7', 'link8', xyz=(0, 0, 0.107))
              + link_text('hand', Body(0.73, (0, 0.0015, 0.0276), 0.00279, 0.0004, 0.00256))
              + joint_text('hand_joint', 'link8', 'hand', rpy=(0, 0, -pi / 4)))
    for name, sign in (('left', 1), ('right', -1)):
        finger = Moving((0, 0, 0.0584), (0, 0, 0), 0, 0.04, 20, 0.3,
                        Body(0.1, (0, sign * 0.0146, 0.0228), 3.0e-5, 2.96e-5, 6.95e-6),
                        (0, sign, 0), 'prismatic')
        others += link_text(f'{name}_finger', finger.body)
        others += joint_text(f'{name}_finger_joint', 'hand', f'{name}_finger', finger)
    others += link_text('tool_frame')
    others += joint_text('tool_frame_joint', 'link7', 'tool_frame', xyz=(0, 0, 0.21))
    return arm_text('panda', 'world', joints, others)
