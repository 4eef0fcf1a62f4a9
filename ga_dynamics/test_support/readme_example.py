# SPDX-License-Identifier: Apache-2.0
"""An example of a package: its README.md shows the file as it is, and what it prints."""

import os
from pathlib import Path
import re
import shlex
import subprocess

EXAMPLE = Path(os.environ['GA_SOURCE'])
README = EXAMPLE.parents[1] / 'README.md'
LICENSE, CODE = EXAMPLE.read_text().split('\n', 1)


def blocks(language, text):
    """Return the blocks of this language."""
    return re.findall(rf'^```{language}\n(.*?)^```$', text, re.MULTILINE | re.DOTALL)


def test_the_readme_shows_the_example():
    assert LICENSE == '// SPDX-License-Identifier: Apache-2.0'
    assert CODE in blocks('cpp', README.read_text())


def test_the_readme_shows_what_it_prints():
    done = subprocess.run(shlex.split(os.environ['GA_EXAMPLE']), capture_output=True, text=True,
                          timeout=100)
    assert done.returncode == 0, done.stderr
    behind = README.read_text().split(f'```cpp\n{CODE}```\n')[1]
    assert blocks('text', behind)[0] == done.stdout


def test_it_is_short():
    assert len(EXAMPLE.read_text().splitlines()) <= 40
