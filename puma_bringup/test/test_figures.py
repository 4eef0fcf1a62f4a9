# SPDX-License-Identifier: Apache-2.0
"""The figures in the documents match the output of their commands (scripts/figures.py)."""

import importlib.util
import os
from pathlib import Path
import subprocess

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / 'scripts' / 'figures.py'

specification = importlib.util.spec_from_file_location('figures', TOOL)
figures = importlib.util.module_from_spec(specification)
specification.loader.exec_module(figures)


def test_the_documents_have_what_the_commands_give():
    done = subprocess.run([TOOL, 'check', os.environ['DOCUMENTS_TAG']], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout


@pytest.fixture
def run(tmp_path):
    (tmp_path / 'data.json').write_text('{"table": {"rows": [{"run": "pd", "tool_rms": 3.8}]}}')
    return figures.Run('error: 0.015 mm, −2e-3 rad', tmp_path)


def test_a_source_gives_numbers(run):
    assert run.values('table:pd.tool_rms') == [3.8]
    assert run.values(r'text:error: (\S+) mm, (\S+) rad') == [0.015, -0.002]
    assert run.values('size:data.json') == [pytest.approx(58e-6, abs=5e-6)]
    with pytest.raises(LookupError, match='has no'):
        run.values('text:velocity (.*)')


@pytest.mark.parametrize('written, wrong', [(3.8, False), (3.6, False), (3.3, True), (4.3, True)])
def test_a_figure_that_is_off_is_found(run, written, wrong):
    figure = {'values': ['table:pd.tool_rms'], 'tolerance': 0.1}
    assert figures.off(figure, [written], [run])[0] == wrong


@pytest.mark.parametrize('low, high, wrong', [
    (0.014, 0.016, False), (0.016, 0.018, False), (0.017, 0.018, True), (0.01, 0.013, True)])
def test_a_range_that_is_off_is_found(run, low, high, wrong):
    figure = {'values': [r'text:error: (\S+) mm'], 'tolerance': 0.1, 'range': True}
    assert figures.off(figure, [low, high], [run])[0] == wrong


def test_a_text_is_found_across_lines_with_any_numbers():
    found = figures.pattern('follows within {} mm RMS').search('law follows\nwithin 0.45 mm RMS')
    assert found.groups() == ('0.45',)
    assert not figures.pattern('follows within {} mm').search('follows within no mm')


def test_an_update_changes_the_numbers_alone():
    text = 'law follows\nwithin 0.45 mm RMS and rests within 0.2 mrad of its goal.'
    found = figures.pattern('within {} mm RMS and rests within {} mrad').search(text)
    assert figures.replaced(text, found, ['0.5', '3e-4']) == (
        'law follows\nwithin 0.5 mm RMS and rests within 3e-4 mrad of its goal.')
