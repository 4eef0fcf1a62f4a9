# SPDX-License-Identifier: Apache-2.0
"""States as CSV: their form, errors that name the line, and long streams."""

import os
import pty
import select
import subprocess
import threading
import time

import pytest

from ga_bench import G, SANITIZED, fails, lines, random_rows, run, table, values
from sim_bench import GA


def test_header_gives_the_columns_in_any_order(planar):
    rows = random_rows(5, 4)
    expected = values('bias', planar, states=lines(rows))
    mixed = '"qd2",note, q2 ,t,qd1,q1\n' + ''.join(
        f'{qd2!r},"a, b",{q2!r},10:15,{qd1!r},{q1!r}\n' for q1, q2, qd1, qd2 in rows)
    assert values('bias', planar, '--quiet', states=mixed) == expected
    named = 'elbow,velocity_shoulder,shoulder,velocity_elbow\n' + lines(
        [q2, qd1, q1, qd2] for q1, q2, qd1, qd2 in rows)
    assert values('bias', planar, states=named) == expected


def test_columns_that_are_not_read_are_noted(planar):
    done = run('gravity', planar, states='t,q1,shoulder_note,q2\n0,0,x,0\n')
    assert done.returncode == 0 and done.stdout.count(b'\n') == 2
    assert done.stderr.decode() == ('ga: note: standard input: line 1: columns t, shoulder_note '
                                    'are ignored; read are q1,q2\n')
    assert run('gravity', planar, '--quiet', states='t,q1,q2\n0,0,0\n').stderr == b''


@pytest.mark.parametrize('text', [
    '0.1,0.2\n0.3,0.4\n',
    '0.1,0.2\n0.3,0.4',
    '0.1,0.2\r\n0.3,0.4\r\n',
    '\ufeff0.1,0.2\n0.3,0.4\n',
    '\ufeffq1,q2\r\n0.1,0.2\r\n0.3,0.4',
    '\n  \n0.1,0.2\n\r\n\t\n0.3,0.4\n\n',
    ' +0.1 ,\t2e-1\n3E-1 , +.4\n',
    '"0.1","0.2"\n"0.3",0.4\n',
])
def test_forms_of_the_same_table(planar, tmp_path, text):
    expected = values('gravity', planar, '--gravity', 0, -G, 0, states='0.1,0.2\n0.3,0.4\n')
    assert len(expected) == 2
    path = tmp_path / 'states.csv'
    path.write_bytes(text.encode())
    arguments = ['gravity', planar, '--gravity', 0, -G, 0]
    assert values(*arguments, states=text) == expected
    assert table(run(*arguments, '--states', path))[1] == expected


@pytest.mark.parametrize('text', ['', 'q1,q2\n', '\n\n'])
def test_no_states_give_a_header_alone(planar, text):
    assert table(run('gravity', planar, states=text)) == (['tau1', 'tau2'], [])


BAD_STATES = [
    ('0,0\n0,abc\n', ['standard input: line 2, column 2 (q2)', "'abc' is not a number"]),
    ('q2,q1\n\n0,0\n0,x\n', ['line 4, column 2 (q1)', "'x'"]),
    ('0,nan\n', ['line 1, column 2', 'not finite']),
    ('0,0\n-inf,0\n', ['line 2, column 1', 'not finite']),
    ('0,0\n1e999,0\n', ['line 2, column 1', "'1e999' is not finite"]),
    ('0,0\n0,\n', ['line 2, column 2', 'empty']),
    ('0,0\n0\n', ['line 2', '1 field, expected 2', 'q1,q2']),
    ('0,0,0\n', ['line 1', '3 fields, expected 2', 'q1,q2']),
    ('q1,q2,\n0,0\n', ['line 2', '2 fields', 'header has 3']),
    ('t,q1\n0,0\n', ['line 1', 'lacks q2', 'columns are: t, q1']),
    ('q1,q2,q1\n0,0,0\n', ['line 1', 'q1 twice']),
    ('0;1\n0;1\n', ['line 1']),
    ('0,1\n0 1\n', ['line 2, column 1', 'commas']),
    ('0,0\n0,+-1\n', ['line 2, column 2']),
    ('0,0\n0,0x10\n', ['line 2, column 2', "'0x10'"]),
    ('0,0\n"0,0\n', ['line 2, column 1', 'quote']),
    ('0,0\n0,1\x00\x1b[2J\n', ['line 2, column 2', "'1??[2J'"]),
    ('0,0\n' + '0' * 1_100_000 + ',0\n', ['line 2', 'longer than 1048576 bytes']),
]


