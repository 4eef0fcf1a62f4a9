# SPDX-License-Identifier: Apache-2.0
"""Rehearsal: an emulated robot that differs from what its users believe."""

import contextlib
import json
from pathlib import Path
import re

from arm_processes import emulated_robot, puma
import pytest

README = Path(__file__).resolve().parents[1] / 'README.md'
GUIDE = Path(__file__).resolve().parents[2] / 'docs' / 'commissioning.md'
MANUAL = ['--set', 'manual_power=true']
START = ['--start', '0', '-0.575', '1.5', '0', '0', '0']


@pytest.fixture
def rehearsal(tmp_path):
    """Start robots with a wiring file; each has its own name."""
    robots = contextlib.ExitStack()

    def start(wiring, *options):
        file = tmp_path / 'wiring.yaml'
        file.write_text(wiring)
        return robots.enter_context(
            emulated_robot('emulator', '--wiring', str(file), *options))

    with robots:
        yield start


def seen(name, *options):
    return json.loads(puma('cell', name, *options).stdout)


def test_unwritten_outputs_have_the_code_of_the_power_up(rehearsal):
    name = rehearsal('emulator.pcl726.power_up_code: 0xC00\n')
    assert seen(name)['volts'] == [5] * 6
    puma('cards', 'probe', '--cell', name)
    assert seen(name)['volts'] == [0] * 6


@pytest.mark.parametrize('seconds, told', [
    ('0.0002', 'Set pcl818.settling_conversions to'),
    ('0.005', 'cannot read the potentiometers in the control loop')])
def test_probe_names_a_card_that_settles_too_slowly(rehearsal, seconds, told):
    name = rehearsal(f'emulator.pcl818.settling_time: {seconds}\n',
                     '--start', '0', '-2', '1.5', '0', '0', '2')
    assert told in puma('cards', 'probe', '--cell', name, code=1).stdout


def test_probe_tells_differential_inputs(rehearsal):
    name = rehearsal('emulator.pcl818.differential: true\n')
    assert 'differential inputs' in puma('cards', 'probe', '--cell', name).stdout


def test_probe_names_channels_that_differential_inputs_lack(rehearsal):
    channels = ['--set', 'pcl818.pot_channel=8 9 10 11 12 13']
    name = rehearsal('emulator.pcl818.differential: true\n', *channels)
    error = puma('cards', 'probe', '--cell', name, *channels, code=2).stderr
    assert 'pcl818.pot_channel' in error and '8 differential inputs' in error


@pytest.mark.parametrize('line, told', [
    ('emulator.pcl833.latch: maybe', 'hold, follow'),
    ('emulator.pcl833.lach: hold', 'did you mean emulator.pcl833.latch?'),
    ('emulator.delay: 0.5', 'whole cycles')])
def test_settings_of_the_emulator_are_refused_by_name(tmp_path, line, told):
    file = tmp_path / 'wiring.yaml'
    file.write_text(line + '\n')
    error = puma('emulate', 'emulator_refused', '--wiring', str(file), code=2).stderr
    assert line.split(':')[0] in error and told in error and str(file) in error


def test_an_option_and_the_file_do_not_say_the_same_thing(tmp_path):
    file = tmp_path / 'wiring.yaml'
    file.write_text('emulator.payload: 2\nemulator.com_error: 0.01\n')
    for option in [['--payload', '1'], ['--com-error', '0.02']]:
        error = puma('emulate', 'emulator_twice', '--wiring', str(file), *option, code=2).stderr
        assert option[0] in error and 'give only one of them' in error
    error = puma('emulate', 'emulator_none', '--wiring', '/nowhere.yaml', code=2).stderr
    assert '--wiring /nowhere.yaml' in error


def test_settings_of_the_emulator_alone_are_no_other_wiring(rehearsal):
    name = rehearsal('emulator.payload: 1\n')
    error = puma('cards', 'probe', '--cell', name, '--set', 'pcl726.coding=twos_complement',
                 code=2).stderr
    assert 'pcl726.coding' in error and 'give both the same settings' in error


@pytest.mark.parametrize('options', [MANUAL, ['--set', 'pcl726.brake_output=3']])
def test_an_arm_whose_brakes_a_person_opens_without_power_falls(options):
    with emulated_robot('emulator_falls', *START, *options) as name:
        puma('cards', 'probe', '--cell', name, *options)
        puma('cell', name, '--hand-brakes', 'open', *options)
        fallen = seen(name, '--after', '0.5', *options)
        assert not fallen['powered'] and fallen['brakes'][:3] == [False] * 3
        assert abs(fallen['q'][1] + 0.575) > 0.1
        puma('cell', name, '--hand-brakes', 'closed', '--after', '0.5', *options)
        assert seen(name, *options)['brakes'][:3] == [True] * 3


def test_power_of_a_robot_that_switches_it_is_not_switched_by_hand():
    with emulated_robot('emulator_hand') as name:
        error = puma('cell', name, '--hand-power', 'on', code=2).stderr
        assert '--hand-power on' in error and 'manual_power: true' in error


def test_a_relay_that_only_the_emulated_arm_has_is_told(tmp_path):
    settings = tmp_path / 'my_arm.yaml'
    note = 'not as on the real arm: the emulated arm has a power relay on digital output '
    settings.write_text('pcl726.tool_output: 2 3\npcl726.brake_output: 4\n')
    told = puma('cards', 'probe', '--settings', str(settings)).stdout
    assert note + '5, the settings have none' in told
    done = puma('run', '--fast', '--trajectory', 'quintic', '--settings', str(settings))
    assert note in done.stdout and 'joint error' in done.stdout
    for good in ['pcl726.power_output: 2', 'manual_power: true']:
        settings.write_text(good + '\n')
        assert note not in puma('cards', 'probe', '--settings', str(settings)).stdout
    assert note not in puma('cards', 'probe').stdout


def test_help_and_readme_have_every_setting_of_the_emulator():
    names = re.findall(r'^ *(emulator\.[a-z0-9_.]+): ', puma('emulate', '--help').stdout, re.M)
    assert len(names) == 20
    rows = re.findall(r'^\| `(emulator\.[a-z0-9_.]+)` \|', README.read_text(), re.M)
    assert sorted(rows) == sorted(names)


def test_help_and_guide_have_every_fault_to_inject():
    shown = puma('cell', '--help').stdout
    listed = re.findall(r'^  ([a-z0-9-]+)(?::JOINT)?$', shown, re.M)
    assert len(listed) == 16
    guide = GUIDE.read_text()
    for name in listed:
        assert f'`{name}`' in guide or f'`{name}:JOINT`' in guide, name
