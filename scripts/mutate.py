#!/usr/bin/python3
"""
Mutation test: inject single-token faults into the sources, one at a time, and run the tests.

The tests judge the code; this script judges the tests. It copies the tree to build/mutate/tree,
builds it without ROS 2 and checks that every test passes. Then it draws faults at random from the
algorithms, the control laws and the safety logic, in equal shares. For each fault it rebuilds and
runs the tests of the package, those nearest to the file first, and then the tests of the packages
that depend on it. A fault that no test notices is a missing test: the script lists it and exits
with 1. Faults that cannot change any result are listed, with the reason, in
scripts/mutate_equivalent.txt and are not drawn.
"""

import argparse
from fnmatch import fnmatch
from pathlib import Path
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = Path(__file__).resolve().parent.parent
TREE = ROOT / 'build/mutate/tree'
EQUIVALENT = 'scripts/mutate_equivalent.txt'
PACKAGES = ['ga_dynamics', 'ga_controllers', 'puma_hardware']  # each depends on those before it

# Group, files, and the ctest names (a regular expression) that are built and run first.
# The first pattern that fits a file counts. A pattern covers one folder, not those below it.
TARGETS = [
    ('algorithms', 'ga_dynamics/include/ga_dynamics/inverse_dynamics*.hpp', 'test_conformance'),
    ('algorithms', 'ga_dynamics/include/ga_dynamics/inertia_matrix.hpp', 'test_conformance'),
    ('algorithms', 'ga_dynamics/include/ga_dynamics/forward_dynamics.hpp', 'test_conformance'),
    ('algorithms', 'ga_dynamics/include/ga_dynamics/cholesky.hpp', 'test_conformance'),
    ('algorithms', 'ga_dynamics/include/ga_dynamics/gravity.hpp', 'test_conformance'),
    ('algorithms', 'ga_dynamics/include/ga_dynamics/dalembert.hpp', 'test_conformance'),
    ('algorithms', 'ga_dynamics/include/ga_dynamics/joint_rotation.hpp', 'test_conformance'),
    ('algorithms', 'ga_dynamics/src/dynamics.cpp', 'test_conformance|test_chain_kinematics'),
    ('algorithms', 'ga_dynamics/src/chain.cpp', 'test_chain|test_conformance'),
    ('algorithms', 'ga_dynamics/src/dh_frames.cpp', 'test_chain|test_conformance'),
    ('algorithms', 'ga_dynamics/src/minimal_parameters.cpp', 'test_minimal_parameters'),
    ('algorithms', 'ga_dynamics/src/plant*.cpp', 'test_plant|test_elastic_drive'),
    ('algorithms', 'ga_dynamics/src/puma_kinematics.cpp', 'test_puma_kinematics'),
    ('algorithms', 'ga_dynamics/src/numeric_kinematics.cpp', 'test_numeric_kinematics'),
    ('algorithms', 'ga_dynamics/src/trajectory*.cpp', 'test_trajectory'),
    ('algorithms', 'ga_dynamics/src/cartesian_line.cpp', 'test_trajectory|test_numeric_kinematics'),
    ('algorithms', 'ga_dynamics/src/urdf_inertia.cpp', 'test_urdf|test_chain'),
    ('laws', 'ga_controllers/src/reference_guard.cpp', 'test_reference_guard'),
    ('laws', 'ga_controllers/src/law_parameters.cpp', 'test_control_law'),
    ('laws', 'ga_controllers/src/*.cpp', 'test_control_law|test_transitions'),
    ('safety', 'puma_hardware/src/arm/safety_*.cpp', 'test_safety'),
    ('safety', 'puma_hardware/src/arm/calibrat*.cpp', 'test_calibration'),
    ('safety', 'puma_hardware/src/arm/puma_arm.cpp', 'test_puma_arm'),
    ('safety', 'puma_hardware/src/runtime/guard.cpp', 'test_guard'),
    ('safety', 'puma_hardware/src/runtime/heartbeat.cpp', 'test_heartbeat|test_guard'),
    ('safety', 'puma_hardware/src/runtime/arm_*.cpp', 'test_arm_loop'),
    ('safety', 'puma_hardware/src/cards/pcl*.cpp', 'test_pcl'),
]

