# SPDX-License-Identifier: Apache-2.0
"""Help, version and bad usage of the `ga` command."""

from ga_bench import fails, run

COMMANDS = ['info', 'id', 'fd', 'inertia', 'bias', 'gravity', 'fk']


def test_help_has_examples():
    assert b'Example' in run('--help').stdout
    for command in COMMANDS:
        done = run(command, '--help')
        assert done.returncode == 0 and done.stderr == b''
        assert b'Example' in done.stdout and b'ga ' + command.encode() in done.stdout
        assert b'--freeze' in done.stdout and b'--gravity' in done.stdout


def test_version():
    done = run('--version')
    assert done.returncode == 0 and done.stdout.startswith(b'ga ')


def test_bad_usage(pendulum):
    fails(words=['no command', 'info, id, fd'])
    fails('fly', pendulum, words=["'fly'", 'info, id, fd'])
    fails('--fast', words=['--fast'])
    fails('id', words=['robot', 'required'])
    fails('id', pendulum, words=['--states', 'required'])
    fails('id', pendulum, '--fast', states='', words=['--fast'])
    fails('id', pendulum, '--method', 'magic', states='', words=['magic', 'dalembert'])
    fails('fk', pendulum, '--method', 'tensor', states='', words=['--method'])
