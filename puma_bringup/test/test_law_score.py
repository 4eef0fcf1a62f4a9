# SPDX-License-Identifier: Apache-2.0
"""Rows of the law score through ros2_control: the figures of the same law without ROS 2."""

import json
import math
import subprocess

import launch_support
import pytest
from puma_bringup import arm_launch

launch_support.isolate(23)

LATE = 0.5  # s: until then the law without ROS 2 has not found the disturbance
TOLERANCE = 0.2
# Assumption A of docs/laws.md.
A = ('--payload', '2.5', '--mismatch', '20', '--stiction', '1.3')
NOISE = ('--noise', '3e-5')
ROWS = {'1': ('--trajectory', 'line', *A),
        '2': ('--trajectory', 'line', *A, '--friction-error', '20'),
        '3': ('--trajectory', 'quintic', *A)}


def late_error(run):
    """Return the RMS joint error [mrad] of the motion after the first LATE seconds."""
    rows = list(zip(*run['q_ref']))
    end = max(t for t, now, then in zip(run['time'], rows, rows[1:])
              if max(abs(a - b) for a, b in zip(now, then)) > 1e-9)
    squares = [(a - b) ** 2 for q, reference in zip(run['q'], run['q_ref'])
               for t, a, b in zip(run['time'], q, reference) if LATE <= t <= end]
    return 1e3 * math.sqrt(sum(squares) / len(squares))


def through_ros2_control(folder, options):
    """Return the run of the integral law under ros2_control."""
    done = subprocess.run(
        [arm_launch.program('puma_bringup', 'demonstrate'), '--law', 'integral', '--output',
         str(folder), *options], capture_output=True, text=True, timeout=240)
    log = folder / 'launch.log'
    assert done.returncode == 0, done.stderr + (log.read_text() if log.exists() else '')
    (run,) = json.loads((folder / 'recordings.json').read_text())['recordings']
    return run


def without_ros(folder, options):
    """Return the run of the integral law in `puma sim`."""
    done = subprocess.run(
        [arm_launch.program('puma_hardware', 'puma'), 'sim', '--law', 'integral', '--output',
         str(folder), *options], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    data = json.loads((folder / 'data.json').read_text())
    (run,) = data['runs']
    counts = [signal['counts_per_rad'] for signal in data['made_with']['signals']]
    return run, counts


def measurement_error(counts, noise):
    """Return the RMS error [mrad] of positions with this noise [rad] and these encoder counts."""
    return 1e3 * math.sqrt(sum(noise ** 2 + 1 / (12 * c ** 2) for c in counts) / len(counts))


@pytest.mark.parametrize('arm', ['simulated', 'emulated'])
@pytest.mark.parametrize('row', ROWS)
def test_a_row_has_the_same_figure_with_and_without_ros2_control(row, arm, tmp_path):
    options = [*ROWS[row], *(NOISE if arm == 'simulated' else ())]  # emulated encoders have none
    for folder in ('ros', 'plain'):
        (tmp_path / folder).mkdir()
    run, counts = without_ros(tmp_path / 'plain', options)
    without = late_error(run)
    measured = late_error(through_ros2_control(tmp_path / 'ros', ['--arm', arm, *options]))
    # `puma sim` records where the arm is, ros2_control what the encoders say.
    error = measurement_error(counts, float(NOISE[1]) if arm == 'simulated' else 0)
    with_ros = math.sqrt(max(measured ** 2 - error ** 2, 0))
    print(f'row {row}, {arm}: {with_ros:.4f} mrad late through ros2_control ({measured:.4f} with '
          f'{error:.4f} of the encoders), {without:.4f} without')
    assert with_ros == pytest.approx(without, rel=TOLERANCE)
