# SPDX-License-Identifier: Apache-2.0
"""Writes the data of a report and calls `ga report`."""

import json

from sim_bench import ga


def run_tool(*arguments):
    return ga('report', *arguments)


def write_data(path, data):
    path.write_text(json.dumps(data, ensure_ascii=False, separators=(',', ':')), encoding='utf-8')
    return path
