# SPDX-License-Identifier: Apache-2.0
"""`ga sim` with runs that fail: each is named, and the exit code is 1."""

import pytest
from sim_bench import JOINTS, PUMA_URDF, QUICK, ga, simulate


def test_a_run_that_ends_beside_its_goal_is_named_and_ends_with_1(tmp_path):
    # The model lacks a payload that draws the arm down, and the gains are low.
    data, rows = simulate(tmp_path, *QUICK, '--law', 'tracking', '--payload', 5, '--bandwidth', 6,
                          code=1)
    assert rows['Tracking'][4] > 100 and rows['Tracking'][-1] == 'reference lost'
    assert 'at rest' in data['runs'][0]['verdict']['reason']


def test_a_run_that_diverges_is_named_and_ends_with_1(tmp_path):
    data, rows = simulate(tmp_path, *QUICK, '--rate', 50, '--bandwidth', 500, code=1)
    text = (tmp_path / 'data.json').read_text()
    assert 'NaN' not in text and 'Infinity' not in text
    assert len(rows) == 6
    for run, row in zip(data['runs'], data['table']['rows']):
        assert rows[run['label']][:11] == [None] * 11 and rows[run['label']][-1] == 'fault'
        assert row['state'] == run['verdict']['state'] == 'fault' and row['final'] is None
        assert run['verdict']['joint'] in JOINTS
        reason = run['verdict']['reason']
        assert 'rad/s' in reason and run['verdict']['joint'] in reason
        assert 0 < run['verdict']['time'] < 3
        assert run['time'][-1] == pytest.approx(run['verdict']['time'], abs=1e-9)
        assert any(event['text'].startswith('fault: ') for event in run['events'])
    printed = ga('sim', PUMA_URDF, *QUICK, '--rate', 50, '--bandwidth', 500, '--output',
                 tmp_path).stdout
    assert 'nan' not in printed and '0.0000' not in printed
    verdict = data['runs'][0]['verdict']
    assert (f'Tracking with integral: fault at {verdict["time"]:.3f} s: {verdict["reason"]}'
            in printed.splitlines())


def test_a_run_that_oscillates_is_named_and_ends_with_1_and_the_others_are_ok(tmp_path):
    # Break-away friction and a payload, and no friction fed forward: the integral hunts.
    data, rows = simulate(tmp_path, '--friction', 0, '--stiction', 1.3, '--payload', 2.5,
                          '--settle', 10, '--law', 'integral', '--law', 'tracking', code=1)
    assert rows['Tracking with integral'][-1] == 'oscillating'
    assert rows['Tracking'][-1] == 'ok'
    assert ' Hz ' in data['runs'][0]['verdict']['reason']


def test_a_comparison_that_fails_is_named_but_does_not_count_unless_asked_for(tmp_path):
    # The payload and gravity, of which the PD knows nothing, draw it away from its goal.
    arguments = [*QUICK, '--bandwidth', 14, '--payload', 6]
    _, rows = simulate(tmp_path, *arguments)
    assert rows['Joint PD, no model'][-1] == 'reference lost'
    assert {row[-1] for label, row in rows.items() if label != 'Joint PD, no model'} == {'ok'}
    simulate(tmp_path, *arguments, '--law', 'tracking', '--law', 'pd', code=1)
