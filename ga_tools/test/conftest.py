# SPDX-License-Identifier: Apache-2.0
"""Fixtures: small robots, and a sample report."""

import pytest

from ga_bench import (ARMATURE, COULOMB, I1, I2, IYY, L1, L2, LC1, LC2, LENGTH, M1, M2, MASS,
                      VISCOUS, joint, link, robot)
from report_sample import sample_report
from report_tool import run_tool, write_data


@pytest.fixture(scope='session')
def sample():
    return sample_report()


@pytest.fixture(scope='session')
def report(sample, tmp_path_factory):
    folder = tmp_path_factory.mktemp('report')
    page = folder / 'report.html'
    result = run_tool(write_data(folder / 'data.json', sample), '--output', page)
    assert result.returncode == 0, result.stderr
    return page


@pytest.fixture
def pendulum(tmp_path):
    drive = (f'<ros2_control name="c" type="system"><joint name="swing">'
             f'<param name="armature">{ARMATURE}</param></joint></ros2_control>')
    return robot(tmp_path / 'pendulum.urdf', '<link name="base"/>',
                 link('bob', MASS, LENGTH, (0.02, IYY, 0.03)),
                 joint('swing', 'base', 'bob', axis='0 1 0',
                       more=f'<dynamics damping="{VISCOUS}" friction="{COULOMB}"/>'), drive)


@pytest.fixture
def planar(tmp_path):
    return robot(tmp_path / 'planar.urdf', '<link name="base"/>',
                 link('upper', M1, LC1, (I1, I1, I1)), link('fore', M2, LC2, (I2, I2, I2)),
                 '<link name="tool"/>', joint('shoulder', 'base', 'upper'),
                 joint('elbow', 'upper', 'fore', x=L1),
                 joint('flange', 'fore', 'tool', kind='fixed', x=L2))


@pytest.fixture
def six(tmp_path):
    parts = ['<link name="l0"/>']
    for i in range(1, 7):
        limit = '<limit lower="-1" upper="1" velocity="1" effort="9"/>' if i == 3 else ''
        parts.append(link(f'l{i}', 7 - i, 0.1 * i, (0.05, 0.06, 0.07)))
        parts.append(joint(f'j{i}', f'l{i - 1}', f'l{i}', 'prismatic' if i == 3 else 'continuous',
                           x=0.3, rpy=f'{0.5 * i} {0.2 * i} 0.1', more=limit))
    return robot(tmp_path / 'six.urdf', *parts)
