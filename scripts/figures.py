#!/usr/bin/python3
"""
Figures in the documents: produced again by the commands named beside them, and compared.

usage: figures.py check TAG     exit status 1 if a figure is off, or a command not named beside it
       figures.py update TAG    write what the commands give now into the documents

TAG is `plain`, or `ros` for the commands that need ROS 2. docs/figures.toml says which figure
comes from which command, and how closely it has to agree; its head explains the form.
"""

import json
import os
from pathlib import Path
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib

ROOT = Path(__file__).resolve().parents[1]
NUMBER = r'[-−]?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?'


class Run:
    """What a command has given: its output, and the data that it has left."""

    def __init__(self, output, folder):
        self.output, self.data, self.sizes = output, None, {}
        for path in folder.rglob('*'):
            if path.is_file():
                self.sizes[path.name] = path.stat().st_size / 1e6
            if path.name == 'data.json':
                self.data = json.loads(path.read_text())

    def values(self, source):
        """Return the numbers of one source (see docs/figures.toml)."""
        kind, _, what = source.partition(':')
        if kind == 'table':
            row, _, key = what.partition('.')
            rows = {row['run']: row for row in self.data['table']['rows']}
            return [float(rows[row][key])]
        if kind == 'size':
            return [self.sizes[what]]
        match = re.search(what, self.output, re.MULTILINE)
        if not match:
            raise LookupError(f'the output has no {what!r}')
        return [float(group.replace('−', '-')) for group in match.groups()]


def execute(run, tag):
    """Run a command once for each seed; return what they gave."""
    setup = 'ros/install/setup.bash' if tag == 'ros' else 'plain/install/local_setup.bash'
    results = []
    for seed in run.get('seeds', [None]):
        command = run.get('execute', run['command'])
        if seed is not None:
            command += f' --seed {seed}'
        with tempfile.TemporaryDirectory() as folder:
            script = f'root={shlex.quote(str(ROOT))}\n. "$root/build/{setup}"\n{command}'
            done = subprocess.run(['bash', '-c', script], cwd=folder, text=True, env={
                **os.environ, 'PATH': '/usr/bin:/bin:/usr/sbin:/sbin'},
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900)
            if done.returncode != 0:
                raise RuntimeError(f'{command}: exit status {done.returncode}\n{done.stdout}')
            results.append(Run(done.stdout, Path(folder)))
    return results


def pattern(text):
    """Return what a figure's text looks like in a document, whatever its numbers."""
    parts = [re.sub(r'(\\? |\\\n)+', r'\\s+', re.escape(part)) for part in text.split('{}')]
    return re.compile(f'({NUMBER})'.join(parts))


def section(text, position):
    """Return the part of a document, from one heading to the next, that holds a position."""
    headings = [match.start() for match in re.finditer(r'^#+ ', text, re.MULTILINE)]
    begin = max([at for at in headings if at <= position], default=0)
    end = min([at for at in headings if at > position], default=len(text))
    return text[begin:end]


def rounded(value, digits):
    """Return a number with so many significant digits, as documents write it."""
    text = f'{value:.{digits}g}'
    if 'e' in text:
        mantissa, exponent = text.split('e')
        return f'{mantissa}e{int(exponent)}'
    return text


def off(figure, written, runs):
    """Return what is wrong with a figure's numbers, and the numbers that would be right."""
    tolerance, digits = figure['tolerance'], figure.get('digits', 2)
    given = [[value for source in figure['values'] for value in run.values(source)] for run in runs]
    if figure.get('range'):  # the text's two numbers hold all that the runs gave
        values = [value for run in given for value in run]
        low, high = min(values), max(values)
        slack = tolerance * max(abs(low), abs(high))
        wrong = not (written[0] - slack <= low and high <= written[1] + slack
                     and written[0] <= written[1])
        right = [min(low, written[0]), max(high, written[1])] if not wrong else [low, high]
        return wrong, f'{rounded(low, 4)} to {rounded(high, 4)}', [
            rounded(value, digits) for value in right]
    values = [sum(column) / len(column) for column in zip(*given)]
    if len(values) != len(written):
        raise LookupError(f'{len(values)} values for {len(written)} numbers')
    if not isinstance(tolerance, list):
        tolerance = [tolerance] * len(values)
    wrong = any(abs(value - number) > part * abs(value)
                for value, number, part in zip(values, written, tolerance, strict=True))
    return wrong, ', '.join(rounded(value, 4) for value in values), [
        rounded(value, digits) for value in values]


def replaced(text, match, numbers):
    """Return a text with other numbers in the groups of a match."""
    result, at = '', 0
    for index, number in enumerate(numbers, 1):
        result += text[at:match.start(index)] + number
        at = match.end(index)
    return result + text[at:]


def main(arguments):
    """Do what the usage says."""
    if len(arguments) != 2 or arguments[0] not in ('check', 'update') \
            or arguments[1] not in ('plain', 'ros'):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    verb, tag = arguments
    plan = tomllib.loads((ROOT / 'docs' / 'figures.toml').read_text())
    results, bad = {}, 0
    for figure in plan['figure']:
        run = plan['run'][figure['run']]
        if run.get('tag', 'plain') != tag:
            continue
        path = ROOT / figure['document']
        text = path.read_text()
        label = f'{figure["document"]}: "{figure["text"]}"'
        match = pattern(figure['text']).search(text)
        if not match:
            print(f'{label}: no such text in the document')
            bad += 1
            continue
        if run['command'] not in ' '.join(section(text, match.start()).split()):
            print(f'{label}: its section does not name the command `{run["command"]}`')
            bad += 1
        if figure['run'] not in results:
            results[figure['run']] = execute(run, tag)
        written = [float(number.replace('−', '-')) for number in match.groups()]
        wrong, now, right = off(figure, written, results[figure['run']])
        if wrong and verb == 'check':
            print(f'{label}: is {match[0]!r}, `{run["command"]}` gives {now}, '
                  f'tolerance {figure["tolerance"]}')
            bad += 1
        elif wrong:
            path.write_text(replaced(text, match, right))
            print(f'{label}: now {now}')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
