#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Take a picture of a report: report_picture.py REPORT.html PICTURE.png [--key=value ...].

Keys: width, height, scheme (light, dark), run (from 0), time [s], exaggeration (of the error).
"""

import pathlib
import sys
import tempfile

from report_page import Page

DEFAULTS = {'width': '1280', 'height': '800', 'scheme': 'light', 'run': '0', 'time': '4.2',
            'exaggeration': '1'}


def main():
    files = [argument for argument in sys.argv[1:] if not argument.startswith('--')]
    given = dict(argument[2:].split('=', 1) for argument in sys.argv[1:]
                 if argument.startswith('--') and '=' in argument)
    if len(files) != 2 or not set(given) <= set(DEFAULTS):
        sys.exit(__doc__.strip())
    settings = {**DEFAULTS, **given}
    with tempfile.TemporaryDirectory() as profile:
        page = Page(profile, '--enable-unsafe-swiftshader')
        try:
            page.open_and_draw(pathlib.Path(files[0]).resolve(), width=int(settings['width']),
                               height=int(settings['height']), scheme=settings['scheme'])
            for key in ['run', 'exaggeration', 'time']:
                page.run('set(given[0], given[1]); await frame()', key, settings[key])
            page.screenshot(files[1])
        finally:
            page.driver.quit()


if __name__ == '__main__':
    main()
