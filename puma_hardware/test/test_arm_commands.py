# SPDX-License-Identifier: Apache-2.0
"""The commands that touch the arm, as a user runs them, on the emulated robot."""

import contextlib
import json
import os
from pathlib import Path
import re
import signal
import stat
import subprocess
import time

from arm_processes import emulated_robot, PUMA, puma, running
import pytest

START = ['--start', '0.3', '-1.2', '1.3', '0.2', '0.4', '-0.5']


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, 'it did not come'
        time.sleep(0.05)


def number(pattern, text):
    return float(re.search(pattern, text).group(1))


@pytest.mark.parametrize('command', [
    ['cards'], ['cards', 'probe'], ['cards', 'output'], ['calibrate'], ['guard'], ['emulate'],
    ['run'], ['cell'], ['urdf'], ['estimate-payload']])
def test_help_explains_the_command(command):
    assert 'Options' in puma(*command, '--help').stdout


@pytest.mark.parametrize('command', [
    'cards', 'calibrate', 'guard', 'emulate', 'run', 'cell', 'urdf', 'estimate-payload'])
def test_help_has_examples(command):
    assert 'Example' in puma(command, '--help').stdout


def test_probe_names_every_card_and_its_address():
    text = puma('cards', 'probe').stdout
    for card in ['PCL-818L at 0x300: answers', 'PCL-726 at 0x2C0: answers',
                 'PCL-833 at 0x200: answers', 'PCL-833 at 0x210: answers']:
        assert card in text


def test_read_shows_every_joint():
    text = puma('cards', 'read').stdout
    for joint in range(1, 7):
        line = re.search(rf'joint{joint} +([0-9.]+) +ok +cool +(-?\d+)', text)
        assert 0 < float(line.group(1)) < 5


MANUAL = ['--set', 'manual_power=true']
BRAKES = ['--set', 'pcl726.brake_output=3']
# For hosts without a real-time kernel.
PATIENT = [word for setting in [
    'max_missed_deadlines=1000', 'deadline_ratio=10', 'jump_ratio=20', 'overspeed_ratio=2',
    'calibration_speed_ratio=1'] for word in ['--set', f'safety.{setting}']]


def test_output_moves_a_joint_the_way_of_its_voltage():
    # The amplifiers invert, and motor 4 counts down when its joint turns up.
    counts = []
    for volts in ['0.6', '-0.6']:
        done = puma('cards', 'output', '4', volts, '--seconds', '0.15', *BRAKES)
        assert re.search(r'joint4: -?0\.[56]\d+ V, now 0 V', done.stdout), done.stdout
        counts.append(int(re.search(r'from 0 to (-?\d+)', done.stdout).group(1)))
    assert counts[0] > 10 and counts[1] < -10


@pytest.mark.parametrize('joint, wiring, told', [
    ('6', [], 'brakes of joints 1 to 3 open with arm power'),
    ('2', BRAKES, 'joint2 has a brake')])
def test_output_opens_brakes_only_of_a_supported_arm(joint, wiring, told):
    error = puma('cards', 'output', joint, '0.2', *wiring, code=2).stderr
    assert told in error and '--supported' in error


def test_output_of_a_wrist_joint_leaves_the_brakes_closed():
    with emulated_robot('wrist', '--start', '0', '-0.575', '1.5', '0', '0', '0', *BRAKES) as name:
        puma('cards', 'output', '6', '0.2', '--cell', name, '--no-guard', *BRAKES)
        seen = json.loads(puma('cell', name, *BRAKES).stdout)
        assert seen['q'][:3] == pytest.approx([0, -0.575, 1.5], abs=1e-6)
        assert not seen['power_output']


def test_output_ends_when_another_joint_falls():
    with emulated_robot('falls', '--start', '0', '-0.575', '1.5', '0', '0', '0') as name:
        done = puma('cards', 'output', '6', '0.2', '--cell', name, '--no-guard', '--supported',
                    '--seconds', '2', code=1)
        assert re.search('joint2.* moved at 0 V when the brakes opened: gravity', done.stderr)
        seen = json.loads(puma('cell', name, '--after', '0.3').stdout)
        assert abs(seen['q'][1] + 0.575) < 0.2, 'half a second took it by 0.57 rad'
        assert seen['volts'] == [0] * 6 and not seen['powered'] and seen['brakes'][1]


