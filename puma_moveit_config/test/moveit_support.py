# SPDX-License-Identifier: Apache-2.0
"""Client of move_group and of the arm that it moves, for the launch tests."""

import math
import os
from pathlib import Path
import time
import xml.etree.ElementTree as ElementTree

from control_msgs.msg import JointTrajectoryControllerState
from geometry_msgs.msg import Point, Pose, Quaternion
from launch.actions import IncludeLaunchDescription, SetEnvironmentVariable
from launch.launch_description_sources import PythonLaunchDescriptionSource
import launch_support
from launch_support import Arm, ArmTest, JOINTS, PATIENCE, stamp
import launch_testing.actions
from moveit_msgs.action import ExecuteTrajectory, MoveGroup
from moveit_msgs.msg import BoundingVolume, CollisionObject, Constraints, JointConstraint
from moveit_msgs.msg import MoveItErrorCodes, OrientationConstraint, PlanningScene
from moveit_msgs.msg import PlanningSceneComponents, PositionConstraint, RobotState
from moveit_msgs.srv import ApplyPlanningScene, GetPlanningScene, GetPositionFK, GetStateValidity
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from shape_msgs.msg import SolidPrimitive

CONFIG = Path(__file__).resolve().parents[1] / 'config'
TIP = 'tool0'
# s; a goal succeeds within the tolerance of the trajectory controller, while time scaling may be
# some milliseconds behind its trajectory
SETTLING = 0.2
Code = MoveItErrorCodes


def named_poses():
    """Return {name: positions} of the SRDF."""
    root = ElementTree.parse(CONFIG / 'puma560.srdf').getroot()
    poses = {}
    for state in root.findall('group_state'):
        values = {joint.get('name'): float(joint.get('value')) for joint in state}
        poses[state.get('name')] = [values[joint] for joint in JOINTS]
    return poses


POSES = named_poses()


def moveit_description(**arguments):
    """Return the test description of moveit.launch.py with these arguments."""
    from launch import LaunchDescription
    names = ('ROS_DOMAIN_ID', 'ROS_AUTOMATIC_DISCOVERY_RANGE', 'CYCLONEDDS_URI')
    file = launch_support.arm_launch.share('puma_moveit_config', 'launch', 'moveit.launch.py')
    return LaunchDescription([
        *[SetEnvironmentVariable(name, os.environ[name]) for name in names],
        IncludeLaunchDescription(PythonLaunchDescriptionSource(file),
                                 launch_arguments=arguments.items()),
        launch_testing.actions.ReadyToTest()])


def joint_goal(q, tolerance=1e-4, joints=JOINTS):
    """Return the constraints of joint positions."""
    return Constraints(joint_constraints=[
        JointConstraint(joint_name=joint, position=x, tolerance_above=tolerance,
                        tolerance_below=tolerance, weight=1.0) for joint, x in zip(joints, q)])


def pose_goal(pose, tolerance=1e-4, tip=TIP, frame='base_link'):
    """Return the constraints of a pose of the tool."""
    ball = SolidPrimitive(type=SolidPrimitive.SPHERE, dimensions=[tolerance])
    position = PositionConstraint(link_name=tip, weight=1.0)
    position.header.frame_id = frame
    position.constraint_region = BoundingVolume(
        primitives=[ball],
        primitive_poses=[Pose(position=pose.position, orientation=Quaternion(w=1.0))])
    orientation = OrientationConstraint(
        link_name=tip, orientation=pose.orientation, weight=1.0, absolute_x_axis_tolerance=1e-3,
        absolute_y_axis_tolerance=1e-3, absolute_z_axis_tolerance=1e-3)
    orientation.header.frame_id = frame
    return Constraints(position_constraints=[position], orientation_constraints=[orientation])


