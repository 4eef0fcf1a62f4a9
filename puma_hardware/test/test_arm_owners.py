# SPDX-License-Identifier: Apache-2.0
"""Who may touch an arm: one robot of a name, one program that drives it, one guard."""

import json
import re

from arm_processes import emulated_robot, puma, running
import pytest

PATIENT = '1000'  # ms; a machine that runs tests stalls


@pytest.fixture
def cell():
    with emulated_robot('owners') as name:
        yield name


def watching(cell, *options):
    return running('guard', '--cell', cell, '--timeout', PATIENT, *options, says='running for')


def test_a_robot_is_not_replaced_while_it_lives(cell):
    before = json.loads(puma('cell', cell).stdout)['time']
    error = puma('emulate', cell, code=2).stderr
    assert re.search(rf"'{cell}': process \d+ \(.*puma emulate {cell}\)", error), error
    assert json.loads(puma('cell', cell).stdout)['time'] > before, 'the first one goes on'


@pytest.mark.parametrize('second', [
    ['cards', 'probe'], ['cards', 'read'], ['cards', 'watch', '--seconds', '1'],
    ['cards', 'output', '4', '0.1', '--supported', '--no-guard'], ['calibrate', '--no-guard'],
    ['run', '--no-guard']])
def test_an_arm_that_is_driven_is_left_alone(cell, second):
    with watching(cell), running('cards', 'watch', '--cell', cell, says='emulated') as first:
        error = puma(*second, '--cell', cell, code=2).stderr
        assert f'process {first.pid} ' in error and 'cards watch' in error, error
        assert first.poll() is None
    puma('cards', 'read', '--cell', cell)  # the arm is free again


def test_a_second_guard_leaves_and_names_the_first(cell):
    with watching(cell):
        done = puma('guard', '--cell', cell, '--timeout', PATIENT, code=2)
        assert re.search(r'process \d+ \(.*puma guard', done.stderr), done.stderr
        assert 'one is enough' in done.stderr


def test_a_second_guard_stands_by_and_takes_over(cell):
    with watching(cell) as first:
        with running('guard', '--cell', cell, '--timeout', PATIENT, '--stand-by',
                     says='standing by') as second:
            first.terminate()
            first.wait()
            assert 'running for' in second.stdout.readline()
            puma('cards', 'output', '4', '0.1', '--cell', cell, '--seconds', '0.1',
                 '--supported')


def test_a_guard_with_other_settings_does_not_stand_by(cell):
    with watching(cell):
        error = puma('guard', '--cell', cell, '--timeout', '8', '--stand-by', code=2).stderr
        assert '--timeout 1000' in error and '--timeout 8' in error, error


def test_two_robots_have_a_guard_each(cell):
    with emulated_robot('owners_second') as other, watching(cell), watching(other):
        puma('cards', 'output', '4', '0.1', '--cell', other, '--seconds', '0.1', '--supported')