@pytest.mark.parametrize('volts, told', [
    ('-1', 'joint6 moves at'), ('-0.25', 'two turns of its motor')])
def test_output_ends_before_a_wrist_joint_gets_far(volts, told):
    done = puma('cards', 'output', '6', volts, '--seconds', '5', *BRAKES, code=1)
    assert told in done.stderr
    counts = int(re.search(r'to (-?\d+)', done.stdout).group(1))
    assert 10 < abs(counts) < 2100, 'at most two turns of the motor'


def test_output_ends_on_a_thermal_alarm():
    with emulated_robot('hot', *BRAKES) as name:
        puma('cell', name, '--inject', 'thermal:joint3', *BRAKES)
        done = puma('cards', 'output', '6', '0.2', '--cell', name, '--no-guard', *BRAKES, code=1)
        assert 'joint3: the thermal switch has opened' in done.stderr


@pytest.fixture
def wired(tmp_path):
    """Be a robot that is wired differently from what the settings say."""
    robots = contextlib.ExitStack()

    def start(wiring):
        file = tmp_path / 'wiring.yaml'
        file.write_text(wiring)
        return robots.enter_context(emulated_robot('wired', '--wiring', str(file), *BRAKES))

    with robots:
        yield start


# All joints and faults: test_joint_check.cpp.
@pytest.mark.parametrize('wiring, fault, told', [
    ('', None, 'voltage, encoder and potentiometer agree'),
    ('joint4.voltage_direction: 1', None, 'change joint4.voltage_direction'),
    ('pcl726.channel: 0 1 2 4 3 5', None, 'joint5 moves in its place: swap them in pcl726.channel'),
    ('pcl726.coding: twos_complement', None, 'pcl726.coding, now offset_binary, is wrong'),
    ('', 'encoder-frozen:joint4', 'its encoder does not count'),
    ('', 'amplifier-dead:joint4', 'an amplifier without supply')])
def test_check_names_what_is_wired_wrongly(wired, wiring, fault, told):
    name = wired(wiring)
    if fault:
        puma('cell', name, '--inject', fault, *BRAKES)
    before = json.loads(puma('cell', name, *BRAKES).stdout)['q']
    good = 'agree' in told
    done = puma('cards', 'check', '4', '--cell', name, '--no-guard', *BRAKES,
                code=0 if good else 1)
    assert told in done.stdout, done.stdout
    seen = json.loads(puma('cell', name, *BRAKES).stdout)
    assert max(abs(a - b) for a, b in zip(seen['q'], before)) < 0.2, 'a small motion'
    assert not seen['power_output']
    if 'coding' not in wiring:
        assert seen['volts'] == [0] * 6


@pytest.mark.parametrize('joint', ['1', '2', '3', '4', '5', '6'])
def test_check_moves_every_joint(joint):
    text = puma('cards', 'check', joint, '--supported', *BRAKES).stdout
    assert f'joint{joint}: voltage, encoder and potentiometer agree' in text


def test_check_believes_the_person_who_saw_the_motion():
    text = puma('cards', 'check', '5', '--turned', 'negative', *BRAKES).stdout
    assert 'agree with the direction that was seen' in text
    done = puma('cards', 'check', '5', '--turned', 'positive', *BRAKES, code=1)
    for reversed_sign in ['voltage_direction', 'encoder_direction', 'pot_direction']:
        assert f'change joint5.{reversed_sign}' in done.stdout
    done = puma('cards', 'check', '5', '--ask', *BRAKES, code=1, input='yes\npositive\n')
    assert 'Which way did joint5 turn?' in done.stdout
    assert 'change joint5.pot_direction' in done.stdout