def box(name, size, xyz):
    """Return a box for the planning scene; without a size, its removal."""
    thing = CollisionObject(id=name)
    thing.header.frame_id = 'base_link'
    if not size:
        thing.operation = CollisionObject.REMOVE
        return thing
    thing.operation = CollisionObject.ADD
    thing.pose = Pose(position=Point(x=xyz[0], y=xyz[1], z=xyz[2]), orientation=Quaternion(w=1.0))
    thing.primitives = [SolidPrimitive(type=SolidPrimitive.BOX, dimensions=list(size))]
    thing.primitive_poses = [Pose(orientation=Quaternion(w=1.0))]
    return thing


def distance(a, b):
    """Return the largest difference."""
    return max(abs(x - y) for x, y in zip(a, b))


class MoveIt(Arm):
    """Client of move_group and of its arm."""

    def __init__(self, joints=JOINTS, **arguments):
        """Connect."""
        super().__init__(joints=joints, **arguments)
        self.move_client = ActionClient(self.node, MoveGroup, 'move_action')
        self.execute_client = ActionClient(self.node, ExecuteTrajectory, 'execute_trajectory')

    def wait_for_move_group(self):
        """Wait until it serves."""
        for client in (self.move_client, self.execute_client):
            if not client.wait_for_server(timeout_sec=PATIENCE):
                raise TimeoutError('move_group: its actions are not available')

    # --- planning

    def goal(self, constraints, plan_only=False, speed=1.0, pipeline='', planner='', seconds=5.0,
             start=None):
        """Return a goal of move_group."""
        goal = MoveGroup.Goal()
        request = goal.request
        request.group_name = 'arm'
        request.goal_constraints = [constraints]
        request.pipeline_id, request.planner_id = pipeline, planner
        request.num_planning_attempts, request.allowed_planning_time = 1, seconds
        request.max_velocity_scaling_factor = request.max_acceleration_scaling_factor = speed
        request.start_state = self.state_of(start) if start else RobotState(is_diff=True)
        goal.planning_options.plan_only = plan_only
        goal.planning_options.planning_scene_diff.is_diff = True
        goal.planning_options.planning_scene_diff.robot_state.is_diff = True
        return goal

    def state_of(self, q):
        """Return a state of the arm."""
        return RobotState(joint_state=JointState(name=self.joints, position=list(q)))

    def begin(self, constraints, **options):
        """Send a goal; return its handle."""
        goal = constraints if isinstance(constraints, MoveGroup.Goal) else self.goal(constraints,
                                                                                     **options)
        handle = self.wait(self.move_client.send_goal_async(goal), 'goal of move_group')
        assert handle.accepted
        return handle

    def end(self, handle, patience=PATIENCE):
        """Wait for the end of a goal; return its result."""
        return self.wait(handle.get_result_async(), 'result of move_group', patience).result

    def plan_and_move(self, constraints, **options):
        """Plan and execute; return the result and how long that took in real time."""
        began = time.monotonic()
        result = self.end(self.begin(constraints, **options))
        return result, time.monotonic() - began

    def begin_trajectory(self, trajectory):
        """Send a trajectory to be executed; return the handle of the goal."""
        goal = ExecuteTrajectory.Goal(trajectory=trajectory)
        handle = self.wait(self.execute_client.send_goal_async(goal), 'trajectory of move_group')
        assert handle.accepted
        return handle

    # --- scene and states

    def put(self, *objects):
        """Change objects of the planning scene."""
        scene = PlanningScene(is_diff=True)
        scene.robot_state.is_diff = True
        scene.world.collision_objects = list(objects)
        answer = self.call(ApplyPlanningScene, 'apply_planning_scene',
                           ApplyPlanningScene.Request(scene=scene))
        assert answer.success

    def objects(self):
        """Return the names of the objects of the planning scene."""
        request = GetPlanningScene.Request()
        request.components.components = PlanningSceneComponents.WORLD_OBJECT_NAMES
        answer = self.call(GetPlanningScene, 'get_planning_scene', request)
        return [thing.id for thing in answer.scene.world.collision_objects]

    def contacts(self, q):
        """Return the pairs in contact at a posture."""
        answer = self.call(GetStateValidity, 'check_state_validity', GetStateValidity.Request(
            robot_state=self.state_of(q), group_name='arm'))
        if answer.valid:
            return []
        return [f'{c.contact_body_1} - {c.contact_body_2}' for c in answer.contacts] or ['unknown']

    def pose(self, q, tip=TIP, frame='base_link'):
        """Return the pose of the tool at a posture."""
        request = GetPositionFK.Request(fk_link_names=[tip], robot_state=self.state_of(q))
        request.header.frame_id = frame
        answer = self.call(GetPositionFK, 'compute_fk', request)
        assert answer.error_code.val == Code.SUCCESS
        return answer.pose_stamped[0].pose

    def errors(self, controller):
        """Record the tracking errors of a trajectory controller; return them as they grow."""
        found = []
        self.node.create_subscription(
            JointTrajectoryControllerState, f'{self.prefix}/{controller}/controller_state',
            lambda message: found.append((stamp(message), list(message.error.positions))), 1000)
        return found

    def rest(self, seconds):
        """Wait in the time of the arm."""
        end = self.now() + seconds
        self.until(lambda: self.now() > end, 'time passes')


