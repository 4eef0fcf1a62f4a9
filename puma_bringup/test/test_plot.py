# SPDX-License-Identifier: Apache-2.0
"""`ros2 run puma_bringup plot`: a report from a bag, without an arm."""

import math
import os
import re
import subprocess

from control_msgs.msg import DynamicJointState, InterfaceValue
import pytest
from rclpy.serialization import serialize_message
from std_msgs.msg import String

try:
    import rosbag2_py
except ImportError:
    rosbag2_py = None
pytestmark = pytest.mark.skipif(rosbag2_py is None, reason='rosbag2_py is not installed')

PLOT = os.path.join(os.environ['PUMA_BRINGUP_PREFIX'], 'lib', 'puma_bringup', 'plot')
JOINTS = [f'joint{i}' for i in range(1, 7)]
START = [0.0, -1.0, 1.0, 0.0, 0.4, 0.0]


def state(t, error):
    """Return a controller_state: 1 s of motion, then rest; joints in another order."""
    moved = min(t, 1.0)
    message = DynamicJointState(joint_names=JOINTS[::-1])
    message.header.stamp.sec = int(100 + t)
    message.header.stamp.nanosec = int(t % 1 * 1e9)
    for q in START[::-1]:
        values = {'reference.position': q + 0.2 * moved,
                  'reference.velocity': 0.2 if t < 1 else 0.0,
                  'position': q + 0.2 * moved + (error if t < 1 else 0), 'torque.total': 1.0}
        message.interface_values.append(
            InterfaceValue(interface_names=list(values), values=list(values.values())))
    return message


def write_bag(path, topics):
    """Write a bag with these messages: {topic: [(ns, message)]}."""
    writer = rosbag2_py.SequentialWriter()
    writer.open(rosbag2_py.StorageOptions(uri=str(path), storage_id='sqlite3'),
                rosbag2_py.ConverterOptions('', ''))
    for k, (topic, messages) in enumerate(topics.items()):
        kind = 'std_msgs/msg/String' if topic.endswith('description') else \
            'control_msgs/msg/DynamicJointState'
        writer.create_topic(rosbag2_py.TopicMetadata(k, topic, kind, 'cdr'))
        for t, message in messages:
            writer.write(topic, serialize_message(message), t)
    del writer


def plot(*arguments, code=0):
    """Run it."""
    done = subprocess.run([PLOT, *map(str, arguments)], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def states(error):
    """Return messages of 2 s."""
    return [(int(1e9 * (100 + k / 100)), state(k / 100, error)) for k in range(200)]


def test_reports_the_motion_of_every_controller(tmp_path):
    write_bag(tmp_path / 'bag', {'/tracking/controller_state': states(0.001),
                                 '/left/tracking/controller_state': states(0.002),
                                 '/left/point_to_point/controller_state': states(0.004)})
    done = plot(tmp_path / 'bag', '--output', tmp_path / 'report.html')
    rms = dict(re.findall(r'^(Track.*?|Point.*?)  +(\d\S*)', done.stdout, re.MULTILINE))
    assert set(rms) == {'Tracking', 'Tracking (left)', 'Point to point (left)'}
    assert float(rms['Tracking']) == pytest.approx(1.0, rel=0.02)
    assert float(rms['Tracking (left)']) == pytest.approx(2.0, rel=0.02)
    assert float(rms['Point to point (left)']) == pytest.approx(4.0, rel=0.02)
    report = (tmp_path / 'report.html').read_text()
    assert '"frames"' in report
    assert {'tracking', 'left_tracking'} <= set(re.findall(r'"id": *"(\w+)"', report))


def test_takes_the_robot_of_the_bag(tmp_path):
    urdf = '<robot name="r"><link name="a"/></robot>'
    write_bag(tmp_path / 'bag', {'/robot_description': [(1, String(data=urdf))],
                                 '/tracking/controller_state': states(0.001)})
    said = plot(tmp_path / 'bag', '--output', tmp_path / 'report.html', code=2).stderr
    assert "the bag's robot_description" in said, 'without joints it cannot have moved'
    assert 'Traceback' not in said


def test_says_that_another_robot_needs_its_description(tmp_path):
    other = [(t, DynamicJointState(header=m.header, joint_names=[f'a{i}' for i in range(6)],
                                   interface_values=m.interface_values)) for t, m in states(0.001)]
    write_bag(tmp_path / 'bag', {'/tracking/controller_state': other})
    said = plot(tmp_path / 'bag', '--output', tmp_path / 'report.html', code=2).stderr
    assert 'the bag has no robot_description' in said
    assert '--urdf' in said
    assert 'Traceback' not in said


def test_says_that_a_folder_is_no_bag(tmp_path):
    said = plot(tmp_path, code=2).stderr
    assert f'{tmp_path} is not a bag' in said
    assert 'Traceback' not in said


def test_says_that_nothing_moved(tmp_path):
    still = [(k, state(2 + k / 100, math.nan)) for k in range(10)]
    write_bag(tmp_path / 'bag', {'/tracking/controller_state': still})
    assert 'motion' in plot(tmp_path / 'bag', code=2).stderr


def test_says_that_there_is_no_bag(tmp_path):
    assert 'no such bag' in plot(tmp_path / 'nothing', code=2).stderr
