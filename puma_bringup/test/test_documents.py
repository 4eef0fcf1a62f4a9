# SPDX-License-Identifier: Apache-2.0
"""The commands in the documents are marked and work as printed (scripts/documents.py)."""

import os
from pathlib import Path
import subprocess

import pytest

ROOT = Path(__file__).resolve().parents[2]
STEADILY = Path(__file__).resolve().parent / 'steadily'
TOOL = ROOT / 'scripts' / 'documents.py'
TAG = os.environ['DOCUMENTS_TAG']


def tool(*arguments):
    return subprocess.run([TOOL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)


def documents():
    return tool('list').stdout.split()


def test_every_block_is_marked():
    done = tool('check')
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize('text, told', [
    ('    make sim\n', 'fence this block'),
    ('```\nmake sim\n```\n', 'language'),
    ('```bash\nmake sim\n```\n', 'one tag'),
    ('```bash untested\nmake sim\n```\n', 'say why'),
    ('```bash plain\nfor x in\n```\n', 'does not understand'),
    ('See [there](not/there.md).\n', 'leads nowhere')])
def test_a_block_that_is_not_marked_is_found(text, told, tmp_path):
    document = ROOT / 'build' / 'wrong.md'
    document.parent.mkdir(exist_ok=True)
    document.write_text(f'# Wrong\n\n{text}')
    try:
        done = tool('check', document)
    finally:
        document.unlink()
    assert done.returncode == 1
    assert told in done.stdout


def test_a_command_that_fails_is_noticed():
    document = ROOT / 'build' / 'failing.md'
    document.write_text(f'# Failing\n\n```bash {TAG}\nfalse\ntrue\n```\n')
    try:
        assert tool('run', document, TAG).returncode != 0
    finally:
        document.unlink()


@pytest.mark.parametrize('command, passes', [
    ('false', True), ('true', False), ('exit 2', False), ('not_a_command', False),
    ('echo Traceback; false', False)])
def test_a_command_that_must_be_refused_is(command, passes):
    document = ROOT / 'build' / 'must_be_refused.md'
    document.write_text(f'# Refused\n\n```bash {TAG}\n{command}  # refused: for a test\n```\n')
    try:
        assert (tool('run', document, TAG).returncode == 0) == passes
    finally:
        document.unlink()


def test_a_command_that_is_refused_is_noticed():
    document = ROOT / 'build' / 'refused.md'
    for text in ('Response(success=False)', 'Goal finished with status: ABORTED'):
        document.write_text(f'# Refused\n\n```bash {TAG}\necho "{text}"\n```\n')
        try:
            done = tool('run', document, TAG)
        finally:
            document.unlink()
        assert done.returncode == 1
        assert text[-8:] in done.stdout


@pytest.mark.parametrize('document', documents())
def test_its_commands_work(document):
    # One by one: in the time of all of them, CPUs of virtual machines stall too often.
    done = subprocess.run([STEADILY, TOOL, 'run', ROOT / document, TAG], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