def xyz(pose):
    """Return the position of a pose."""
    return (pose.position.x, pose.position.y, pose.position.z)


def off_line(point, start, end):
    """Return the distance of a point from the straight line between two others."""
    along = [b - a for a, b in zip(start, end)]
    length = math.sqrt(sum(x * x for x in along))
    share = sum((p - a) * x for p, a, x in zip(point, start, along)) / length**2
    return math.dist(point, [a + share * x for a, x in zip(start, along)])


def off_path(q, path):
    """Return the distance of a posture from the chords between those of a path."""
    return min(off_chord(q, a, b) for a, b in zip(path, path[1:]))


def off_chord(q, a, b):
    """Return the distance from a chord."""
    along = [y - x for x, y in zip(a, b)]
    squares = sum(x * x for x in along)
    share = sum((p - x) * d for p, x, d in zip(q, a, along)) / squares if squares > 0 else 0.0
    share = min(max(share, 0.0), 1.0)
    return math.dist(q, [x + share * d for x, d in zip(a, along)])


class MoveItTest(ArmTest):
    """Tests of an arm under MoveIt; begins when it can plan."""

    CHAIN = ['tracking_integral', 'tracking_integral_trajectory']

    @classmethod
    def setUpClass(cls):
        """Connect to arm and MoveIt."""
        cls.arm = MoveIt()
        cls.arm.wait_for_move_group()
        cls.arm.wait_for_controllers(**{name: 'active' for name in cls.CHAIN})
        cls.arm.until(lambda: 'floor' in cls.arm.objects(), 'the floor')

    def assert_moved(self, result, goal=None, within=3e-3):
        """The motion has succeeded and the arm is at this posture, or arrives in SETTLING."""
        self.assertEqual(result.error_code.val, Code.SUCCESS, result.error_code)
        end = self.arm.now() + SETTLING
        while goal is not None and distance(self.arm.positions(), goal) >= within:
            self.assertLess(self.arm.now(), end, distance(self.arm.positions(), goal))

    def move(self, constraints, goal=None, within=3e-3, **options):
        """Plan and execute, check the result and that nothing touches; return result, states."""
        self.arm.record()
        result, seconds = self.arm.plan_and_move(constraints, **options)
        states = self.arm.recorded()
        self.assert_moved(result, goal, within)
        self.assert_free(states)
        return result, states, seconds

    def assert_free(self, states, samples=25):
        """At none of these joint states anything touches."""
        for k in range(0, len(states), max(1, len(states) // samples)):
            self.assertEqual(self.arm.contacts(states[k].position), [])

    def assert_still(self, seconds=1.0, within=1e-3):
        """The arm does not move in this time."""
        before, end = self.arm.positions(), self.arm.now() + seconds
        while self.arm.now() < end:
            self.assertLess(distance(self.arm.positions(), before), within)
            time.sleep(0.01)
