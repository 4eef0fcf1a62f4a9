# SPDX-License-Identifier: Apache-2.0
"""The report as a file: what it holds, and what is refused."""

import html.parser
import json
import re

import pytest

from report_tool import run_tool, write_data

LARGEST = 4_000_000  # bytes; 3.3 MB of which a third is libraries


class Elements(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.scripts, self.open = [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.links += [value for name, value in attributes
                       if name in ('src', 'href', 'srcset', 'data', 'action')]
        if tag == 'script':
            self.scripts.append('')
            self.open = tag

    def handle_endtag(self, tag):
        if tag == self.open:
            self.open = None

    def handle_data(self, data):
        if self.open:
            self.scripts[-1] += data


def test_the_file_refers_to_nothing_outside_itself(report):
    text = report.read_text(encoding='utf-8')
    assert all(link.startswith('data:') for link in Elements(text).links)
    styles = ''.join(re.findall(r'<style>(.*?)</style>', text, re.DOTALL))
    assert 'url(' not in styles and '@import' not in styles
    assert "default-src 'none'" in text
    assert 'sourceMappingURL' not in text


def test_the_data_come_back_as_they_went_in_whatever_they_hold(report, sample):
    # The sample's notes hold "</script>", "<!--" and U+2028.
    scripts = Elements(report.read_text(encoding='utf-8')).scripts
    assert json.loads(scripts[0]) == json.loads(json.dumps(sample))
    assert not re.search('<!--|\u2028', ''.join(scripts))


def test_a_report_of_four_runs_stays_small(report, sample):
    assert len(sample['runs']) == 4 and len(sample['runs'][0]['time']) == 1801
    assert report.stat().st_size < LARGEST


def test_a_report_can_be_written_again_and_leaves_no_other_file(report, tmp_path, sample):
    page = tmp_path / 'again.html'
    data = write_data(tmp_path / 'data.json', sample)
    for _ in range(2):
        assert run_tool(data, '--output', page).returncode == 0
    assert page.read_bytes() == report.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ['again.html', 'data.json']


@pytest.mark.parametrize('text', ['', ' \n', '[1, 2]', 'nonsense'])
def test_data_that_are_no_object_are_refused_and_the_old_report_stays(tmp_path, text):
    page = tmp_path / 'report.html'
    page.write_text('the old one')
    data = tmp_path / 'data.json'
    data.write_text(text)
    result = run_tool(data, '--output', page)
    assert result.returncode != 0 and 'JSON' in result.stderr
    assert page.read_text() == 'the old one'


def without(sample, path):
    """A copy without the member at `path`, as robot.joints."""
    copy = json.loads(json.dumps(sample))
    *parents, last = path.split('.')
    place = copy
    for key in parents:
        place = place[int(key) if key.isdigit() else key]
    del place[last]
    return copy


@pytest.mark.parametrize('text, message', [
    ('{}', "'title', 'robot' and 'runs' are missing"),
    ('{"title": "x", "robot": {"joints": [], "links": []}, "runs": []}', "'robot.joints'"),
    ('{"title": "x", "robot": {"joints": [{"name": "a"}], "links": []}, "runs": []}', "'runs'"),
    ('{"title": "x", "robot": 1, "runs": []}', "'robot'"),
    ('{"title": "x", "robot": {"joints": [{"name": "a"}], "links": []}, "runs": [1]}', "'runs[0]'"),
    ('{nonsense}', 'JSON'), ('{"title": "cut o', 'JSON')])
def test_data_without_what_a_report_shows_are_refused_by_name(tmp_path, text, message):
    data = tmp_path / 'data.json'
    data.write_text(text)
    result = run_tool(data, '--output', tmp_path / 'report.html')
    assert result.returncode == 2 and result.stdout == ''
    assert str(data) in result.stderr and message in result.stderr
    assert 'ga sim' in result.stderr  # what writes such data
    assert [path.name for path in tmp_path.iterdir()] == ['data.json']


@pytest.mark.parametrize('path', ['title', 'robot.joints', 'robot.links', 'runs.0.id',
                                  'runs.0.time', 'runs.0.q', 'runs.0.q_ref', 'runs.0.tau',
                                  'runs.0.tool', 'runs.0.tool_ref', 'runs.0.frames'])
def test_a_member_that_is_missing_is_named(tmp_path, sample, path):
    data = write_data(tmp_path / 'data.json', without(sample, path))
    result = run_tool(data, '--output', tmp_path / 'report.html')
    assert result.returncode == 2
    assert f"'{path.replace('runs.0', 'runs[0]')}' is missing" in result.stderr
    assert not (tmp_path / 'report.html').exists()


@pytest.mark.parametrize('key, value, message', [
    ('q', [[0]], "'runs[0].q' must have 6 lists of 1801"),
    ('tool', [[0], [0], [0]], "'runs[0].tool' must have 3 lists of 1801"),
    ('time', [], "'runs[0].time' must have"),
    ('frames', {'time': [0], 'poses': []}, "'runs[0].frames'"),
    ('frames', {'time': [0], 'poses': [[0]]}, '49 numbers'),
    ('reference_run', 'unknown', "'unknown'")])
def test_data_of_the_wrong_size_are_refused_by_name(tmp_path, sample, key, value, message):
    sample = json.loads(json.dumps(sample))
    sample['runs'][0][key] = value
    data = write_data(tmp_path / 'data.json', sample)
    result = run_tool(data, '--output', tmp_path / 'report.html')
    assert result.returncode == 2 and message in result.stderr


@pytest.mark.parametrize('place', ['missing/report.html', '.'])
def test_an_output_that_cannot_be_written_is_named(tmp_path, sample, place):
    data = write_data(tmp_path / 'data.json', sample)
    result = run_tool(data, '--output', tmp_path / place)
    assert result.returncode != 0
    assert str(tmp_path / place) in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ['data.json']
