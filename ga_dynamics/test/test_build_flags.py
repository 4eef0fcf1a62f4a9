# SPDX-License-Identifier: Apache-2.0
"""Flags that would remove the checks for values that are not finite are refused."""

import os
import subprocess
import sys

import pytest

SETTINGS = os.path.join(os.environ['GA_SOURCE'], 'cmake', 'ga_build_settings.cmake')


def configure(folder, *arguments):
    """A project without a language: only what stands before the search for tools is of interest."""
    (folder / 'CMakeLists.txt').write_text(
        'cmake_minimum_required(VERSION 3.22)\nproject(probe LANGUAGES NONE)\n'
        f'include({SETTINGS})\nmessage(STATUS "settings read")\n')
    python = f'-DPython3_EXECUTABLE={sys.executable}'
    return subprocess.run([os.environ['GA_CMAKE'], '-S', folder, '-B', folder / 'build', python,
                           *arguments], capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize('argument, flag', [
    ('-DCMAKE_CXX_FLAGS=-O2 -ffast-math', '-ffast-math'),
    ('-DCMAKE_CXX_FLAGS=-ffinite-math-only', '-ffinite-math-only'),
    ('-DCMAKE_CXX_FLAGS_RELEASE=-Ofast -DNDEBUG', '-Ofast')])
def test_refused(tmp_path, argument, flag):
    result = configure(tmp_path, argument)
    assert result.returncode != 0
    assert f'{flag} in the compiler flags removes the checks' in ' '.join(result.stderr.split())


def test_others_are_accepted(tmp_path):
    result = configure(tmp_path, '-DCMAKE_CXX_FLAGS=-O2 -march=native -fno-math-errno')
    assert result.returncode == 0, result.stderr
    assert 'settings read' in result.stdout