@pytest.mark.parametrize('most', ['0.1', '-2'])
def test_check_refuses_a_voltage_that_does_not_fit_the_joint(most):
    error = puma('cards', 'check', '6', f'--most={most}', *BRAKES, code=2).stderr
    assert 'joint6 needs 0.38 V against its friction; give 0.38 V to 1.13 V' in error


SAFE = ['--set', 'pcl726.power_output=8', '--set', 'pcl726.brake_output=9',
        '--set', 'pcl726.power_feedback_input=2', '--set', 'pcl726.watchdog_output=10',
        '--set', 'pcl726.watchdog_input=3', '--set', 'safety.power_delay=0.2']


def test_output_does_not_move_again_after_an_emergency_stop():
    with emulated_robot('stopped', *SAFE) as name:
        output = [PUMA, 'cards', 'output', '6', '-0.15', '--seconds', '20', '--cell', name,
                  '--no-guard', *SAFE]
        with subprocess.Popen(output, stderr=subprocess.PIPE, text=True) as process:
            while not json.loads(puma('cell', name, *SAFE).stdout)['powered']:
                assert process.poll() is None
            puma('cell', name, '--inject', 'power-lost', *SAFE)
            assert process.wait(timeout=60) == 1
            assert 'arm power is lost' in process.stderr.read()
        puma('cell', name, '--clear', *SAFE)
        seen = json.loads(puma('cell', name, '--after', '0.5', *SAFE).stdout)
        assert seen['volts'] == [0] * 6 and not seen['powered'] and not seen['power_output']


def test_output_for_a_meter_needs_no_power():
    with emulated_robot('meter', *SAFE) as name:
        text = puma('cards', 'output', '4', '0.5', '--no-power', '--cell', name, '--no-guard',
                    *SAFE).stdout
        assert 'joint4: 0.4980 V, now 0 V; the count changed from 0 to 0' in text


def test_a_person_turns_joints_of_an_emulated_robot(cell):
    puma('cell', cell, '--turn', 'joint4', '0.1', '--turn', 'joint6', '-0.2')
    seen = json.loads(puma('cell', cell, '--after', '1.5').stdout)
    assert seen['q'][3] == pytest.approx(0.1, abs=1e-6)
    assert seen['q'][5] == pytest.approx(-0.2, abs=1e-6)
    assert 'joint7' in puma('cell', cell, '--turn', 'joint7', '0.1', code=2).stderr


def test_output_limits_the_time_with_open_brakes():
    error = puma('cards', 'output', '2', '0.1', '--supported', '--seconds', '6', *BRAKES,
                 code=2).stderr
    assert '--seconds 6' in error and 'at most 5' in error


def test_output_refuses_large_voltages():
    assert '-1' in puma('cards', 'output', '1', '5', code=2).stderr


@pytest.mark.parametrize('setting, named', [
    ('pcl726.base=0x300', 'pcl726.base'),
    ('pcl726.coding=gray', 'pcl726.coding'),
    ('pcl818.pot_channel=0 0 1 2 3 4', 'pcl818.pot_channel'),
    ('pcl900.base=0x200', 'pcl900.base'),
    ('safety.ramp_time=-1', 'safety.ramp_time'),
    ('nonsense', 'name=value')])
def test_impossible_settings_are_refused_by_name(setting, named):
    assert named in puma('cards', 'probe', '--set', setting, code=2).stderr


def test_ports_need_rights_or_cards():
    # Without the right to access ports, or without the cards, it says so; it never runs on.
    done = puma('cards', 'probe', '--io', 'ports', code=2)
    assert re.search(r'ioperm|CAP_SYS_RAWIO|port|PCL-', done.stderr), done.stderr


def test_a_guard_needs_a_robot_of_another_process():
    assert '--cell' in puma('guard', code=2).stderr


def test_calibrate_finds_out_where_the_arm_stands():
    text = puma('calibrate', '--fast', *START).stdout
    assert number(r'within ([0-9.]+) mrad', text) < 0.15, 'about a count'