# Token, replacement. clang-format puts spaces around binary operators and none around templates.
# A comparison is negated: < against <= makes no difference for real numbers.
SWAPS = [
    (r'(?<= )\+(?= )', '-'), (r'(?<=[\w)\]] )-(?= )', '+'), (r'(?<= )\*(?= )', '/'),
    (r'(?<= )/(?= )', '*'), (r'(?<= )\+=(?= )', '-='), (r'(?<= )-=(?= )', '+='),
    (r'(?<= )\*=(?= )', '/='), (r'(?<= )<(?= )', '>='), (r'(?<= )>(?= )', '<='),
    (r'(?<= )<=(?= )', '>'), (r'(?<= )>=(?= )', '<'), (r'(?<= )==(?= )', '!='),
    (r'(?<= )!=(?= )', '=='), (r'(?<= )&&(?= )', '||'), (r'(?<= )\|\|(?= )', '&&'),
    (r'\btrue\b', 'false'), (r'\bfalse\b', 'true'), (r'\bstd::min\b', 'std::max'),
    (r'\bstd::max\b', 'std::min'), (r'\bstd::sin\b', 'std::cos'), (r'\bstd::cos\b', 'std::sin'),
    (r'(?<=[(\s{,])-(?=[\w(])', ''), (r'(?<=\()!(?=[\w(])', ''), (r'(?<=\.)x\b', 'y'),
    (r'(?<=\.)y\b', 'z'), (r'(?<=\.)z\b', 'x'), (r'(?<![\w.])1(?![\w.])', '2'),
    (r'(?<![\w.])0\.5(?!\w)', '0.25'), (r'(?<=[=(,{:?] )0(?![\w.])', '1'),
    (r'(?<![\w.])2(?![\w.])', '3'),
]
# Text made for people, compile-time declarations, and checks that are compiled out.
SKIPPED = re.compile(
    r'^\s*(#|//|using |template|static_assert|assert\(|throw |namespace )|std::string')


class Mutant:
    """One fault: a token of a line of a file and what it becomes."""

    def __init__(self, group, path, first, number, line, span, new):
        self.group, self.path, self.first, self.number = group, path, first, number
        self.line, self.mutated = line, line[:span[0]] + new + line[span[1]:]
        self.change = f'{line[span[0]:span[1]]} -> {new or "(removed)"}'

    def key(self):
        """Return what identifies the fault in the list of equivalent ones."""
        return self.path, self.line.strip(), self.mutated.strip()

    def write(self, mutated):
        """Put the fault into the copied tree, or take it out again."""
        path = TREE / self.path
        lines = path.read_text().split('\n')
        lines[self.number - 1] = self.mutated if mutated else self.line
        path.write_text('\n'.join(lines))


