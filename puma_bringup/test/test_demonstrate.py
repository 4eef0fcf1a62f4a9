# SPDX-License-Identifier: Apache-2.0
"""`ros2 run puma_bringup demonstrate`, as in `make sim`: runs the arm and writes the report."""

import re
import subprocess

import launch_support
from puma_bringup import arm_launch

launch_support.isolate(15)


def test_shows_a_law_and_the_stock_pd_and_writes_the_report(tmp_path):
    done = subprocess.run(
        [arm_launch.program('puma_bringup', 'demonstrate'), '--law', 'tracking', '--law', 'pd',
         '--output', str(tmp_path)], capture_output=True, text=True, timeout=240)
    log = tmp_path / 'launch.log'
    assert done.returncode == 0, done.stderr + (log.read_text() if log.exists() else '')
    rms = dict(re.findall(r'^(Tracking|Joint PD, no model)  +([\d.]+)', done.stdout, re.MULTILINE))
    print(done.stdout)
    assert 0 < float(rms['Tracking']) < 0.5, 'mrad RMS'
    assert float(rms['Joint PD, no model']) > 5 * float(rms['Tracking'])
    report = (tmp_path / 'report.html').read_text()
    assert str(tmp_path / 'report.html') in done.stdout
    assert '"frames"' in report
    assert 'Tracking' in report


def test_says_what_it_does_not_know(tmp_path):
    done = subprocess.run(
        [arm_launch.program('puma_bringup', 'demonstrate'), '--trajectory', 'zigzag',
         '--output', str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert 'zigzag' in done.stderr