def test_calibrate_refuses_a_table_of_another_arm(tmp_path):
    table = tmp_path / 'table.json'
    table.write_text('{"version": 1}')
    assert 'table.json' in puma('calibrate', '--fast', '--calibration', str(table), code=2).stderr


def test_build_does_not_overwrite_a_table(tmp_path):
    table = tmp_path / 'table.json'
    table.write_text('mine')
    done = puma('calibrate', '--build', '--fast', '--calibration', str(table), code=2)
    assert '--overwrite' in done.stderr
    assert table.read_text() == 'mine'


def test_build_writes_a_table_that_calibrates(tmp_path):
    table = tmp_path / 'table.json'
    ranges = ['--low', '-0.7', '-2.2', '0.8', '-0.7', '-0.7', '-0.7',
              '--high', '0.7', '-0.8', '2.2', '0.7', '0.7', '0.7']
    text = puma('calibrate', '--build', '--fast', '--calibration', str(table), *ranges).stdout
    assert len(re.findall(r'index pulses', text)) == 6
    text = puma('calibrate', '--fast', '--calibration', str(table)).stdout
    assert number(r'within ([0-9.]+) mrad', text) < 0.15


AT = ['--at', '0', '-1.5', '1.5', '0', '0', '0']
LOW = ['--low', '-0.7', '-2.2', '0.8', '-0.7', '-0.7', '-0.7']
HIGH = ['--high', '0.7', '-0.8', '2.2', '0.7', '0.7', '0.7']


@pytest.mark.parametrize('arguments, told', [
    (['--at', '0', '-86', '86', '0', '0', '0'], '--at: joint2 = -86 .* were these degrees'),
    ([*AT, '--low', '-3', '-2.2', '0.8', '-0.7', '-0.7', '-0.7'], '--low: joint1 = -3 '),
    ([*AT, '--high', '160', '-0.8', '2.2', '0.7', '0.7', '0.7'], '--high: joint1 = 160 .*degrees'),
    ([*AT, *LOW, '--high', '-0.8', '-0.8', '2.2', '0.7', '0.7', '0.7'],
     'joint1 sweeps -1.0 turns .* at least 6'),
    ([*AT, *LOW, '--high', '-0.5', '-0.8', '2.2', '0.7', '0.7', '0.7'],
     'joint1 sweeps 2.0 turns .* at least 6')])
def test_build_checks_the_sweep_before_it_moves(tmp_path, arguments, told):
    table = tmp_path / 'table.json'
    done = puma('calibrate', '--build', '--fast', '--calibration', str(table), *arguments, code=2)
    assert re.search(told, done.stderr), done.stderr
    assert not list(tmp_path.iterdir())


def test_build_checks_the_file_before_it_moves(tmp_path):
    done = puma('calibrate', '--build', '--fast', '--calibration', str(tmp_path / 'no' / 'table'),
                code=2)
    assert 'cannot write' in done.stderr


def test_build_refuses_what_is_not_a_regular_file(tmp_path):
    for path in [str(tmp_path), '/dev/full']:
        done = puma('calibrate', '--build', '--fast', '--overwrite', '--calibration', path, code=2)
        assert f'calibration file {path}: it is a' in done.stderr
    assert stat.S_ISCHR(os.stat('/dev/full').st_mode)


BUILD_AT = ['calibrate', '--build', '--fast', '--start', '0', '-1.5', '1.5', '0', '0', '0', *LOW,
            *HIGH, '--calibration']


@pytest.mark.parametrize('position, told', [
    (['0', '-1.4', '1.5', '0', '0', '0'], 'joint2 stands about -0.[01][0-9] rad'),
    (['0', '-1.7', '1.5', '0', '0', '0'], 'joint2 stands about 0.[12][0-9] rad')])
def test_build_compares_the_position_with_gravity(tmp_path, position, told):
    table = tmp_path / 'table.json'
    done = puma(*BUILD_AT, str(table), '--at', *position, code=1)
    assert re.search(told, done.stderr), done.stderr
    assert 'Does the arm stand where --at says?' in done.stderr
    assert not list(tmp_path.iterdir())