def without_comments(text):
    """Blank out comments and string literals; every character stays at its place."""
    def blank(match):
        return re.sub(r'[^\n]', '\0', match[0])
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(\\.|[^"\\\n])*"|\'(\\.|[^\'\\\n])*\'', blank, text,
                  flags=re.S)


def read_equivalent(root):
    """Read the list of faults that change nothing: four lines each, the last is the reason."""
    path = root / EQUIVALENT
    text = path.read_text() if path.is_file() else ''
    entries = set()
    for block in re.split(r'\n\s*\n', re.sub(r'^#.*\n', '', text, flags=re.M).strip()):
        lines = [line.strip() for line in block.splitlines()]
        if not block:
            continue
        if len(lines) < 4:
            sys.exit(f'{EQUIVALENT}: an entry is file, line, mutated line, reason; found: {block}')
        entries.add(tuple(lines[:3]))
    return entries


def source_files(root):
    """Return the repository's files, new ones included."""
    command = ['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard']
    text = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    return sorted(set(text.split('\0')) - {''})


def find_mutants(root):
    """Return all faults that could be injected, a list per group."""
    equivalent = read_equivalent(root)
    mutants, unused = {}, set(equivalent)
    for path in source_files(root):
        target = next((t for t in TARGETS if Path(path).match(t[1])), None)
        if target is None or not (root / path).is_file():
            continue
        text = (root / path).read_text()
        code = without_comments(text).split('\n')
        for number, line in enumerate(text.split('\n'), 1):
            if SKIPPED.search(line):
                continue
            for pattern, new in SWAPS:
                for match in re.finditer(pattern, code[number - 1]):
                    mutant = Mutant(target[0], path, target[2], number, line, match.span(), new)
                    unused.discard(mutant.key())
                    if mutant.key() not in equivalent:
                        mutants.setdefault(target[0], []).append(mutant)
    for key in unused:
        print(f'note: {EQUIVALENT} names a line that is not there any more: {key[0]}: {key[1]}')
    return mutants


def draw(mutants, seed):
    """Yield faults: the groups by turns, in a group every file before one comes again."""
    rng = random.Random(seed)
    queues = []
    for group in sorted(mutants):
        by_file = {}
        for mutant in mutants[group]:
            by_file.setdefault(mutant.path, []).append(mutant)
        for of_file in by_file.values():
            rng.shuffle(of_file)
        queue = []
        while any(by_file.values()):
            paths = [path for path in by_file if by_file[path]]
            rng.shuffle(paths)
            queue += [by_file[path].pop() for path in paths]
        queues.append(queue)
    while any(queues):
        for queue in queues:
            if queue:
                yield queue.pop(0)


def run(command, log, seconds, **options):
    """Run a command in a process group of its own; None if it had to be killed."""
    with open(log, 'a') as out:
        out.write(f'\n$ {" ".join(map(str, command))}\n')
        out.flush()
        process = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL,
                                   start_new_session=True, **options)
        try:
            return process.wait(seconds)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                return None
            raise


def build_dir(package):
    """Return where the copied tree builds a package."""
    return TREE / 'build/plain/build' / package


def tests_of(package):
    """Return the names of a package's ctest entries."""
    text = subprocess.run(['ctest', '-N'], cwd=build_dir(package), check=True, capture_output=True,
                          text=True).stdout
    return re.findall(r'Test +#\d+: (\S+)', text)


def targets_of(package):
    """Return the names of a package's build targets."""
    text = subprocess.run(['make', '-C', build_dir(package), 'help'], check=True,
                          capture_output=True, text=True).stdout
    return set(re.findall(r'^\.\.\. (\S+)', text, re.M))


def failing_test(package, names, log):
    """Run tests; return the name of one that fails, twice in a row, or None."""
    def runs_through(chosen, *extra):
        pattern = '^(' + '|'.join(map(re.escape, chosen)) + ')$'
        command = ['ctest', '-R', pattern, '--output-on-failure', '--timeout', '200', *extra]
        return run(command, log, 2400, cwd=build_dir(package)) == 0

    if not names or runs_through(names, '--stop-on-failure', '-j', str(os.cpu_count())):
        return None
    failed = re.findall(r'\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|\w[^)]*)\)',
                        Path(log).read_text().rsplit('The following tests FAILED', 1)[-1])
    for name in failed or names:
        if not runs_through([name]):
            return name
    return None


class DoesNotCompile(Exception):
    """The mutated source is not a valid program."""


def make(package, targets, log):
    """Build targets of a package in the copied tree."""
    command = ['make', '-C', str(build_dir(package)), '-j', str(os.cpu_count()), *targets]
    if run(command, log, 3000) != 0:
        raise DoesNotCompile


def noticed_by(mutant, log):
    """Return the test that notices the fault, or None."""
    package = mutant.path.split('/')[0]
    names = tests_of(package)
    first = [name for name in names if re.search(mutant.first, name)]
    programs = [name for name in first if name in targets_of(package)]
    if programs:
        make(package, programs, log)
        found = failing_test(package, programs, log)
        if found:
            return f'{package}: {found}'
    rest = [name for name in names if name not in programs]
    for current in PACKAGES[PACKAGES.index(package):]:
        make(current, ['all', 'install'], log)
        found = failing_test(current, rest if current == package else tests_of(current), log)
        if found:
            return f'{current}: {found}'
    return None


