# SPDX-License-Identifier: Apache-2.0
"""real.launch.py: all processes use one description with the settings."""

import importlib.util
from pathlib import Path
import re
from xml.etree import ElementTree

from launch import LaunchContext
from launch.actions import DeclareLaunchArgument, ExecuteProcess, LogInfo
from launch.events.process import ProcessExited
import launch.logging
from launch.utilities import perform_substitutions
from puma_bringup import arm_launch, real_arm
import pytest

MEASURED = 'pcl726.coding: twos_complement\npcl833.base: 0x220 0x230\ncalibration_file: arm.json\n'


@pytest.fixture
def real(monkeypatch):
    """Return a function that evaluates the launch file: description, commands, messages."""
    path = arm_launch.share('puma_bringup', 'launch', 'real.launch.py')
    spec = importlib.util.spec_from_file_location('real_launch', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    models, files = [], []

    def controlled_arm(context, model, **_):
        models.append(model['robot_description'].evaluate(context))
        return []

    def on_success(process, then, _):
        return [process, *then]

    monkeypatch.setattr(arm_launch, 'controlled_arm', controlled_arm)
    monkeypatch.setattr(arm_launch, 'on_success', on_success)

    def evaluate(**arguments):
        context = LaunchContext()
        for entity in module.generate_launch_description().entities:
            if isinstance(entity, DeclareLaunchArgument):
                context.launch_configurations[entity.name] = perform_substitutions(
                    context, entity.default_value)
        context.launch_configurations.update(arguments)
        actions = real_arm.processes(context)
        commands, told = {}, []
        for action in actions:
            if type(action) is ExecuteProcess:
                words = [perform_substitutions(context, part) for part in action.cmd]
                commands[words[1]] = words[2:]
                files.append(Path(words[words.index('--urdf') + 1]))
            if isinstance(action, LogInfo):
                told.append(perform_substitutions(context, action.msg))
        return models[-1], commands, ' '.join(told)

    yield evaluate
    for file in files:
        file.unlink(missing_ok=True)


@pytest.fixture
def settings(tmp_path):
    file = tmp_path / 'my_arm.yaml'
    file.write_text(MEASURED)
    return file


def parameters(urdf):
    """Return the plugin and the parameters of the hardware."""
    hardware = ElementTree.fromstring(urdf).find('ros2_control/hardware')
    return hardware.findtext('plugin'), {p.get('name'): p.text for p in hardware.findall('param')}


def read_by(command):
    """Return the description that a puma command reads."""
    return Path(command[command.index('--urdf') + 1]).read_text()


def timeout_of(command):
    """Return the timeout of the guard, ms."""
    return float(command[command.index('--timeout') + 1])


def test_guard_and_controller_manager_get_the_same(real, settings):
    model, commands, _ = real(io='ports', settings=str(settings))
    plugin, found = parameters(model)
    assert plugin == 'puma_hardware/PumaSystem'
    assert found == {'io': 'ports', 'guard': 'true', 'pcl726.coding': 'twos_complement',
                     'pcl833.base': '0x220 0x230',
                     'calibration_file': str(settings.parent / 'arm.json')}
    assert read_by(commands['guard']) == model
    assert not {'--set', '--settings'} & set(commands['guard'])


def test_the_emulated_robot_gets_the_same_too(real, settings):
    model, commands, _ = real(io='emulated', settings=str(settings))
    assert parameters(model)[1]['pcl726.coding'] == 'twos_complement'
    assert read_by(commands['guard']) == read_by(commands['emulate']) == model
    assert read_by(commands['cell']) == model


def test_the_command_line_goes_over_the_file(real, settings):
    model, commands, _ = real(
        io='ports', settings=str(settings), calibration_file='/tables/other.json',
        hardware_parameters='pcl726.coding=offset_binary safety.ramp_time=0.3')
    found = parameters(model)[1]
    assert found['pcl726.coding'] == 'offset_binary'
    assert found['safety.ramp_time'] == '0.3'
    assert found['calibration_file'] == '/tables/other.json'
    assert read_by(commands['guard']) == model


def test_a_description_of_ones_own(real, tmp_path):
    own = tmp_path / 'mine.urdf'
    text = Path(arm_launch.share('puma_description', 'urdf', 'puma560.urdf')).read_text()
    own.write_text(text.replace('</plugin>', '</plugin><param name="pcl818.base">0x320</param>'))
    model, commands, _ = real(io='ports', description=str(own))
    plugin, found = parameters(model)
    assert plugin == 'puma_hardware/PumaSystem', 'and not the simulation'
    assert found['pcl818.base'] == '0x320'
    assert read_by(commands['guard']) == model
    own.write_text(text.replace('<ros2_control name="puma560"', '<ros2_control name="arm"'))
    with pytest.raises(RuntimeError, match="named 'arm'; name it 'puma560'"):
        real(io='ports', description=str(own))


def test_wrong_settings_are_refused_before_anything_starts(real, tmp_path):
    file = tmp_path / 'wrong.yaml'
    file.write_text('pcl726.coding: gray\n')
    with pytest.raises(RuntimeError, match='pcl726.coding'):
        real(io='ports', settings=str(file))


def test_an_emulated_arm_has_relaxed_limits(real):
    model, commands, told = real(io='emulated')
    assert parameters(model)[1]['safety.max_missed_deadlines'] == '500'
    assert timeout_of(commands['guard']) == 1000
    assert 'limits relaxed for non-real-time hosts (guard 1000 ms, safety.' in told
    model, commands, told = real(io='ports')
    assert not any(name.startswith('safety.') for name in parameters(model)[1])
    assert timeout_of(commands['guard']) == 8
    assert 'relaxed' not in told


@pytest.mark.parametrize('rate, timeout', [('1000', 8), ('500', 8), ('125', 32), ('50', 80)])
def test_the_guard_tolerates_slow_rates(real, rate, timeout):
    assert timeout_of(real(io='ports', update_rate=rate)[1]['guard']) == timeout


@pytest.mark.parametrize('rate', ['abc', '0', '-5', '1e3', '100000', ''])
def test_an_invalid_rate_is_refused(real, rate):
    with pytest.raises(RuntimeError, match=f'update_rate:={re.escape(rate)}: give a whole number'):
        real(io='ports', update_rate=rate)


def test_a_real_arm_runs_in_real_time(real):
    with pytest.raises(RuntimeError, match='use_sim_time:=true with io:=ports'):
        real(io='ports', use_sim_time='true')


def test_warns_of_a_real_arm_without_a_guard(real, monkeypatch):
    warnings = []
    monkeypatch.setattr(launch.logging.get_logger('launch.user'), 'warning', warnings.append)
    real(io='ports')
    assert warnings == []
    _, commands, _ = real(io='ports', guard='false')
    assert commands == {}
    assert 'NOTHING takes the voltage off' in warnings[0]


@pytest.mark.parametrize('robot', ['560', '600'])
def test_an_emulated_robot_needs_no_calibration_file(real, robot):
    model, commands, _ = real(io='emulated', robot=robot)
    assert 'calibration_file' not in parameters(model)[1]
    assert f'puma{robot}' in read_by(commands['emulate'])


def exit_of(process, code, shutting_down=False):
    """Return the actions of on_success() after the end of a process."""
    handler, started = arm_launch.on_success(process, ['then'], ['otherwise'])
    assert started is process
    context = LaunchContext()
    context._set_is_shutdown(shutting_down)
    event = ProcessExited(action=process, name='p', cmd=[], cwd=None, env=None, pid=1,
                          returncode=code)
    assert handler.event_handler.matches(event)
    return handler.event_handler.handle(event, context)


def test_the_rest_waits_for_the_end_of_a_process():
    process = ExecuteProcess(cmd=['true'])
    assert exit_of(process, 0) == ['then']
    assert exit_of(process, 1) == ['otherwise']
    assert exit_of(process, -2, shutting_down=True) is None


def test_the_rest_waits_for_the_emulated_robot(real):
    commands = real(io='emulated', cell='mine')[1]
    assert commands['cell'][:2] == ['mine', '--wait']
    assert list(commands) == ['emulate', 'cell', 'guard']
