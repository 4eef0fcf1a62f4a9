# SPDX-License-Identifier: Apache-2.0
"""The program that writes reports: REPORT_TOOL, called as `TOOL report DATA.json --output FILE`."""

import json
import os
import subprocess


def run_tool(*arguments):
    return subprocess.run([os.environ['REPORT_TOOL'], 'report', *map(str, arguments)],
                          capture_output=True, text=True, timeout=120)


def write_data(path, data):
    path.write_text(json.dumps(data, ensure_ascii=False, separators=(',', ':')), encoding='utf-8')
    return path