def prepare(log):
    """Copy the tree, build it, and see all of its tests pass."""
    TREE.mkdir(parents=True, exist_ok=True)
    files = [path for path in source_files(ROOT) if (ROOT / path).is_file()]
    for path in TREE.rglob('*'):
        name = path.relative_to(TREE)
        if name.parts[0] != 'build' and path.is_file() and str(name) not in files:
            path.unlink()
    for path in files:
        copy = TREE / path
        if not copy.is_file() or copy.read_bytes() != (ROOT / path).read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, copy)
    print(f'building {TREE.relative_to(ROOT)}', flush=True)
    environment = dict(os.environ, ROS='off')
    command = [str(TREE / 'scripts/build.sh'), 'release', '-DBUILD_TESTING=ON']
    if run(command, log, 7200, env=environment) != 0:
        sys.exit(f'the tree does not build; see {log}')
    print('running the tests without a fault', flush=True)
    for package in PACKAGES:
        failed = failing_test(package, tests_of(package), log)
        if failed:
            sys.exit(f'{package}: {failed} fails without a fault; see {log}')


def row(mutant, outcome):
    """Return a line of the table."""
    return f'{mutant.group:10} {mutant.path}:{mutant.number}  {mutant.change}  {outcome}'


def main():
    """Run the study, print the table, return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.strip().split('\n')[0])
    parser.add_argument('--count', type=int, default=36, help='number of faults (default 36)')
    parser.add_argument('--seed', type=int, default=1, help='of the random choice (default 1)')
    parser.add_argument('--only', default='*', metavar='PATTERN',
                        help='inject faults into files that match PATTERN only')
    parser.add_argument('--list', action='store_true', help='print the faults, inject none')
    options = parser.parse_args()
    if options.count < 1:
        parser.error('--count must be at least 1')

    mutants = {group: [m for m in of_group if fnmatch(m.path, options.only)]
               for group, of_group in find_mutants(ROOT).items()}
    total = sum(map(len, mutants.values()))
    if total == 0:
        sys.exit(f'no file with a possible fault matches {options.only}')
    if options.list:
        for number, mutant in enumerate(draw(mutants, options.seed)):
            if number < options.count:
                print(row(mutant, ''), f'\n    {mutant.mutated.strip()}')
        return 0

    log = ROOT / 'build/mutate/log.txt'
    log.parent.mkdir(parents=True, exist_ok=True)
    (ROOT / 'build/COLCON_IGNORE').touch()
    log.write_text('')
    prepare(log)

    results, unnoticed = [], []
    for mutant in draw(mutants, options.seed):
        if len(results) == options.count:
            break
        begin = time.monotonic()
        log_one = log.with_name(f'mutant_{len(results) + 1}.txt')
        log_one.write_text(f'{mutant.path}:{mutant.number}\n-{mutant.line}\n+{mutant.mutated}\n')
        mutant.write(True)
        try:
            by = noticed_by(mutant, log_one)
        except DoesNotCompile:
            continue
        finally:
            mutant.write(False)
        results.append(mutant)
        if by is None:
            unnoticed.append(mutant)
        outcome = f'noticed by {by}' if by else f'NOT NOTICED: {mutant.mutated.strip()}'
        print(f'{len(results):3} {row(mutant, outcome)} ({time.monotonic() - begin:.0f} s)',
              flush=True)

    print(f'drawn from {total} possible faults with seed {options.seed}')
    for mutant in unnoticed:
        print(f'NOT NOTICED {row(mutant, mutant.mutated.strip())}')
    print(f'mutants: {len(results) - len(unnoticed)} noticed, {len(unnoticed)} not noticed')
    return 1 if unnoticed else 0


if __name__ == '__main__':
    sys.exit(main())
