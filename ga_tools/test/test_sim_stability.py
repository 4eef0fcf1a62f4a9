# SPDX-License-Identifier: Apache-2.0
"""The stability check that `ga sim` prints before it runs, and its options."""

import pytest

from sim_bench import PUMA_URDF, QUICK, ROBOTS, ga, simulate

LINE = 'stability of '


def lines_of(folder, *arguments, robot=PUMA_URDF):
    """Run `ga sim`; return its lines before the table."""
    result = ga('sim', robot, *QUICK, *arguments, '--output', folder)
    assert result.stderr == ''
    lines = result.stdout.splitlines()
    return lines[:next(i for i, line in enumerate(lines) if 'joint rms' in line)]


def test_every_law_is_checked_before_the_run_and_in_the_data(tmp_path):
    lines = lines_of(tmp_path, '--law', 'integral,tracking,ptp,pd')
    checks = [line for line in lines if line.startswith(LINE)]
    names = [check.split(':')[0] for check in checks]
    assert names == ['stability of integral', 'stability of tracking, ptp']
    assert 'stable for rho 0.24' in checks[0] and 'closed-loop bandwidth 12' in checks[0]
    assert not any('refuse' in line for line in lines)
    data, _ = simulate(tmp_path, *QUICK, '--law', 'integral,tracking')
    integral, tracking = data['stability']
    assert integral['laws'] == ['integral'] and tracking['laws'] == ['tracking']
    assert integral['verdict'] == 'stable' and integral['accepted'] is True
    low, high = integral['stable_rho']
    assert low < integral['rho'][0] < 1 < integral['rho'][1] < high
    assert 100 < integral['bandwidth'] < 150 and integral['warnings'] == []


def test_a_description_without_rotor_inertia_is_named_with_the_cost(tmp_path):
    lines = lines_of(tmp_path, '--law', 'integral', robot=ROBOTS / 'ur10e.urdf')
    (note,) = [line for line in lines if 'no rotor inertia' in line]
    assert note.startswith('note: stability: ')
    assert '0 is assumed' in note and 'payload of 1 kg, rho falls to' in note


def test_a_simulated_payload_is_assumed_and_a_declared_one_refused(tmp_path):
    ur10e = ROBOTS / 'ur10e.urdf'
    assumed = lines_of(tmp_path, '--law', 'integral', '--payload', 5, robot=ur10e)
    assert any('unstable if the arm differs' in line and 'payload 0 to 5 kg' in line
               for line in assumed)
    declared = lines_of(tmp_path, '--law', 'integral', '--uncertainty-payload', 5, robot=ur10e)
    (refusal,) = [line for line in declared if 'a controller would refuse' in line]
    assert 'within the declared uncertainty' in refusal and 'Remedy: ' in refusal


@pytest.mark.parametrize('frequency', [60, 40])
def test_gains_are_fitted_to_a_resonance_on_request(tmp_path, frequency):
    elastic = ['--law', 'integral', '--elastic-frequency', frequency]
    assert any('too fast for the elastic drives' in line for line in lines_of(tmp_path, *elastic))
    data, _ = simulate(tmp_path, *QUICK, *elastic, '--fit-resonance')
    assert data['stability'][0]['accepted'] is True
    gains = data['made_with']['gains'][0]
    assert gains['ki'] < 0.32 * 40**3 and gains['kp'] <= 1600
    assert 'the gains are lowered to fit the resonance of the drives' in data['notes']


def test_impossible_options_are_refused_by_name(tmp_path):
    for arguments, text in [
            (['--fit-resonance'], '--fit-resonance: there is no resonance; give --uncertainty-'),
            (['--uncertainty-mass', 1], '--uncertainty-mass'),
            (['--uncertainty-delay', 11], '--uncertainty-delay'),
            (['--fit-resonance', '--uncertainty-resonance', '60,50'], 'one for each of the 6')]:
        result = ga('sim', PUMA_URDF, *QUICK, *arguments, '--output', tmp_path)
        assert result.returncode != 0 and text in result.stderr, result.stderr
