# SPDX-License-Identifier: Apache-2.0
"""Controllers and simulation on other arms: seven joints, and a SCARA."""

import math
import unittest

from action_msgs.msg import GoalStatus
import launch_support
from launch_support import Arm, point, stamp
from puma_bringup import arm_launch

launch_support.isolate(6)

JOINTS = {'scara': ['shoulder', 'elbow', 'quill', 'wrist'],
          'seven_joints': [f'a{i}' for i in range(1, 8)]}
# Way-points, rad, and m for the quill.
PATH = {'scara': [[0.3, -0.6, 0.05, 0.0], [0.8, 0.2, 0.15, 1.0], [1.2, 0.9, 0.02, 2.0]],
        'seven_joints': [[0.0, 0.5, 0.0, -0.9, 0.0, 0.6, 0.0],
                         [0.4, 0.8, 0.3, -0.5, -0.4, 0.9, 0.5],
                         [0.8, 0.4, 0.6, -1.1, -0.8, 0.5, 1.0]]}
SEGMENT = 1.5  # s
# Allowed joint errors, rad or m. The trajectory controller outputs the reference of the next cycle:
# the arm is 1 ms ahead, which is most of the error of the fast joints.
LARGEST, RMS = 2e-3, 1e-3


def arguments(name):
    """Return the launch arguments of an arm."""
    folder = arm_launch.share('puma_bringup', 'examples', name)
    return {'namespace': name, 'description': f'{folder}/{name}.urdf.xacro',
            'controllers_file': f'{folder}/controllers.yaml', 'use_sim_time': 'true'}


def generate_test_description():
    """Start both arms, each with its own namespace and simulated time."""
    return launch_support.arm_description(
        'arm.launch.py', launch_support.included('arm.launch.py', **arguments('seven_joints')),
        **arguments('scara'))


def quintic(a, b, t):
    """Return position, velocity and acceleration between two points of rest, t from 0 to 1."""
    s = t**3 * (10 - 15 * t + 6 * t**2)
    sd = 30 * t**2 * (1 - t)**2 / SEGMENT
    sdd = 60 * t * (1 - 3 * t + 2 * t**2) / SEGMENT**2
    return ([p + (q - p) * s for p, q in zip(a, b)], [(q - p) * sd for p, q in zip(a, b)],
            [(q - p) * sdd for p, q in zip(a, b)])


def motion(path, t):
    """Return the motion along a path at a time."""
    t = min(max(t, 0.0), SEGMENT * (len(path) - 1))
    k = min(int(t / SEGMENT), len(path) - 2)
    return quintic(path[k], path[k + 1], t / SEGMENT - k)


class OtherArms(unittest.TestCase):
    """Each arm separately."""

    def follow(self, name):
        """Follow the path; largest and RMS errors are within bounds."""
        path = PATH[name]
        arm = Arm(name, hardware=name, joints=JOINTS[name])
        self.addCleanup(arm.close)
        arm.wait_for_controllers(tracking='active', tracking_trajectory='active',
                                 gravity_hold='inactive', joint_state_broadcaster='active')
        for q, wanted in zip(arm.positions(), path[0]):
            self.assertAlmostEqual(q, wanted, delta=1e-3)
        count = round(SEGMENT * (len(path) - 1) / 0.05)
        points = [point(0.05 * k, *motion(path, 0.05 * k)) for k in range(1, count + 1)]
        arm.record()
        goal, start = arm.goal(points, delay=0.5)
        handle = arm.send('tracking_trajectory', goal)
        self.assertIsNotNone(handle, 'the goal is rejected')
        status, code, message = arm.result(handle)
        self.assertEqual(status, GoalStatus.STATUS_SUCCEEDED, f'{code} {message}')
        errors = [[q - r for q, r in zip(state.position, motion(path, stamp(state) - start)[0])]
                  for state in arm.recorded() if 0 <= stamp(state) - start <= 0.05 * count]
        self.assertGreater(len(errors), 0.3 * 1000 * 0.05 * count)  # of one per millisecond
        largest = [max(abs(e[i]) for e in errors) for i in range(len(path[0]))]
        rms = [math.sqrt(sum(e[i]**2 for e in errors) / len(errors)) for i in range(len(path[0]))]
        for joint, peak, mean in zip(JOINTS[name], largest, rms):
            print(f'{name} {joint:9} error {1e3 * peak:.3f} at most, {1e3 * mean:.3f} RMS'
                  ' (mrad, mm)')
        self.assertLess(max(largest), LARGEST)
        self.assertLess(max(rms), RMS)
        for q, wanted in zip(arm.positions(), path[-1]):
            self.assertAlmostEqual(q, wanted, delta=1e-3)
        self.assertEqual(arm.hardware_state(), 'active')

    def test_seven_joints(self):
        """A redundant arm of seven joints."""
        self.follow('seven_joints')

    def test_scara(self):
        """A SCARA: a prismatic joint with gravity load, a joint without position limits."""
        self.follow('scara')


AfterShutdown = launch_support.AfterShutdown
