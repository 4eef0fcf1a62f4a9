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
find_package(ga_controllers REQUIRED)
add_executable(foreign main.cpp)
target_link_libraries(foreign PRIVATE ga_controllers::ga_controllers)
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
    assert 'puma560' in shell(f'{program} describe', environment, tmp_path)


def test_a_foreign_project_needs_no_python(environment, tmp_path):
    source = tmp_path / 'foreign'
    source.mkdir()
    (source / 'CMakeLists.txt').write_text(PROJECT)
    (source / 'main.cpp').write_text(PROGRAM)
    environment['CXX'] = os.environ['CXX']
    shell('cmake -S foreign -B build && cmake --build build', environment, tmp_path)
    assert shell(f'build/foreign {ROBOT}', environment, tmp_path) == '6 joints'
