#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Try `ga info` on every URDF below a folder, and print a table of the outcomes.

    python3 check_urdf_folder.py FOLDER [--ga build/…/ga] [--torques build/…/check_urdf_torques]

With --torques the torques of every branch are compared with urdfdom and KDL. Not a test: it needs
files that are not ours, such as the data set of https://arxiv.org/abs/2308.00514. Exit code 1 if a
run crashes, prints a bad JSON, or a torque differs by more than 1e-9.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys


def first_words(text):
    """Return a message without what is only true of one file."""
    return re.sub(r"'[^']*'|\d+(\.\d+)?", '…', text)[:110]


def outcome(ga, file):
    """Return (exit code, kind of outcome, message)."""
    done = subprocess.run([ga, 'info', str(file)], capture_output=True, timeout=120)
    if done.returncode != 0:
        message = done.stderr.decode(errors='replace').strip().replace(f'{file}: ', '')
        return done.returncode, 'refused: ' + first_words(message), message
    info = json.loads(subprocess.run([ga, 'info', str(file), '--json'], capture_output=True,
                                     timeout=120).stdout)
    if info['ready']:
        return 0, 'ready for torques', f"{len(info['chain']['joints'])} joints"
    kinds = sorted({missing['kind'] for missing in info['missing']})
    return 0, 'answered, torques lack: ' + ', '.join(kinds), info['missing'][0]['message']


def main():
    """Print the table; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('--ga', default='ga')
    parser.add_argument('--torques', help='the program check_urdf_torques')
    parser.add_argument('--verbose', action='store_true', help='name every file')
    options = parser.parse_args()
    files = sorted(path for path in options.folder.rglob('*')
                   if path.is_file() and path.suffix.lower() == '.urdf')
    found, bad = collections.defaultdict(list), False
    for file in files:
        code, kind, message = outcome(options.ga, file)
        bad = bad or code not in (0, 2)
        found[kind].append((file.relative_to(options.folder), message))
    for kind, cases in sorted(found.items(), key=lambda item: -len(item[1])):
        print(f'{len(cases):5d}  {kind}')
        for file, message in cases:
            if options.verbose or kind.startswith('refused'):
                print(f'         {file}: {message[:160]}')
    answered = sum(len(cases) for kind, cases in found.items() if not kind.startswith('refused'))
    print(f'{answered} of {len(files)} answered')
    if options.torques:
        done = subprocess.run([options.torques, *map(str, files)], capture_output=True, text=True)
        bad = bad or done.returncode != 0
        rows = [line.split('\t') for line in done.stdout.splitlines()]
        numbers = [(float(row[0]), *row[1:]) for row in rows if re.match(r'[\d.]+e|inf', row[0])]
        others = collections.Counter(first_words(row[0]) for row in rows
                                     if not re.match(r'[\d.]+e|inf', row[0]))
        print(f'torques of {len(numbers)} chains against urdfdom and KDL; the worst differ by:')
        for error, file, tip in sorted(numbers, reverse=True)[:5]:
            print(f'  {error:.2e}  {file} to {tip}')
        for reason, count in others.most_common():
            print(f'{count:5d}  not compared: {reason}')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