def test_build_compares_the_position_with_the_potentiometers(tmp_path):
    far = ['--at', '0', '-1.5', '1.5', '0', '0', '3']
    table = tmp_path / 'table.json'
    error = puma(*BUILD_AT, str(table), *far, code=2).stderr
    assert 'joint6: its potentiometer reads 2.5' in error and 'Nothing has moved' in error
    assert not list(tmp_path.iterdir())
    puma(*BUILD_AT, str(table), *far, '--trust-at')
    assert table.exists()


def test_calibrate_shows_what_moves_and_asks():
    done = puma('calibrate', '--fast', '--ask', code=2, input='no\n')
    assert len(re.findall(r'joint\d +by 0\.[0-9]+ rad \(\d+ degrees\)', done.stdout)) == 6
    assert 'nothing has moved' in done.stderr
    puma('calibrate', '--fast', '--ask', input='yes\n')


def test_build_shows_the_sweep_and_asks(tmp_path):
    build = ['calibrate', '--build', '--fast', '--calibration', str(tmp_path / 'table.json'), *AT,
             *LOW, *HIGH]
    for answer in ['no\n', '\n', '']:
        done = puma(*build, '--ask', code=2, input=answer)
        assert re.search(r'joint2 +stands at  -1.5000 rad \( -85.9 degrees\), sweeps -2.2 to -0.8',
                         done.stdout), done.stdout
        assert 'nothing has moved' in done.stderr
        assert not list(tmp_path.iterdir())


def test_build_from_a_wrong_place_ends_early_and_names_the_cause(tmp_path):
    done = puma('calibrate', '--build', '--fast', '--calibration', str(tmp_path / 'table.json'),
                '--at', '0', '-0.3', '1.5', '0', '0', '0', *LOW, *HIGH,
                '--start', '0', '-1.5', '3.9', '0', '0', '0', code=1)
    assert 'does the arm stand where --at says?' in done.stderr
    assert not list(tmp_path.iterdir())


def test_commands_say_that_the_cards_are_emulated():
    for command in [['cards', 'probe'], ['cards', 'read']]:
        first = puma(*command).stdout.splitlines()[0]
        assert first.startswith('emulated: no card of this computer is touched'), first


def test_run_shows_the_motion_and_asks():
    done = puma('run', '--fast', '--ask', '--trajectory', 'quintic', code=2, input='no\n')
    line = r'joint\d +-?[0-9.]+ to +-?[0-9.]+ rad, up to [0-9.]+ rad/s'
    assert len(re.findall(line, done.stdout)) == 6
    assert "the answer was 'no', not yes: nothing has moved" in done.stderr
    puma('run', '--fast', '--ask', '--trajectory', 'quintic', input='yes\n')
    puma('run', '--fast', '--ask', '--yes', '--trajectory', 'quintic', stdin=subprocess.DEVNULL)


def test_run_wants_the_motion_of_a_real_arm_named():
    error = puma('run', '--io', 'ports', '--calibration', 'x.json', code=2).stderr
    assert '--trajectory: name the motion of the real arm' in error


def test_run_keeps_a_record(tmp_path):
    folder = tmp_path / 'run'
    done = puma('run', '--fast', '--trajectory', 'quintic', '--output', str(folder))
    assert done.stdout.startswith('emulated: no card of this computer is touched')
    assert 'errors of the true (emulated) position' in done.stdout
    rows = (folder / 'recording.csv').read_text().splitlines()
    assert rows[0].startswith('t,q_ref_joint1,') and len(rows) > 1000
    assert len(rows[1].split(',')) == 25
    assert 'from cycle to cycle' in (folder / 'cycle_times.txt').read_text()
    assert 'ended: done' in (folder / 'run.txt').read_text()
    error = puma('run', '--fast', '--output', '/proc/nowhere', code=2).stderr
    assert '--output' in error


def test_a_loop_rate_that_the_guard_would_cut_is_refused():
    with emulated_robot('slow') as name:
        with running('guard', '--cell', name, '--timeout', '8', says='(emulated)'):
            error = puma('run', '--cell', name, '--rate', '200', code=2).stderr
            assert '200 Hz' in error and 'after 8 ms' in error and 'at least 10 ms' in error


