# SPDX-License-Identifier: Apache-2.0
"""A report in a real, headless Chromium, for tests and pictures."""

import base64
import json
import pathlib
import shutil
import subprocess
import time

import pytest

HELPERS = """
window.frame = () => new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(done));
});
window.pixels = (canvas) => {
  const copy = document.createElement('canvas');
  Object.assign(copy, { width: canvas.width, height: canvas.height });
  const context = copy.getContext('2d');
  context.drawImage(canvas, 0, 0);
  return context.getImageData(0, 0, copy.width, copy.height);
};
window.colors = (canvas) => {
  const { data } = pixels(canvas);
  const seen = new Set();
  for (let i = 0; i < data.length; i += 4) {
    seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
  }
  return seen.size;
};
window.changed = (before, after) => {
  let count = 0;
  for (let i = 0; i < before.data.length; i += 4) {
    const far = [0, 1, 2].some((k) => Math.abs(before.data[i + k] - after.data[i + k]) > 20);
    if (far) count++;
  }
  return count / (before.data.length / 4);
};
window.set = (id, value) => {
  const element = document.getElementById(id);
  element.value = value;
  element.dispatchEvent(new Event(element.type === 'range' ? 'input' : 'change'));
};
"""


def chromium():
    """The browser and its driver, or the reason why there are none."""
    browser = next(filter(None, map(shutil.which, ['chromium', 'chromium-browser',
                                                   'google-chrome'])), None)
    driver = shutil.which('chromedriver')
    if not browser or not driver:
        pytest.skip('no Chromium to look with; install chromium and chromium-driver')
    version = subprocess.run([browser, '--version'], capture_output=True, text=True, timeout=60)
    if version.returncode != 0:
        pytest.skip(f'{browser} does not start: {version.stderr.strip()}')
    return browser, driver


class Page:
    """One window of a browser, with what the page asked the network for and said on its console."""

    def __init__(self, profile, *flags):
        pytest.importorskip('selenium', reason='selenium is missing; install python3-selenium')
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
        browser, driver = chromium()
        options = webdriver.ChromeOptions()
        options.binary_location = browser
        for flag in ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
                     '--disable-background-networking', '--disable-component-update',
                     '--disable-sync', '--no-first-run', '--hide-scrollbars',
                     '--force-device-scale-factor=1', f'--user-data-dir={profile}', *flags]:
            options.add_argument(flag)
        options.set_capability('goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'})
        self.driver = webdriver.Chrome(service=Service(driver), options=options)
        self.driver.set_script_timeout(120)
        self.driver.set_page_load_timeout(120)
        self.driver.execute_cdp_cmd('Network.enable', {})
        self.driver.execute_cdp_cmd('Network.emulateNetworkConditions', {
            'offline': True, 'latency': 0, 'downloadThroughput': 0, 'uploadThroughput': 0})
        self.console = []

    def open(self, path, width=1280, height=800, scheme='light'):
        self.size(width, height)
        self.scheme(scheme)
        self.driver.get(path.as_uri())
        self.driver.execute_script(HELPERS)

    def open_and_draw(self, *arguments, **options):
        self.open(*arguments, **options)
        self.wait('return reportState.plots.every((plot) => plot.drawn)')
        self.run('await frame()')

    def size(self, width, height):
        self.driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {
            'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': width < 600})

    def scheme(self, name):
        self.driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {
            'features': [{'name': 'prefers-color-scheme', 'value': name}]})

    def wait(self, script, seconds=120):
        end = time.monotonic() + seconds
        while not self.driver.execute_script(script):
            assert time.monotonic() < end, f'never true: {script}'
            time.sleep(0.1)

    def run(self, body, *arguments):
        """Runs the body of an asynchronous function in the page and gives what it returns."""
        result = self.driver.execute_async_script(
            'const done = arguments[arguments.length - 1];'
            f'(async (...given) => {{ {body} }})(...arguments).then('
            '(value) => done([null, value]), (error) => done([String(error), null]));', *arguments)
        assert result[0] is None, result[0]
        return result[1]

    def state(self):
        return self.run('return reportState')

    def keys(self, key, **modifiers):
        for kind in ['keyDown', 'keyUp']:
            self.driver.execute_cdp_cmd('Input.dispatchKeyEvent', {
                'type': kind, 'key': key, 'code': {' ': 'Space'}.get(key, key), **modifiers})

    def mouse(self, kind, x, y):
        self.driver.execute_cdp_cmd('Input.dispatchMouseEvent', {
            'type': kind, 'x': x, 'y': y, 'clickCount': 1,
            'button': 'none' if kind == 'mouseMoved' else 'left',
            'buttons': 0 if kind == 'mouseReleased' else 1})

    def drag(self, start, end):
        self.mouse('mousePressed', *start)
        for part in [0.5, 1]:
            self.mouse('mouseMoved', *[a + part * (b - a) for a, b in zip(start, end)])
        self.mouse('mouseReleased', *end)

    def severe(self):
        self.console += self.driver.get_log('browser')
        return [entry['message'] for entry in self.console if entry['level'] == 'SEVERE']

    def requests(self):
        events = [json.loads(entry['message'])['message']
                  for entry in self.driver.get_log('performance')]
        return [event['params']['request']['url'] for event in events
                if event['method'] == 'Network.requestWillBeSent']

    def screenshot(self, path):
        data = self.driver.execute_cdp_cmd('Page.captureScreenshot', {'format': 'png'})['data']
        path = pathlib.Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(data))
