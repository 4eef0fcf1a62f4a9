# SPDX-License-Identifier: Apache-2.0
"""One file of settings for every command, and a description made of it."""

import os
from pathlib import Path
import shutil
import subprocess
import tempfile
from xml.etree import ElementTree

from arm_processes import emulated_robot, puma, running
import pytest

# What an owner may have measured: nothing is as the defaults are.
MEASURED = """\
# my arm
pcl726.base: 0x2E0
pcl726.coding: twos_complement   # measured
pcl833.base: [0x220, 0x230]
pcl833.byte_offset: "2 1 0"
pcl726.power_output: 5
calibration_file: tables/my_arm.json
"""


@pytest.fixture
def settings(tmp_path):
    file = tmp_path / 'my_arm.yaml'
    file.write_text(MEASURED)
    return file


def parameters(urdf):
    hardware = ElementTree.fromstring(urdf).find('ros2_control/hardware')
    return {param.get('name'): param.text for param in hardware.findall('param')}


def test_settings_reach_the_cards(settings):
    text = puma('cards', 'probe', '--settings', str(settings)).stdout
    for card in ['PCL-818L at 0x300', 'PCL-726 at 0x2E0', 'PCL-833 at 0x220', 'PCL-833 at 0x230']:
        assert card in text


def test_set_goes_over_the_file(settings):
    text = puma('cards', 'probe', '--settings', str(settings), '--set', 'pcl726.base=0x2C0').stdout
    assert 'PCL-726 at 0x2C0' in text and 'PCL-833 at 0x220' in text


def test_the_table_lies_beside_the_file(settings):
    error = puma('calibrate', '--fast', '--settings', str(settings), code=2).stderr
    assert str(settings.parent / 'tables' / 'my_arm.json') in error, error


def test_urdf_writes_the_settings_into_the_hardware_tag(settings):
    done = puma('urdf', '--settings', str(settings), '--set', 'io=ports', '--default',
                'pcl726.coding=offset_binary', '--default', 'safety.ramp_time=0.3', '--plugin',
                'puma_hardware/PumaSystem')
    assert parameters(done.stdout) == {
        'pcl726.base': '0x2E0', 'pcl726.coding': 'twos_complement', 'pcl833.base': '0x220  0x230',
        'pcl833.byte_offset': '2 1 0', 'pcl726.power_output': '5', 'io': 'ports',
        'safety.ramp_time': '0.3',
        'calibration_file': str(settings.parent / 'tables' / 'my_arm.json')}
    hardware = ElementTree.fromstring(done.stdout).find('ros2_control/hardware')
    assert hardware.findtext('plugin') == 'puma_hardware/PumaSystem'


def test_describe_is_the_old_name_of_urdf(settings):
    old = puma('describe', '--settings', str(settings))
    assert old.stdout == puma('urdf', '--settings', str(settings)).stdout
    assert old.stderr == 'puma: `puma describe` is deprecated; use `puma urdf`\n'
    assert 'describe' not in puma('--help').stdout


def test_a_described_arm_is_the_same_arm(settings, tmp_path):
    described = tmp_path / 'my_arm.urdf'
    described.write_text(puma('urdf', '--settings', str(settings), '--set', 'io=emulated',
                              '--set', 'cell=anywhere', '--set', 'guard=true').stdout)
    with emulated_robot('described', '--urdf', str(described)) as cell:
        same = ['--cell', cell, '--settings', str(settings)]
        with running('guard', *same, '--timeout', '1000', says='running for'):
            puma('cards', 'output', '4', '0.1', '--seconds', '0.1', '--supported', *same)


GRIPPER = """
  <link name="finger">
    <inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <joint name="grip" type="prismatic">
    <parent link="link5"/><child link="finger"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0.05" effort="20" velocity="0.1"/>
  </joint>
  <ros2_control name="gripper" type="system">
    <hardware><plugin>{plugin}</plugin><param name="port">/dev/ttyS0</param></hardware>
    <joint name="grip"><command_interface name="effort"/></joint>
  </ros2_control>
</robot>"""


def with_gripper(path, plugin):
    path.write_text(puma('urdf').stdout.replace('</robot>', GRIPPER.format(plugin=plugin)))
    return str(path)


