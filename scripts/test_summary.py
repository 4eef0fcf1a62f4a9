#!/usr/bin/python3
"""
Sum up the test results that colcon left in a build directory.

usage: test_summary.py BASE < names of the workspace's packages

Counts gtest and pytest cases, not ctest entries. Prints the output of what failed, one line per
package, what was skipped and not built and why, the names of what failed; the last line is
`N passed, M failed, K skipped`. Exits with 1 if a test failed, a package was not built, or no test
ran.
"""

from pathlib import Path
import re
import sys
import textwrap
import xml.etree.ElementTree as ET

OUTPUT_LINES = 60  # of a failed test; the whole output stays in Test.xml


class Case:
    """One test case: outcome is 'passed', 'failed' or 'skipped'."""

    def __init__(self, name, outcome, message=''):
        self.name, self.outcome, self.message = name, outcome, message


def xunit_cases(path):
    """Read a result file of gtest or pytest."""
    try:
        root = ET.parse(path).getroot()
    except (ET.ParseError, OSError) as error:
        return [Case(path.name, 'failed', f'unreadable result file: {error}')]
    cases = []
    for element in root.iter('testcase'):
        name = '.'.join(filter(None, (element.get('classname'), element.get('name'))))
        bad = element.findall('failure') + element.findall('error')
        skip = element.find('skipped')
        if bad:
            text = '\n'.join((e.text or '').strip() or e.get('message', '') for e in bad)
            cases.append(Case(name, 'failed', text))
        elif skip is not None:
            cases.append(Case(name, 'skipped', skip.get('message', '')))
        elif element.get('status') == 'notrun':  # gtest: DISABLED_
            cases.append(Case(name, 'skipped', 'disabled'))
        else:
            cases.append(Case(name, 'passed'))
    return cases


def ctest_cases(element, read_files):
    """Return the cases of one ctest entry, from its result file where it has one."""
    name = element.findtext('Name')
    status = element.get('Status')
    output = element.findtext('Results/Measurement/Value', '')
    results = {m.get('name'): m.findtext('Value') for m in element.iter('NamedMeasurement')}
    completion = results.get('Completion Status', '')
    ending = results.get('Exit Code', completion)  # Timeout, SEGFAULT, Failed, ...

    match = re.search(r'["=:](/[^"]*/test_results/[^"]*\.xml)"',
                      element.findtext('FullCommandLine', ''))
    if match and Path(match[1]).is_file():
        read_files.add(Path(match[1]).resolve())
        cases = xunit_cases(Path(match[1]))
        failures = [case for case in cases if case.outcome == 'failed']
        if ending == 'Timeout':
            for case in failures:
                case.message = f'{ending}\n{case.message}\n{output}'
        # A leak or a crash after the last case shows in the exit status only.
        if status == 'failed' and not failures:
            message = f'its cases passed, but the program failed ({ending}):\n{output}'
            cases.append(Case(name, 'failed', message))
        return cases
    if status == 'passed':
        return [Case(name, 'passed')]
    if status == 'notrun' and (completion == 'Disabled' or completion.startswith('SKIP_')):
        return [Case(name, 'skipped', completion)]
    return [Case(name, 'failed', f'{ending}\n{output}')]


def package_cases(package_dir):
    """Return all cases of a package that was tested."""
    cases, read_files = [], set()
    for test_xml in package_dir.glob('Testing/*/Test.xml'):
        try:
            entries = ET.parse(test_xml).getroot().findall('Testing/Test')
        except ET.ParseError as error:
            cases.append(Case('ctest', 'failed', f'{test_xml} is unreadable: {error}'))
            continue
        for entry in entries:
            cases += ctest_cases(entry, read_files)
    others = {*package_dir.glob('test_results/**/*.xml'), *package_dir.glob('pytest.xml')}
    others = {path.resolve() for path in others}
    for path in sorted(others - read_files):
        cases += xunit_cases(path)
    return cases


def count(cases, outcome):
    """Count the cases with this outcome."""
    return sum(case.outcome == outcome for case in cases)


def totals(cases):
    """Return the line that ends the summary."""
    return ', '.join(f'{count(cases, outcome)} {outcome}'
                     for outcome in ('passed', 'failed', 'skipped'))


def reason(lines):
    """Return the line of an output that says most of why it is one of a failure."""
    telling = [line for line in lines if re.search(r'(Error|Timeout|Failure|^E )', line)]
    return (telling or lines or ['no output'])[-1].strip()


def skips(cases):
    """Return a line for each reason for which cases were skipped."""
    names = {}
    for case in cases:
        if case.outcome == 'skipped':
            why = ' '.join(case.message.split()) or 'no reason given'
            names.setdefault(why, []).append(case.name)
    return [f'  skipped: {of[0]}' + (f' and {len(of) - 1} more' if of[1:] else '') + f': {why}'
            for why, of in names.items()]


def main():
    """Print the summary, return the exit status."""
    build = Path(sys.argv[1]) / 'build'
    packages = sys.stdin.read().split()
    everything, lines, failures, not_built, broken = [], [], [], [], False

    for package in packages:
        directory = build / package
        rc = directory / 'colcon_build.rc'
        if not rc.is_file():
            not_built.append(f'{package}: a package it depends on failed to build')
            broken = True
            continue
        if rc.read_text().strip() != '0':
            not_built.append(f'{package}: build failed')
            broken = True
            continue
        if (directory / 'tests_not_built').is_file():
            not_built.append(f'{package}: build of its tests failed')
            broken = True
            continue
        parts = directory / 'not_built.txt'
        if parts.is_file():
            not_built += [line for line in parts.read_text().splitlines() if line.strip()]
        cases = package_cases(directory)
        everything += cases
        lines += [f'{package}: {totals(cases)}', *skips(cases)]
        for kept in sorted(directory.glob('test_results/**/*.run*.txt')):
            lines.append(f'  {kept.name}: {kept.read_text().splitlines()[0]}')
        for case in cases:
            if case.outcome == 'failed':
                tail = case.message.strip().splitlines()[-OUTPUT_LINES:]
                failures.append(f'{package}: {case.name}: {reason(tail)}')
                print(f'--- FAILED {package}: {case.name}')
                print(textwrap.indent('\n'.join(tail), '    '))

    for line in lines:
        print(line)
    ran = count(everything, 'passed') + count(everything, 'failed')
    print(f'tests: {ran} ran, {count(everything, "failed")} failed, '
          f'{count(everything, "skipped")} skipped'
          + ('' if ran else '; no test ran, which counts as a failure'))
    for line in not_built or ['nothing']:
        print(f'not built: {line}')
    for failure in failures:
        print(f'FAILED {failure}')
    print(totals(everything))
    return 1 if broken or not ran or count(everything, 'failed') else 0


if __name__ == '__main__':
    sys.exit(main())
