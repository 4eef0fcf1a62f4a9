# SPDX-License-Identifier: Apache-2.0
"""What the workspace installs, as a user meets it: commands on the PATH, packages for CMake."""

import os
from pathlib import Path
import subprocess

import pytest

PREFIX = Path(os.environ['PUMA_PREFIX'])
WORKSPACE = PREFIX.parent
ROBOT = Path(__file__).parents[2] / 'puma_description' / 'urdf' / 'puma560.urdf'

PROJECT = """\
cmake_minimum_required(VERSION 3.22)
project(foreign LANGUAGES CXX)
find_package({package} 0.1 REQUIRED)
add_executable(foreign main.cpp)
target_link_libraries(foreign PRIVATE {package}::{package})
"""

PROGRAM = """\
#include <cstdio>
#include <ga_controllers/control_law.hpp>
#include <ga_dynamics/chain.hpp>

int main(int, char** arguments) {
  const auto chain = ga_dynamics::Chain::from_urdf_file(arguments[1]);
  ga_controllers::LawParameters parameters;
  parameters.gains.assign(chain.joints().size(), {.kp = 1600, .kd = 80});
  const ga_controllers::ControlLaw law(chain, parameters);
  std::printf("%zu joints", chain.joints().size());
}
"""

# Each library, and the packages whose prefixes a project that uses it needs.
LIBRARIES = {
    'ga_dynamics': ['ga_dynamics'],
    'ga_motion': ['ga_motion', 'ga_dynamics'],
    'ga_controllers': ['ga_controllers', 'ga_dynamics'],
    'ga_hardware': ['ga_hardware', 'ga_controllers', 'ga_dynamics'],
}
# What none of them passes on: ROS 2 and the libraries that are used inside.
INSIDE = ['/opt/ros', 'rclcpp', 'kdl', 'eigen', 'boost', 'cli11', 'tinyxml2', 'ga_tools', 'puma']


@pytest.fixture
def environment(tmp_path):
    """Return a user's environment, in which another Python comes first in the PATH."""
    folder = tmp_path / 'bin'
    folder.mkdir()
    for name in ('python', 'python3'):
        foreign = folder / name
        foreign.write_text('#!/bin/sh\necho "No module named ament_package" >&2\nexit 1\n')
        foreign.chmod(0o755)
    return {'PATH': f'{folder}:/usr/bin:/bin', 'HOME': str(tmp_path)}


def shell(command, environment, folder):
    """Run a command after the workspace's setup file."""
    script = f'. {WORKSPACE}/local_setup.bash\n{command}'
    done = subprocess.run(['bash', '-c', script], env=environment, cwd=folder,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ''
    return done.stdout


@pytest.mark.parametrize('command', ['ga', 'puma'])
def test_the_commands_are_on_the_path(command, environment, tmp_path):
    assert 'Usage' in shell(f'{command} --help', environment, tmp_path)
    assert str(WORKSPACE) in shell(f'command -v {command}', environment, tmp_path)


def test_ros2_run_finds_the_same_program(environment, tmp_path):
    program = PREFIX / 'lib' / 'puma_hardware' / 'puma'
    assert program.resolve() == PREFIX / 'bin' / 'puma'
    assert 'puma560' in shell(f'{program} urdf', environment, tmp_path)


def test_a_foreign_project_needs_no_python(environment, tmp_path):
    source = tmp_path / 'foreign'
    source.mkdir()
    (source / 'CMakeLists.txt').write_text(PROJECT.format(package='ga_controllers'))
    (source / 'main.cpp').write_text(PROGRAM)
    environment['CXX'] = os.environ['CXX']
    shell('cmake -S foreign -B build && cmake --build build', environment, tmp_path)
    assert shell(f'build/foreign {ROBOT}', environment, tmp_path) == '6 joints'


def configure(package, version, environment, folder):
    """Configure a project with the first example of a package, in an otherwise empty world."""
    source = folder / 'foreign'
    source.mkdir()
    (source / 'CMakeLists.txt').write_text(
        PROJECT.format(package=package).replace('0.1', version))
    example = Path(__file__).parents[2] / package / 'examples' / 'first_example.cpp'
    (source / 'main.cpp').write_text(example.read_text())
    prefixes = ';'.join(str(WORKSPACE / needed) for needed in LIBRARIES[package])
    return subprocess.run(['cmake', '-S', source, '-B', folder / 'build', '-G', 'Unix Makefiles',
                           f'-DCMAKE_PREFIX_PATH={prefixes}',
                           f'-DCMAKE_CXX_COMPILER={os.environ["CXX"]}'],
                          env=environment, capture_output=True, text=True)


@pytest.mark.parametrize('package', LIBRARIES)
def test_a_foreign_project_needs_one_library_and_those_below_it(package, environment, tmp_path):
    done = configure(package, '0.1', environment, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    build = tmp_path / 'build'
    done = subprocess.run(['cmake', '--build', build], env=environment, capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    rules = build / 'CMakeFiles' / 'foreign.dir'
    for file in (rules / 'link.txt', rules / 'flags.make'):
        text = file.read_text().replace(str(WORKSPACE), '').replace(str(tmp_path), '').lower()
        assert not [name for name in INSIDE if name in text], text
    if len(LIBRARIES[package]) > 1:  # the setup file's part; a single library is found without
        environment['LD_LIBRARY_PATH'] = ':'.join(
            str(WORKSPACE / needed / 'lib') for needed in LIBRARIES[package])
    done = subprocess.run([build / 'foreign', ROBOT], env=environment, capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout != ''


@pytest.mark.parametrize('package', LIBRARIES)
def test_a_later_version_is_refused(package, environment, tmp_path):
    done = configure(package, '99.0', environment, tmp_path)
    assert done.returncode != 0
    assert '99.0' in done.stderr and '0.1.0' in done.stderr