def test_a_gripper_has_a_tag_of_its_own(tmp_path):
    urdf = with_gripper(tmp_path / 'arm.urdf', 'some_gripper/Gripper')
    assert 'finger' in puma('cards', 'probe', '--urdf', urdf, code=2).stderr
    text = puma('cards', 'probe', '--urdf', urdf, '--set', 'tip=tool0', '--set',
                'freeze_off_chain=true', '--set', 'pcl726.base=0x2E0').stdout
    assert 'PCL-726 at 0x2E0' in text


def test_two_arms_in_a_description_are_refused(tmp_path):
    urdf = with_gripper(tmp_path / 'arm.urdf', 'puma_hardware/PumaSystem')
    assert 'keep that of one arm' in puma('cards', 'probe', '--urdf', urdf, code=2).stderr


def test_a_guard_with_other_settings_is_none(settings):
    with emulated_robot('unlike', '--settings', str(settings)) as cell:
        error = puma('guard', '--cell', cell, code=2).stderr
        assert 'pcl726' in error or 'pcl833' in error, error


@pytest.mark.parametrize('text, told', [
    ('pcl726.base 0x2C0', 'line 1: give `name: value`'),
    ('pcl726.base: 0x2C0\n\npcl726.base: 0x2D0', 'line 3: pcl726.base is set for the second time'),
    ('pcl726.bse: 0x2C0', 'pcl726.bse'),
    ('pcl726.coding: gray', 'pcl726.coding')])
def test_a_wrong_file_is_refused_by_line_or_name(tmp_path, text, told):
    file = tmp_path / 'wrong.yaml'
    file.write_text(text)
    assert told in puma('urdf', '--settings', str(file), code=2).stderr


def test_a_missing_file_is_named():
    assert 'nowhere.yaml' in puma('run', '--settings', '/nowhere.yaml', code=2).stderr


def test_the_puma_600_has_a_table_of_its_own():
    urdf = Path(__file__).parents[2] / 'puma_description' / 'urdf' / 'puma600.urdf'
    text = puma('calibrate', '--fast', '--urdf', str(urdf)).stdout
    assert 'calibrated; the arm is at' in text


@pytest.fixture
def installed():
    program = Path(os.environ['PUMA_INSTALLED'])
    if not program.is_file():
        pytest.skip(f'{program} is not installed')
    return program


def test_it_is_loaded_without_an_environment(installed):
    done = subprocess.run([installed, '--help'], env={}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_it_is_loaded_with_file_capabilities(installed):
    # As docs/commissioning.md grants them. The loader then trusts neither LD_LIBRARY_PATH nor
    # $ORIGIN; root, whom capabilities give nothing, does not see it. This capability lets the
    # loader read the libraries in a workspace that is root's alone, too.
    if os.geteuid() != 0 or not shutil.which('setcap') or not shutil.which('setpriv'):
        pytest.skip('needs root, setcap and setpriv')
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program = shutil.copy(installed, folder)
        if subprocess.run(['setcap', 'cap_dac_override+ep', program]).returncode != 0:
            pytest.skip('this file system keeps no capabilities')
        # A loader that trusted its environment would list the libraries.
        done = subprocess.run(['setpriv', '--reuid', '65534', '--clear-groups', program, '--help'],
                              env={'LD_DEBUG': 'libs', 'PATH': os.environ['PATH']},
                              capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert 'find library=libga_dynamics.so' not in done.stderr


def test_systemd_accepts_the_units(tmp_path):
    if not shutil.which('systemd-analyze'):
        pytest.skip('needs systemd-analyze')
    root = Path(__file__).parents[2]
    units = [root / 'puma_hardware' / 'systemd' / 'puma-guard.service',
             root / 'puma_bringup' / 'systemd' / 'puma-arm.service']
    for unit in units:
        text = unit.read_text().replace('/usr/local/bin/puma', os.environ['PUMA_COMMAND'])
        (tmp_path / unit.name).write_text(text)
    done = subprocess.run(['systemd-analyze', 'verify', *sorted(tmp_path.iterdir())],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert 'puma-' not in done.stderr, done.stderr
