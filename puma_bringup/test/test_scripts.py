# SPDX-License-Identifier: Apache-2.0
"""The scripts of `make`: what they build if something fails, and their progress display."""

import os
from pathlib import Path
import pty
import shutil
import subprocess

SCRIPTS = Path(__file__).resolve().parents[2] / 'scripts'

PACKAGE = """\
<package format="3">
  <name>{name}</name> <version>0.1.0</version> <description>none</description>
  <maintainer email="nobody@example.com">nobody</maintainer> <license>none</license>
  {depend}
  <export><build_type>cmake</build_type></export>
</package>
"""

FIRST = """\
cmake_minimum_required(VERSION 3.22)
project(first LANGUAGES NONE)
install(FILES package.xml DESTINATION share/first)
include(CTest)
if(BUILD_TESTING)
  find_package(what_only_the_tests_need REQUIRED)
endif()
"""

SECOND = """\
cmake_minimum_required(VERSION 3.22)
project(second LANGUAGES NONE)
install(FILES package.xml DESTINATION share/second)
include(CTest)
add_test(NAME passes COMMAND ${CMAKE_COMMAND} -E true)
"""


def workspace(folder):
    """Create a workspace of two packages; the tests of the first cannot be configured."""
    shutil.copytree(SCRIPTS, folder / 'scripts')
    for name, text, depend in (('first', FIRST, ''), ('second', SECOND, '<depend>first</depend>')):
        (folder / name).mkdir()
        (folder / name / 'package.xml').write_text(PACKAGE.format(name=name, depend=depend))
        (folder / name / 'CMakeLists.txt').write_text(text)


def test_a_dependency_of_tests_alone_keeps_no_package_from_being_built(tmp_path):
    workspace(tmp_path)
    done = subprocess.run([tmp_path / 'scripts' / 'test.sh'], env={**os.environ, 'ROS': 'off'},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = done.stdout.splitlines()
    assert done.returncode == 1, done.stdout
    assert 'what_only_the_tests_need' in done.stdout
    assert 'not built: first: build of its tests failed' in lines
    assert 'second: 1 passed, 0 failed, 0 skipped' in lines
    assert lines[-1] == '1 passed, 0 failed, 0 skipped'
    for name in ('first', 'second'):
        assert (tmp_path / 'build/plain/install' / name / 'share' / name / 'package.xml').is_file()


COLCON = """\
Starting >>> one
[  7%] Building CXX
[ 50%] Building CXX
Starting >>> two
[100%] Built
"""


def in_terminal(text, *arguments):
    """Return what progress.sh shows in a terminal."""
    master, slave = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != 'CI'}
    subprocess.run([SCRIPTS / 'progress.sh', *arguments], input=text, stdout=slave, text=True,
                   env=environment, check=True)
    os.close(slave)
    shown = b''
    try:
        while chunk := os.read(master, 10000):
            shown += chunk
    except OSError:  # the end: the terminal is closed
        pass
    os.close(master)
    return shown.decode()


def test_progress_is_plain_lines_without_a_terminal():
    done = subprocess.run([SCRIPTS / 'progress.sh', 'colcon', '2'], input=COLCON,
                          stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0
    assert '\r' not in done.stdout
    lines = [line.split(',')[0] for line in done.stdout.splitlines()]
    assert lines[:2] == ['  one (1 of 2): 0 %', '  two (2 of 2): 0 %']
    assert lines[-1].startswith('  2 of 2 packages in')


def test_progress_is_one_line_in_a_terminal():
    shown = in_terminal(COLCON, 'colcon', '2')
    assert 'one (1 of 2): 50 %' in shown
    assert 'two (2 of 2): 100 %' in shown
    assert shown.count('\n') == 1


def test_progress_of_apt_counts_download_and_installation():
    shown = in_terminal('dlstatus:1:50.0:Retrieving\npmstatus:cmake:50.0:Unpacking\n', 'apt')
    assert 'apt: 25 %' in shown
    assert 'apt: 75 %' in shown