@pytest.mark.parametrize('text, words', BAD_STATES, ids=range(len(BAD_STATES)))
def test_bad_states_name_their_line(planar, text, words):
    fails('gravity', planar, states=text, words=words)


def test_results_before_a_bad_line_are_written(pendulum):
    done = fails('gravity', pendulum, states='0\n0\nx\n', words=['line 3'])
    assert done.stdout.count(b'\n') == 3


def test_results_are_finite(pendulum):
    fails('id', pendulum, '--payload', 10, 1, 0, 0, states='0,0,1.7e308\n',
          words=['line 1', 'tau1', 'not finite'])


def test_tiny_numbers_are_zero(pendulum):
    assert values('gravity', pendulum, states='1e-999\n') == values(
        'gravity', pendulum, states='0\n')


def test_unreadable_states(pendulum, tmp_path):
    missing = tmp_path / 'none.csv'
    fails('id', pendulum, '--states', missing, words=[str(missing), 'No such file'])
    fails('id', pendulum, '--states', tmp_path, words=[str(tmp_path), 'directory'])
    fails('id', tmp_path / 'none.urdf', states='0,0,0\n', words=['none.urdf', 'No such file'])


def test_a_million_rows_in_constant_memory(six):
    count = 20_000 if SANITIZED else 1_000_000
    block = lines([round(value, 6) for value in row] for row in random_rows(1000, 18)).encode()
    process = subprocess.Popen([GA, 'id', six, '--states', '-'], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    found = []

    def count_lines():
        found.append(sum(part.count(b'\n') for part in iter(lambda: process.stdout.read1(), b'')))

    reader = threading.Thread(target=count_lines)
    reader.start()
    for _ in range(count // 1000):
        process.stdin.write(block)
    process.stdin.close()
    reader.join()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    assert process.returncode == 0 and found == [count + 1]
    if not SANITIZED:  # sanitizers keep freed memory
        assert usage.ru_maxrss < 100_000  # kB


def test_a_state_is_answered_before_the_next(pendulum):
    with subprocess.Popen([GA, 'gravity', pendulum, '--states', '-'], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, bufsize=0) as process:
        for expected in [2, 1]:  # lines: header and result, result
            process.stdin.write(b'0\n')
            got = b''
            while got.count(b'\n') < expected:
                assert select.select([process.stdout], [], [], 30)[0], 'no answer'
                got += process.stdout.read(4096)
        process.stdin.close()
        assert process.wait() == 0


def test_a_reader_that_leaves_is_no_error(pendulum, tmp_path):
    states = tmp_path / 'states.csv'
    states.write_text('0,0,0\n' * 200_000)
    done = subprocess.run(['bash', '-c', 'set -o pipefail; "$0" id "$1" --states "$2" | head -1',
                           GA, pendulum, states], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b'tau1\n', b'')


@pytest.mark.parametrize('arguments', [['id', '--states', '/dev/null'], ['info'], ['--help']])
def test_a_full_disk_is_an_error(pendulum, arguments):
    command = [GA, *arguments] + ([] if arguments == ['--help'] else [str(pendulum)])
    with open('/dev/full', 'wb') as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 1 and done.stderr.startswith(b'ga: ')
    assert b'No space left' in done.stderr


def test_progress_on_a_terminal_at_most_twice_a_second(pendulum):
    ours, theirs = pty.openpty()
    start = time.monotonic()
    with subprocess.Popen([GA, 'id', pendulum, '--states', '-'], stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, stderr=theirs, bufsize=0) as process:
        while time.monotonic() - start < 1.3:
            process.stdin.write(b'0,0,0\n')
            time.sleep(0.01)
        process.stdin.close()
        assert process.wait() == 0
    elapsed = time.monotonic() - start
    os.close(theirs)
    shown = ''
    while select.select([ours], [], [], 1)[0]:
        try:
            shown += os.read(ours, 4096).decode()
        except OSError:  # the other end is closed
            break
    os.close(ours)
    assert 1 <= shown.count('rows/s') <= 2 * elapsed
    assert shown.endswith('\r\x1b[K')
