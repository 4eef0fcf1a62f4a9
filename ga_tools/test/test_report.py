# SPDX-License-Identifier: Apache-2.0
"""The report of a simulation, written by `ga` and opened in a real, headless Chromium."""

import copy
import json
import re

import pytest

from report_page import Page
from report_tool import run_tool, write_data
from sim_bench import JOINTS, PUMA_URDF, QUICK, ROBOTS, ga


@pytest.fixture(scope='module')
def window(tmp_path_factory):
    page = Page(tmp_path_factory.mktemp('profile'), '--enable-unsafe-swiftshader')
    yield page
    page.driver.quit()


@pytest.fixture
def page(window, report):
    window.console.clear()
    window.open_and_draw(report)
    yield window
    assert window.severe() == []


def changed_at(page, time):
    """Return the fraction of the view's pixels that change when the slider moves to a time."""
    return page.run("""
        const scene = document.getElementById('scene');
        const before = pixels(scene);
        set('time', given[0]);
        await frame();
        return changed(before, pixels(scene));""", time)


def test_nothing_is_loaded_but_the_file(page, report):
    page.requests()
    page.open_and_draw(report)
    outside = [url for url in page.requests() if not url.startswith(('data:', 'blob:'))]
    assert outside == [report.as_uri()]
    assert page.run('return performance.getEntriesByType("resource").map((entry) => entry.name)'
                    '.filter((name) => !/^(data|blob):/.test(name))') == []


def test_the_arm_is_drawn(page):
    assert page.state()['webgl']
    assert page.run('return colors(document.getElementById("scene"))') > 200


def test_the_slider_moves_the_arm(page, sample):
    moved, time_shown = page.run("""
        const scene = document.getElementById('scene');
        const before = pixels(scene);
        set('time', 4.5);
        await frame();
        return [changed(before, pixels(scene)), document.getElementById('clock').textContent];""")
    assert moved > 0.02
    assert time_shown == '4.50 / 9.00 s'
    state = page.state()
    assert state['time'] == 4.5
    assert state['joints'] == pytest.approx([q[900] for q in sample['runs'][0]['q']])


def test_between_two_frames_the_arm_is_interpolated(page, sample):
    before, after = sample['runs'][0]['frames']['poses'][200:202]  # at 4.00 s and 4.02 s
    links = page.run('set("time", 4.01); await frame(); return reportState.links')
    for n, link in enumerate(links):
        middle = [(a + b) / 2 for a, b in zip(before[7 * n:7 * n + 3], after[7 * n:7 * n + 3])]
        assert link == pytest.approx(middle, abs=1e-9)
    assert before[-7:-4] != after[-7:-4]


def test_the_run_selector_switches_the_run(page, sample):
    moved = page.run("""
        set('time', 4);
        set('exaggeration', 10);
        await frame();
        const before = pixels(document.getElementById('scene'));
        set('run', 3);
        await frame();
        return changed(before, pixels(document.getElementById('scene')));""")
    assert moved > 0
    state = page.state()
    assert state['run'] == 'pd'
    assert state['joints'] == pytest.approx([q[800] for q in sample['runs'][3]['q']])
    assert page.run('return document.querySelector("tr.selected th").textContent') == (
        'Joint PD, no model')
    assert page.run('return document.getElementById("event").textContent') == (
        '3.80 s: joint4 reaches its torque limit')


def test_exaggerating_the_error_moves_the_path_but_not_the_plots(page):
    before, path, plots = page.run("""
        const scene = document.getElementById('scene');
        const plot = document.querySelector('.plot canvas');
        set('run', 3);
        await frame();
        const old = [pixels(scene), pixels(plot)];
        set('exaggeration', 10);
        await frame();
        return [reportState.time, changed(old[0], pixels(scene)), changed(old[1], pixels(plot))];
        """)
    assert before == 0 and path > 0.0005 and plots == 0


def test_every_joint_has_its_three_plots_with_all_runs(page, sample):
    plots = [plot for plot in page.state()['plots'] if not plot['detail']]
    assert [(plot['joint'], plot['quantity']) for plot in plots] == [
        (joint, quantity) for joint in range(6) for quantity in ['position', 'error', 'torque']]
    for plot in plots:  # the position also has the reference
        assert plot['series'] == (5 if plot['quantity'] == 'position' else 4)
    names = page.run('return [...document.querySelectorAll(".joint-row h3")]'
                     '.map((head) => head.textContent)')
    assert names == JOINTS
    drawn = page.run("""
        return [...document.querySelectorAll('.joint-row .plot')].map((plot) => {
          const canvases = [...plot.querySelectorAll('canvas')];
          return Math.max(...canvases.map(colors));
        });""")
    assert len(drawn) == 18 and min(drawn) > 20


