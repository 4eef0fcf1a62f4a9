# SPDX-License-Identifier: Apache-2.0
"""A package's first example: its README.md shows the file as it is, and what it prints."""

import os
from pathlib import Path
import re
import shlex
import subprocess

PACKAGE = Path(os.environ['GA_PACKAGE'])
EXAMPLE = PACKAGE / 'examples' / 'first_example.cpp'


def block(language):
    """Return the first block of this language in the package's README.md."""
    found = re.search(rf'^```{language}\n(.*?)^```$', (PACKAGE / 'README.md').read_text(),
                      re.MULTILINE | re.DOTALL)
    assert found, f'{PACKAGE.name}/README.md has no ```{language} block'
    return found[1]


def test_the_readme_shows_the_example():
    license, code = EXAMPLE.read_text().split('\n', 1)
    assert license == '// SPDX-License-Identifier: Apache-2.0'
    assert block('cpp') == code


def test_the_readme_shows_what_it_prints():
    done = subprocess.run(shlex.split(os.environ['GA_EXAMPLE']), capture_output=True, text=True,
                          timeout=100)
    assert done.returncode == 0, done.stderr
    assert block('text') == done.stdout


def test_it_is_short():
    assert len(EXAMPLE.read_text().splitlines()) <= 40
