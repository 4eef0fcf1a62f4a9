# SPDX-License-Identifier: Apache-2.0
"""The adapters from a foreign CMake project, and find_package() without their libraries."""

import os
from pathlib import Path
import subprocess

SOURCE = Path(os.environ['GA_SOURCE'])
ADAPTERS = ('eigen', 'kdl', 'urdfdom')

PROJECT = """\
cmake_minimum_required(VERSION 3.22)
project(foreign LANGUAGES CXX)
find_package(ga_dynamics 0.1 REQUIRED)
foreach(adapter eigen kdl urdfdom)
  if(NOT TARGET ga_dynamics::${adapter})
    message(STATUS "no ${adapter}")
    continue()
  endif()
  add_executable(${adapter}_example EXAMPLES/${adapter}_example.cpp)
  target_link_libraries(${adapter}_example PRIVATE ga_dynamics::${adapter})
endforeach()
if(TARGET urdfdom_example)
  find_package(urdfdom REQUIRED)
  target_include_directories(urdfdom_example PRIVATE ${urdfdom_INCLUDE_DIRS})
  target_link_libraries(urdfdom_example PRIVATE ${urdfdom_LIBRARIES})
endif()
"""


def configure(folder, *settings):
    (folder / 'CMakeLists.txt').write_text(PROJECT.replace('EXAMPLES', str(SOURCE / 'examples')))
    return subprocess.run(['cmake', '-S', folder, '-B', folder / 'build', '-G', 'Unix Makefiles',
                           f'-DCMAKE_PREFIX_PATH={os.environ["GA_PREFIX"]}',
                           f'-DCMAKE_CXX_COMPILER={os.environ["CXX"]}', *settings],
                          check=True, capture_output=True, text=True).stdout


def test_a_foreign_project_uses_the_adapters(tmp_path):
    assert '-- no ' not in configure(tmp_path)
    subprocess.run(['cmake', '--build', tmp_path / 'build'], check=True, capture_output=True)
    for adapter in ADAPTERS:
        program = tmp_path / 'build' / f'{adapter}_example'
        printed = subprocess.run([program, os.environ['GA_ROBOT']], check=True,
                                 capture_output=True, text=True).stdout
        assert printed in (SOURCE / 'README.md').read_text()


def test_the_package_is_found_without_the_adapters_libraries(tmp_path):
    missing = [f'-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON'
               for name in ('Eigen3', 'orocos_kdl', 'urdfdom_headers')]
    printed = configure(tmp_path, *missing)
    for adapter in ADAPTERS:
        assert f'-- no {adapter}' in printed