def test_torque_limits_are_drawn_where_they_are(page, sample):
    plots = [plot for plot in page.state()['plots'] if not plot['detail']]
    for joint in range(6):
        plot = plots[3 * joint + 2]
        limit = sample['robot']['joints'][joint]['effort_limit']
        assert plot['limits'] == [-limit, limit]
        low, high = plot['limitPixels']
        assert high < low
        for y in [low, high]:
            assert page.run("""
                const [joint, y] = given;
                const plot = document.querySelectorAll('.joint-row')[joint]
                  .querySelectorAll('.plot')[2];
                return Math.max(...[...plot.querySelectorAll('canvas')].map((canvas) => {
                  const { data, width } = pixels(canvas);
                  let red = 0;
                  for (let x = 0; x < width; x++) {
                    const [r, g, b, a] = data.slice(4 * (Math.floor(y) * width + x));
                    if (a > 200 && r > 150 && g < 110 && b < 120) red++;
                  }
                  return red / width;
                }));""", joint, y) > 0.7


def test_each_tab_shows_one_joint_or_the_tool(page):
    for name in [*JOINTS, 'tool']:
        page.run('[...document.querySelectorAll("#tabs button")]'
                 '.find((tab) => tab.textContent === given[0]).click()', name)
        state = page.state()
        shown = [plot for plot in state['plots'] if plot['detail']]
        assert state['tab'] == name and len(shown) == 3 and all(plot['drawn'] for plot in shown)
        assert {plot['joint'] for plot in shown} == {
            None if name == 'tool' else JOINTS.index(name)}


def test_a_run_can_be_hidden(page):
    assert page.run("""
        const plot = document.querySelectorAll('#detail-plots .plot')[1];
        const canvases = [...plot.querySelectorAll('canvas')];
        const canvas = canvases.sort((a, b) => colors(b) - colors(a))[0];
        const before = pixels(canvas);
        document.querySelectorAll('#legend input')[3].click();
        await frame();
        return changed(before, pixels(canvas));""") > 0.01
    assert page.run('return document.querySelector("#detail-plots .readout").children.length') == 4


def test_the_table_has_every_row_and_marks_the_best(page, sample):
    rows = page.run("""
        return [...document.querySelectorAll('#table tbody tr')].map((row) =>
          [...row.children].map((cell) => [cell.textContent, cell.classList.contains('best')]));""")
    assert [row[0][0] for row in rows] == [run['label'] for run in sample['runs']]
    best = [[column for column in range(1, 7) if row[column][1]] for row in rows]
    assert best == [[], [], [1, 2, 3], [4]]  # the last columns have none: better is 'none'
    assert rows[3][4][0] == '0.06'


def test_notes_are_shown_as_text(page, sample):
    assert page.run('return [...document.querySelectorAll("#notes li")]'
                    '.map((note) => note.textContent)') == sample['notes']


def test_what_the_report_was_made_with_is_shown(page, sample):
    made = sample['made_with']
    assert page.run('return document.getElementById("command").textContent') == made['command']
    facts = page.run("""
        const texts = (name) => [...document.querySelectorAll(`#made > ${name}`)]
          .map((item) => item.textContent);
        const values = texts('dd');
        return Object.fromEntries(texts('dt').map((label, i) => [label, values[i]]));""")
    assert facts['Version'] == 'ga_tools ' + made['version']
    assert facts['SHA-256 of the file'] == made['robot']['sha256']
    assert facts['Robot'].startswith('puma560.urdf: base_link to tool0, 6 joints')
    assert facts['Loop'] == '1000 Hz, seed 1'
    assert 'payload 2.5 kg' in facts['Unknown to the laws']
    rows = page.run("""
        return [...document.querySelectorAll('#joint-settings tbody tr')].map((row) =>
          [...row.children].map((cell) => cell.textContent));""")
    assert rows[1] == ['joint2', '1600', '80', '200000', '17143', '18.64', '0.98', '1.02']


def test_runs_that_went_wrong_are_named_above_the_page(page, sample):
    shown = page.run('return [...document.querySelectorAll("#verdicts li")]'
                     '.map((item) => item.textContent)')
    assert shown == ["Joint PD, no model: oscillating at 7.800 s: joint 'joint4' oscillates"]
    assert page.run('return [...document.querySelectorAll("td.wrong")]'
                    '.map((cell) => cell.textContent)') == ['oscillating']


