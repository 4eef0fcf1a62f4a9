#!/usr/bin/python3
"""
Mutation test: inject single-token faults into the sources, one at a time, and run the tests.

The tests judge the code; this script judges the tests. It copies the tree to build/mutate/tree and
builds it without ROS 2. Then it draws faults at random from the algorithms, the control laws and
the safety logic, in equal shares. For each fault it rebuilds and runs the tests of the package,
those nearest to the file first, and then the tests of the packages that depend on it, up to the
first test that fails. That test must fail twice with the fault and pass without it. A fault that
no test notices is a missing test: the script lists it and exits with 1. Faults that cannot change
any result are listed, with the reason, in scripts/mutate_equivalent.txt; they are not injected.

Outcomes are kept in build/mutate/judged.json. With --resume, faults that a test noticed in an
earlier run are not injected again.
"""

import argparse
from collections import Counter
from fnmatch import fnmatch
import hashlib
import json
import os
from pathlib import Path
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

ROOT = Path(__file__).resolve().parent.parent
TREE = ROOT / 'build/mutate/tree'
EQUIVALENT = 'scripts/mutate_equivalent.txt'
PACKAGES = ['ga_dynamics', 'ga_motion', 'ga_controllers', 'ga_hardware', 'ga_tools',
            'puma_hardware']  # each depends on those before it

