# SPDX-License-Identifier: Apache-2.0
"""What the tests of the report share: the sample's data and its report, written once."""

import pytest

from report_sample import sample_report
from report_tool import run_tool, write_data


@pytest.fixture(scope='session')
def sample():
    return sample_report()


@pytest.fixture(scope='session')
def report(sample, tmp_path_factory):
    folder = tmp_path_factory.mktemp('report')
    page = folder / 'report.html'
    result = run_tool(write_data(folder / 'data.json', sample), '--output', page)
    assert result.returncode == 0, result.stderr
    return page