def test_a_run_that_diverged_is_shown_up_to_there(window, tmp_path):
    result = ga('sim', PUMA_URDF, *QUICK, '--ki', '1000000', '--output', tmp_path)
    assert result.returncode == 1, result.stderr
    window.console.clear()
    window.open_and_draw(tmp_path / 'report.html')
    verdicts = window.run('return document.getElementById("verdicts").textContent')
    assert verdicts.startswith('Tracking with integral: ')
    assert "1000000" in window.run('return document.getElementById("made-section").textContent')
    assert window.run('set("time", 2); await frame();'
                      'return reportState.joints.every(Number.isFinite)')
    assert window.severe() == []


def test_an_arm_without_meshes_is_drawn_as_a_stick_figure(window, tmp_path):
    result = ga('sim', ROBOTS / 'seven_joints.urdf', '--law', 'tracking', '--settle', '0.5',
                '--output', tmp_path)
    assert result.returncode == 0, result.stderr
    window.console.clear()
    window.open_and_draw(tmp_path / 'report.html')
    assert window.run('return colors(document.getElementById("scene"))') > 200
    middle = window.state()['plots'][0]['window'][1] / 2
    assert changed_at(window, middle) > 0.002
    assert window.severe() == []


def test_keys_step_and_play(page):
    page.keys('ArrowRight')
    assert page.state()['time'] == pytest.approx(0.02)
    page.keys('ArrowRight', modifiers=8)  # shift
    assert page.state()['time'] == pytest.approx(0.22)
    page.keys('ArrowLeft')
    assert page.state()['time'] == pytest.approx(0.20)
    page.keys(' ')
    page.wait('return reportState.playing && reportState.time > 0.4')
    page.keys(' ')
    state = page.state()
    assert not state['playing']
    assert page.state()['time'] == state['time']


def middle_of(page, selector, dx=0.0):
    return page.run("""
        const element = document.querySelector(given[0]);
        element.scrollIntoView({ block: 'center' });
        await frame();
        const { left, top, width, height } = element.getBoundingClientRect();
        return [left + (0.5 + given[1]) * width, top + height / 2];""", selector, dx)


def test_a_click_into_a_plot_goes_to_its_time(page):
    x, y = middle_of(page, '#detail-plots .plot-area')
    page.mouse('mouseMoved', x, y)
    page.mouse('mousePressed', x, y)
    page.mouse('mouseReleased', x, y)
    assert 3 < page.state()['time'] < 5


def test_zooming_one_plot_zooms_all_and_can_be_undone(page):
    start, end = (middle_of(page, '.joint-row .plot-area', dx) for dx in [-0.1, 0.2])
    page.drag(start, end)
    windows = [plot['window'] for plot in page.state()['plots']]
    low, high = windows[0]
    assert 1 < low < 4 and 4 < high < 8
    assert windows == [[low, high]] * 21
    page.run('document.getElementById("reset-zoom").click()')
    assert [plot['window'] for plot in page.state()['plots']] == [[0, 9]] * 21


def test_dragging_turns_the_view(page):
    x, y = middle_of(page, '#scene')
    page.run('window.before = pixels(document.getElementById("scene"))')
    page.drag((x, y), (x + 150, y + 20))
    assert page.run('await frame();'
                    'return changed(before, pixels(document.getElementById("scene")))') > 0.05


def test_a_log_axis_and_fitted_torques_draw_all_plots_anew(page):
    changed = page.run("""
        const all = () => [...document.querySelectorAll('.joint-row:first-child .plot')]
          .map((plot) => [...plot.querySelectorAll('canvas')].map(pixels));
        const before = all();
        set('error-scale', 'log');
        set('torque-range', 'data');
        while (reportState.pending) await frame();
        const after = all();
        return before.map((plot, i) =>
          Math.max(...plot.map((canvas, k) => changed(canvas, after[i][k]))));""")
    assert changed[0] == 0 and changed[1] > 0.01 and changed[2] > 0.01


def test_dark_and_narrow_windows(window, report):
    window.open_and_draw(report)
    light = window.run('return getComputedStyle(document.body).backgroundColor')
    window.scheme('dark')
    assert window.run('await frame(); return getComputedStyle(document.body).backgroundColor') != (
        light)
    window.open_and_draw(report, width=390, height=844)
    assert window.run('return document.documentElement.scrollWidth') <= 390
    assert window.severe() == []