# Group, files, and the ctest names (a regular expression) that are built and run first.
# The first pattern that fits a file counts. A pattern covers one folder, not those below it.
ALGORITHM = 'ga_dynamics/include/ga_dynamics/algorithm'
TARGETS = [
    ('algorithms', f'{ALGORITHM}/inverse_dynamics*.hpp', 'test_conformance'),
    ('algorithms', f'{ALGORITHM}/inertia_matrix.hpp', 'test_conformance'),
    ('algorithms', f'{ALGORITHM}/forward_dynamics.hpp',
     'test_conformance|test_chain$|test_not_finite'),
    ('algorithms', f'{ALGORITHM}/cholesky.hpp', 'test_conformance'),
    ('algorithms', f'{ALGORITHM}/gravity.hpp', 'test_conformance'),
    ('algorithms', f'{ALGORITHM}/dalembert.hpp', 'test_conformance'),
    ('algorithms', f'{ALGORITHM}/joint_rotation.hpp', 'test_conformance'),
    ('algorithms', f'{ALGORITHM}/regressor.hpp', 'test_regressor'),
    ('algorithms', 'ga_dynamics/src/dynamics.cpp', 'test_conformance|test_chain|test_mounted'),
    ('algorithms', 'ga_dynamics/src/chain.cpp', 'test_chain|test_conformance'),
    ('algorithms', 'ga_dynamics/src/dh_frames.cpp', 'test_chain|test_conformance'),
    ('algorithms', 'ga_dynamics/src/minimal_parameters.cpp', 'test_minimal|test_conformance'),
    ('algorithms', 'ga_dynamics/src/plant*.cpp', 'test_plant|test_elastic_drive'),
    ('algorithms', 'ga_motion/src/puma_kinematics.cpp', 'test_puma_kinematics'),
    ('algorithms', 'ga_motion/src/inverse_kinematics.cpp', 'test_numeric_kinematics'),
    ('algorithms', 'ga_motion/src/numeric_kinematics.cpp', 'test_numeric_kinematics'),
    ('algorithms', 'ga_motion/src/pose_search.cpp',
     'test_numeric_kinematics|test_search_against_kdl'),
    ('algorithms', 'ga_motion/src/trajectory*.cpp', 'test_trajectory'),
    ('algorithms', 'ga_motion/src/cartesian_line.cpp', 'test_trajectory|test_numeric_kinematics'),
    ('algorithms', 'ga_dynamics/src/urdf_inertia.cpp', 'test_urdf|test_chain'),
    ('algorithms', 'ga_motion/src/limit_use.cpp', 'test_limit_use'),
    ('algorithms', 'ga_motion/src/path_grid.cpp', 'test_tim(e|ing)_'),
    ('algorithms', 'ga_motion/src/reachability.cpp', 'test_tim(e|ing)_'),
    ('algorithms', 'ga_motion/src/safe_accelerations.cpp', 'test_limit_use'),
    ('algorithms', 'ga_motion/src/spline_path.cpp', 'test_tim(e|ing)_'),
    ('algorithms', 'ga_motion/src/time*.cpp', 'test_tim(e|ing)_'),
    ('algorithms', 'ga_motion/src/torque_rate.cpp', 'test_tim(e|ing)_'),
    ('laws', 'ga_controllers/src/reference_governor.cpp', 'test_reference_governor'),
    ('laws', 'ga_controllers/src/adaptation.cpp', 'test_adaptation'),
    ('laws', 'ga_controllers/src/model_*.cpp', 'test_adaptation'),
    ('laws', 'ga_controllers/src/*.cpp', 'test_'),
    ('safety', 'ga_hardware/src/safety_*.cpp', 'test_safety'),
    ('safety', 'puma_hardware/src/arm/calibrat*.cpp', 'test_calibration'),
    ('safety', 'puma_hardware/src/arm/puma_arm.cpp', 'test_puma_arm'),
    ('safety', 'puma_hardware/src/process/guard.cpp', 'test_guard'),
    ('safety', 'puma_hardware/src/process/heartbeat.cpp', 'test_heartbeat|test_guard'),
    ('safety', 'puma_hardware/src/runtime/arm_*.cpp', 'test_arm_|test_card_claim'),
    ('safety', 'puma_hardware/src/cards/pcl*.cpp', 'test_pcl|test_card_settings'),
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

    def __init__(self, target, path, number, line, span, new):
        self.group, _, self.first = target
        self.path, self.number, self.occurrence, self.equivalent = path, number, 1, False
        self.line, self.mutated = line, line[:span[0]] + new + line[span[1]:]
        self.change = f'{line[span[0]:span[1]]} -> {new or "(removed)"}'

    def key(self):
        """Return what identifies the fault in the list of equivalent ones."""
        return self.path, self.line.strip(), self.mutated.strip()

    def identity(self):
        """Return what identifies the fault where a file has the same line several times."""
        return '\n'.join([*self.key(), str(self.occurrence)])

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
    mutants, count = {}, Counter()
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
                    mutant = Mutant(target, path, number, line, match.span(), new)
                    count[mutant.key()] += 1
                    mutant.occurrence = count[mutant.key()]
                    mutant.equivalent = mutant.key() in equivalent
                    mutants.setdefault(mutant.group, []).append(mutant)
    for key in equivalent - count.keys():
        print(f'note: {EQUIVALENT} names a line that is not there any more: {key[0]}: {key[1]}')
    return mutants


def draw(mutants, seed):
    """
    Yield faults: the groups by turns, in a group every file before one comes again.

    A fault's place depends on the seed, its file and its line, not on the rest of the sources: a
    changed line elsewhere does not change the draw.
    """
    def place(*what):
        return hashlib.sha256(repr((seed, *what)).encode()).digest()

    queues = []
    for group in sorted(mutants):
        by_file = {}
        for mutant in mutants[group]:
            by_file.setdefault(mutant.path, []).append(mutant)
        queue = []
        for path, of_file in by_file.items():
            of_file.sort(key=lambda mutant: place(mutant.identity()))
            queue += [(turn, place(path, turn), mutant) for turn, mutant in enumerate(of_file)]
        queues.append([mutant for _, _, mutant in sorted(queue, key=lambda entry: entry[:2])])
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
    """Run tests up to the first that fails; return the name of one that fails twice, or None."""
    def runs_through(chosen):
        pattern = '^(' + '|'.join(map(re.escape, chosen)) + ')$'
        # Endless loops end by processor time, which does not depend on what else the machine does.
        command = ['prlimit', '--cpu=200', 'ctest', '-R', pattern, '--output-on-failure',
                   '--stop-on-failure', '-j', str(os.cpu_count())]
        environment = dict(os.environ, GTEST_FAIL_FAST='1', PYTEST_ADDOPTS='-x')
        return run(command, log, 2400, cwd=build_dir(package), env=environment) == 0

    # What earlier runs took, in seconds: the cheap tests first.
    costs = build_dir(package) / 'Testing/Temporary/CTestCostData.txt'
    lines = costs.read_text().split('---')[0].splitlines() if costs.is_file() else []
    dear = {line.split()[0] for line in lines if float(line.split()[2]) > 5}
    for chosen in ([n for n in names if n not in dear], [n for n in names if n in dear]):
        if not chosen or runs_through(chosen):
            continue
        failed = re.findall(r'\d+ - (\S+) \(\w[^)]*\)',
                            Path(log).read_text().rsplit('The following tests FAILED', 1)[-1])
        found = next((name for name in failed or chosen if not runs_through([name])), None)
        if found:
            return found
    return None


def failing_case(log):
    """Return the test case that failed last, as GoogleTest or pytest names it."""
    cases = re.findall(r'^\[  FAILED  \] ([\w./]+)|^FAILED \S+::(\w+)', Path(log).read_text(), re.M)
    return ' ' + ''.join(cases[-1]) if cases else ''


class DoesNotCompile(Exception):
    """The mutated source is not a valid program."""


def make(package, targets, log):
    """Build targets of a package in the copied tree."""
    command = ['make', '-C', str(build_dir(package)), '-j', str(os.cpu_count()), *targets]
    environment = dict(os.environ, CCACHE_BASEDIR=str(TREE), CCACHE_NOHASHDIR='1')
    if run(command, log, 3000, env=environment) != 0:
        raise DoesNotCompile


def stages(mutant, near_only):
    """Yield what is built and which tests are run, one after the other: package, targets, tests."""
    own = mutant.path.split('/')[0]
    names = tests_of(own)
    near = [name for name in names if re.search(mutant.first, name) and name in targets_of(own)]
    if near:
        yield own, near, near
        if near_only:
            return
    yield own, ['all', 'install'], [name for name in names if name not in near]
    for package in PACKAGES[PACKAGES.index(own) + 1:]:
        yield package, ['all', 'install'], tests_of(package)


def noticed_by(mutant, near_only, log):
    """Inject a fault, take it out again; return the test that notices it, or None."""
    built, package, found = [], None, None
    mutant.write(True)
    try:
        for package, targets, names in stages(mutant, near_only):
            built.append((package, targets))
            make(package, targets, log)
            found = failing_test(package, names, log)
            if found:
                break
    finally:
        mutant.write(False)
        # What is installed with the fault must not stay for the packages that use it.
        for of_package, targets in built:
            if found or 'install' in targets:
                make(of_package, targets, log)
    if not found:
        return None
    case = failing_case(log)
    if failing_test(package, [found], log):
        sys.exit(f'{package}: {found} fails without a fault; see {log}')
    return f'{package}: {found}{case}'


def prepare(log):
    """Copy the tree and build it."""
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


class Judged:
    """The outcomes of this run and of earlier ones, in a file."""

    def __init__(self, path, resume):
        self.path, self.resume = path, resume
        self.noticed = json.loads(path.read_text()) if path.is_file() else {}

    def earlier(self, mutant):
        """Return the test that noticed the fault in an earlier run, or None."""
        return self.noticed.get(mutant.identity()) if self.resume else None

    def store(self, mutant, by):
        """Keep an outcome."""
        self.noticed.pop(mutant.identity(), None)
        if by:
            self.noticed[mutant.identity()] = by
        self.path.write_text(json.dumps(self.noticed, indent=1))


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
    parser.add_argument('--near', action='store_true',
                        help='run the tests nearest to the file only: quicker and stricter')
    parser.add_argument('--resume', action='store_true',
                        help='do not inject again what a test noticed in an earlier run')
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
                print(row(mutant, 'equivalent' if mutant.equivalent else ''),
                      f'\n    {mutant.mutated.strip()}')
        return 0

    log = ROOT / 'build/mutate/log.txt'
    log.parent.mkdir(parents=True, exist_ok=True)
    (ROOT / 'build/COLCON_IGNORE').touch()
    log.write_text('')
    resource.setrlimit(resource.RLIMIT_DATA, (8 << 30, 8 << 30))  # a fault may allocate for ever
    prepare(log)

    judged = Judged(log.with_name('judged.json'), options.resume)
    noticed, equivalent, unnoticed = [], [], []
    for mutant in draw(mutants, options.seed):
        number = len(noticed) + len(unnoticed) + 1
        if number > options.count:
            break
        if mutant.equivalent:
            equivalent.append(mutant)
            print(f'  - {row(mutant, "equivalent")}', flush=True)
            continue
        begin = time.monotonic()
        by = judged.earlier(mutant)
        if by is None:
            log_one = log.with_name(f'mutant_{number}.txt')
            log_one.write_text('\n'.join([f'{mutant.path}:{mutant.number}', f'-{mutant.line}',
                                          f'+{mutant.mutated}', '']))
            try:
                by = noticed_by(mutant, options.near, log_one)
            except DoesNotCompile:
                continue
            judged.store(mutant, by)
        (noticed if by else unnoticed).append(mutant)
        outcome = f'noticed by {by}' if by else f'NOT NOTICED: {mutant.mutated.strip()}'
        print(f'{number:3} {row(mutant, outcome)} ({time.monotonic() - begin:.0f} s)', flush=True)

    print(f'drawn from {total} possible faults with seed {options.seed}')
    for mutant in unnoticed:
        print(f'NOT NOTICED {row(mutant, mutant.mutated.strip())}')
    print(f'faults: {len(noticed)} noticed, {len(equivalent)} equivalent, '
          f'{len(unnoticed)} not noticed')
    return 1 if unnoticed else 0


if __name__ == '__main__':
    sys.exit(main())