POWER_INPUT = ['--set', 'pcl726.power_feedback_input=4']


def test_an_input_that_always_shows_power_is_noticed_before_the_arm_moves(tmp_path):
    file = tmp_path / 'wiring.yaml'
    file.write_text('pcl726.power_feedback_input: -1\n')
    with emulated_robot('stuck', '--wiring', str(file), *POWER_INPUT) as name:
        before = json.loads(puma('cell', name, *POWER_INPUT).stdout)['q']
        done = puma('run', '--cell', name, '--no-guard', '--trajectory', 'quintic', *POWER_INPUT,
                    *PATIENT, code=1)
        assert 'power-stuck' in done.stderr and 'a broken wire' in done.stderr
        seen = json.loads(puma('cell', name, *POWER_INPUT).stdout)
        assert seen['q'] == pytest.approx(before, abs=1e-6) and not seen['power_output']


def test_a_guard_that_is_stopped_between_calibration_and_motion_stays_until_the_end():
    with emulated_robot('asked') as name:
        with running('guard', '--cell', name, '--timeout', '500', says='running for') as guard:
            with subprocess.Popen(
                    [PUMA, 'run', '--cell', name, '--trajectory', 'quintic', *PATIENT],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
                wait_until(lambda: json.loads(puma('cell', name).stdout)['powered'])
                guard.terminate()
                _, error = run.communicate(timeout=120)
                assert run.returncode == 0, error
            assert guard.wait(timeout=20) == 0
            text = guard.stdout.read()
            assert text.count('watching process') == 1, 'from the calibration to the end: ' + text
            assert 'hangs' not in text and 'died' not in text


def kill_guards(text, count):
    """Kill one guard after the other as soon as it runs."""
    for _ in range(count):
        line = text.readline()
        pid = re.search(r'running for .*process (\d+)', line)
        assert pid, line
        os.kill(int(pid.group(1)), signal.SIGKILL)


def test_a_guard_is_replaced_unless_six_in_a_row_end_at_once():
    with emulated_robot('killed') as name:
        with subprocess.Popen([PUMA, 'guard', '--cell', name], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as guard:
            for _ in range(2):
                kill_guards(guard.stdout, 4)
                line = guard.stdout.readline()
                time.sleep(1.2)  # one that lives
                os.kill(int(re.search(r'process (\d+)', line).group(1)), signal.SIGKILL)
            assert guard.poll() is None, guard.stderr.read()
            kill_guards(guard.stdout, 6)
            assert guard.wait(timeout=20) == 1
            assert '6 guards in a row ended within 1 s: giving up' in guard.stderr.read()


@pytest.mark.parametrize('command, told', [
    (['guard', '--io', 'ports', '--timeout', '1000'], '--timeout 1000: with --io ports at most 50'),
    (['cards', 'probe', '--io', 'ports', '--set', 'safety.max_missed_deadlines=1000'],
     'safety.max_missed_deadlines is 1000; on real cards it may be at most 20')])
def test_limits_that_are_relaxed_for_emulated_arms_are_refused_on_real_cards(command, told):
    assert told in puma(*command, code=2).stderr


def test_a_person_who_answers_no_keeps_the_recording_of_the_last_run(tmp_path):
    folder = tmp_path / 'recorded'
    puma('run', '--fast', '--trajectory', 'quintic', '--output', str(folder))
    before = (folder / 'run.txt').read_text()
    puma('run', '--fast', '--ask', '--trajectory', 'quintic', '--output', str(folder), code=2,
         input='no\n')
    assert (folder / 'run.txt').read_text() == before
    empty = tmp_path / 'empty'
    puma('run', '--fast', '--ask', '--output', str(empty), code=2, input='no\n')
    assert not list(empty.iterdir())


def test_a_person_who_switches_the_power_is_asked():
    text = puma('run', '--fast', '--trajectory', 'quintic', *MANUAL).stdout
    assert 'switched by an emulated person' in text
    with emulated_robot('manual', *MANUAL) as name:
        error = puma('calibrate', '--cell', name, '--no-guard', *MANUAL, code=2,
                     stdin=subprocess.DEVNULL)
        assert 'Switch on arm power, with the brakes closed' in error.stdout
        assert 'nothing has moved' in error.stderr


def test_a_person_who_has_not_switched_on_the_power_is_not_believed():
    options = [*MANUAL, *POWER_INPUT]
    with emulated_robot('dark', *options) as name:
        done = puma('calibrate', '--cell', name, '--no-guard', *options, code=2, input='\n')
        assert 'pcl726.power_feedback_input) shows no power' in done.stdout
        assert 'nothing has moved' in done.stderr


def test_run_follows_the_line():
    text = puma('run', '--fast').stdout
    assert number(r'tool path error: ([0-9.]+) mm RMS', text) < 0.1
    assert number(r'at rest: ([0-9.]+) mrad', text) < 0.3
    assert 'work of a cycle' in text


@pytest.mark.parametrize('law', ['tracking', 'ptp'])
def test_run_with_other_laws(law):
    text = puma('run', '--fast', '--law', law, '--trajectory', 'quintic', *START).stdout
    assert number(r'joint error: ([0-9.]+) mrad RMS', text) < (2 if law == 'tracking' else 500)


@pytest.mark.parametrize('arguments, named', [
    (['--law', 'magic'], '--law'),
    (['--trajectory', 'nowhere'], 'trajectory'),
    (['--rate', '1'], '--rate'),
    (['--cell', 'x', '--fast'], '--fast'),
    (['--io', 'ports'], '--calibration'),
    (['--io', 'ports', '--cell', 'x', '--calibration', 'y'], '--cell'),
    (['--cell', 'nobody_emulates_this'], 'nobody_emulates_this')])
def test_run_refuses_by_name(arguments, named):
    assert named in puma('run', *arguments, code=2).stderr


@pytest.mark.parametrize('command, option, told', [
    (['run', '--fast'], '--bandwidth', '0.1 to 500'),
    (['run', '--fast'], '--damping', '0.05 to 5'),
    (['run', '--fast'], '--friction', '0 to 1'),
    (['run', '--fast'], '--settle', '0.1 to 1000'),
    (['run', '--fast'], '--rate', '100 to 5000'),
    (['calibrate', '--fast'], '--rate', '100 to 5000'),
    (['guard', '--cell', 'x'], '--timeout', '2 to 1000'),
    (['cell', 'x'], '--after', '0 to 3600'),
    (['cell', 'x'], '--wait', '0 to 3600'),
    (['cards', 'output', '1', '0.1'], '--seconds', '0.01 to 60'),
    (['cards', 'watch'], '--seconds', '0 to 604800')])
def test_what_is_not_a_number_is_refused_with_option_value_and_range(command, option, told):
    error = puma(*command, f'{option}=nan', code=2).stderr
    assert option in error and 'nan' in error and told in error


def test_a_voltage_that_is_not_a_number_is_refused():
    error = puma('cards', 'output', '1', 'nan', code=2).stderr
    assert 'volts' in error and 'nan' in error and '-1 to 1' in error


@pytest.mark.parametrize('command, option', [
    (['run', '--fast'], '--start'), (['emulate', 'nowhere'], '--start'),
    (['calibrate', '--build', '--fast', '--calibration', 'never'], '--at'),
    (['calibrate', '--build', '--fast', '--calibration', 'never'], '--low'),
    (['calibrate', '--build', '--fast', '--calibration', 'never'], '--high')])
def test_positions_that_are_not_finite_are_refused(tmp_path, command, option):
    error = puma(*command, option, '0', '0', 'nan', '0', '0', '0', code=2, cwd=tmp_path).stderr
    assert option in error and 'nan' in error and 'finite' in error
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def cell():
    with emulated_robot('commands') as name:
        yield name


def test_cell_shows_the_emulated_robot_and_breaks_it(cell):
    seen = json.loads(puma('cell', cell).stdout)
    assert len(seen['volts']) == 6  # the outputs of a PCL-726 that was never opened are undefined
    assert not seen['powered'] and not seen['power_output']
    assert seen['q'] == pytest.approx([0, -1.5, 1.5, 0, 0, 0], abs=1e-6)
    puma('cell', cell, '--inject', 'pcl818-lost')
    done = puma('calibrate', '--cell', cell, '--no-guard', code=2)
    assert 'PCL-818' in done.stderr
    puma('cell', cell, '--clear')
    assert 'PCL-818L at 0x300: answers' in puma('cards', 'probe', '--cell', cell).stdout


def test_emulated_joints_do_not_drift_after_an_impact():
    # With the brakes released the upper arm falls on its stop and turns joint 1, which friction
    # and then the brake bring to rest.
    with emulated_robot('impact', '--start', '0', '0.3', '1.5', '0', '0', '0', *MANUAL) as name:
        puma('cards', 'probe', '--cell', name, *MANUAL)
        puma('cell', name, '--hand-power', 'on', '--hand-brakes', 'open', '--after', '1.5', *MANUAL)
        puma('cell', name, '--hand-power', 'off', '--hand-brakes', 'closed', *MANUAL)
        seen = {'time': 0}
        then = json.loads(puma('cell', name, *MANUAL).stdout)
        while seen['time'] < then['time'] + 1:
            seen = json.loads(puma('cell', name, *MANUAL).stdout)
        assert seen['q'][1] == pytest.approx(0.7505, abs=1e-4), 'on its stop'
        assert seen['brakes'][:3] == [True] * 3
        assert seen['qd'] == [0] * 6
        again = json.loads(puma('cell', name, *MANUAL).stdout)
        assert again['q'] == seen['q']


def test_cell_refuses_by_name(cell):
    assert 'thermal:JOINT' in puma('cell', cell, '--inject', 'fire', code=2).stderr
    assert 'joint9' in puma('cell', cell, '--inject', 'thermal:joint9', code=2).stderr


def test_cell_waits_for_the_robot():
    name = f'late_{os.getpid()}'
    with subprocess.Popen([PUMA, 'cell', name, '--wait', '60'], stdout=subprocess.PIPE,
                          text=True) as waiting:
        time.sleep(0.5)
        assert waiting.poll() is None, 'it waits for a robot that is not there yet'
        with running('emulate', name, says='emulating'):
            assert waiting.wait(timeout=60) == 0
            assert json.load(waiting.stdout)['time'] > 0


def test_cell_does_not_wait_for_ever():
    error = puma('cell', 'nobody_emulates_this', '--wait', '0.2', code=1).stderr
    assert "'nobody_emulates_this' is not ready after 0.2 s: there are no emulated cards" in error


def test_cell_does_not_take_a_killed_robot_for_a_running_one():
    name = f'killed_{os.getpid()}'
    try:
        with running('emulate', name, says='emulating') as robot:
            puma('cell', name, '--wait', '60')
            robot.kill()
            robot.wait()
            assert 'time' in json.loads(puma('cell', name).stdout), 'its cards remain'
            assert 'does not advance' in puma('cell', name, '--wait', '0.2', code=1).stderr
    finally:
        for file in (f'puma_cards_{name}', f'puma_lock_emulator-{name}'):
            Path('/dev/shm', file).unlink(missing_ok=True)


def test_an_arm_without_payload_is_estimated_to_have_none():
    result = puma('estimate-payload', '--fast', *START)
    assert abs(number(r'mass: (-?[0-9.]+) kg', result.stdout)) < 0.05


def test_run_takes_the_known_payload():
    """The emulated arm has none: the estimate balances it, and the arm still follows the line."""
    result = puma('run', '--fast', '--known-payload', '1,0,0,0.05', *START)
    assert number(r'tool path error: ([0-9.]+) mm RMS', result.stdout) < 1
    wrong = puma('run', '--fast', '--known-payload', '-1', code=2)
    assert 'payload.mass is -1 kg; give 0' in wrong.stderr