def test_a_printed_report_is_light_and_has_all_plots_as_pictures(window, report):
    window.open_and_draw(report, scheme='dark')
    pictures = window.run("""
        let pictures = null;
        addEventListener('beforeprint', () => {
          pictures = [document.documentElement.dataset.theme,
                      document.querySelectorAll('.plot .print-picture').length];
        });
        window.printed = () => pictures;""")
    assert pictures is None
    window.driver.execute_cdp_cmd('Page.printToPDF', {'printBackground': True})
    assert window.run('return printed()') == ['light', 2 * 21]
    assert window.run('return document.querySelectorAll(".print-picture").length') == 0
    assert window.run('return document.documentElement.dataset.theme') == 'dark'
    assert window.severe() == []


def test_data_that_lack_something_are_told_on_the_page(window, sample, tmp_path):
    # `ga report` refuses such data. A page that another program wrote reports the error itself.
    page = tmp_path / 'broken.html'
    result = run_tool(write_data(tmp_path / 'data.json', sample), '--output', page)
    assert result.returncode == 0, result.stderr
    text = page.read_text(encoding='utf-8')
    data = re.search(r'<script[^>]*application/json[^>]*>(.*?)</script>', text, re.DOTALL)
    broken = json.loads(data.group(1))
    broken['runs'][1]['tau'].pop()
    page.write_text(text[:data.start(1)] + json.dumps(broken).replace('<', '\\u003c')
                    + text[data.end(1):], encoding='utf-8')
    window.open(page)
    message = window.run('const text = document.getElementById("failure");'
                         'return text.hidden ? null : text.textContent')
    assert message == ("The report's data cannot be shown: run 'tracking': tau needs 6 columns.")
    window.severe()
    window.console.clear()


def test_runs_of_different_lengths_with_own_references_and_gaps_are_shown(window, sample, tmp_path):
    mixed = copy.deepcopy(sample)
    short = mixed['runs'][1]
    reference = mixed['runs'][0]
    del short['reference_run'], short['error']
    for key in ['q', 'tau', 'tool']:
        short[key] = [column[:1000] for column in short[key]]
    short['time'] = short['time'][:1000]
    short['tool_ref'] = [column[:1000] for column in reference['tool_ref']]
    short['q_ref'] = [[v + 0.1 for v in column[:1000]] for column in reference['q_ref']]
    for column in short['tau'] + short['tool']:  # not a number, as JSON has it
        column[300:320] = [None] * 20
    page = tmp_path / 'mixed.html'
    result = run_tool(write_data(tmp_path / 'data.json', mixed), '--output', page)
    assert result.returncode == 0, result.stderr
    window.console.clear()
    window.open_and_draw(page)
    window.run('set("run", 1); set("time", 1.55); await frame()')
    readout = window.run('return document.getElementById("tool-readout").textContent')
    assert readout.startswith('tool  x –')
    window.run('set("error-scale", "log"); while (reportState.pending) await frame()')
    window.run('set("time", 8); await frame()')
    state = window.state()
    assert state['joints'] == pytest.approx([column[-1] for column in short['q']])
    assert state['plots'][0]['series'] == 8  # four runs, each with its reference
    assert window.severe() == []


def test_without_webgl_the_arm_is_drawn_in_2d(report, tmp_path_factory):
    page = Page(tmp_path_factory.mktemp('profile'), '--disable-3d-apis')
    try:
        page.open_and_draw(report)
        assert not page.state()['webgl']
        assert page.run('return !document.getElementById("view-note").hidden')
        assert page.run('return colors(document.getElementById("scene"))') > 100
        assert changed_at(page, 4.5) > 0.02
        assert page.severe() == []
    finally:
        page.driver.quit()


def test_the_report_of_a_simulation_is_shown(window, tmp_path):
    result = ga('sim', PUMA_URDF, *QUICK, '--output', tmp_path)
    assert result.returncode == 0, result.stderr
    window.console.clear()
    window.open_and_draw(tmp_path / 'report.html')
    assert window.run('return colors(document.getElementById("scene"))') > 200
    assert changed_at(window, 1.5) > 0.02
    state = window.state()
    assert len(state['plots']) == 21 and all(plot['drawn'] for plot in state['plots'])
    assert state['plots'][0]['series'] == 7  # six laws and controllers and their one reference
    assert window.run('return document.querySelectorAll("#table tbody tr").length') == 6
    # Every column is seen without scrolling.
    assert window.run("""
        const frame = document.getElementById('table').closest('.scroll');
        return frame.scrollWidth - frame.clientWidth;""") == 0
    assert window.severe() == []
