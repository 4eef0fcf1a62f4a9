#!/usr/bin/python3
"""
Check the #include directives against the architecture (docs/architecture.md).

A package includes only packages below it, and no ga_* package includes a puma_* one. The folders of
a package do not include each other in a circle. Prints each violation and exits with 1 if there are
any.
"""

from collections import defaultdict
from pathlib import Path
import re
import subprocess
import sys

ROOT = Path(__file__).resolve().parent.parent
# Each package and those that it may include.
BELOW = {
    'ga_dynamics': [],
    'ga_motion': ['ga_dynamics'],
    'ga_msgs': [],
    'ga_controllers': ['ga_dynamics', 'ga_msgs'],
    'ga_hardware': ['ga_dynamics', 'ga_controllers'],
    'ga_tools': ['ga_dynamics', 'ga_motion', 'ga_controllers', 'ga_hardware'],
    'puma_description': ['ga_dynamics'],
    'puma_hardware': ['ga_dynamics', 'ga_motion', 'ga_msgs', 'ga_controllers', 'ga_hardware',
                      'ga_tools'],
    'puma_bringup': [],
    'puma_moveit_config': [],
}
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def sources():
    listed = subprocess.run(['git', '-C', ROOT, 'ls-files', '*.hpp', '*.cpp'], check=True,
                            capture_output=True, text=True)
    return [Path(name) for name in listed.stdout.split() if (ROOT / name).exists()]


def headers_of(files):
    """The name under which other files of the same package include a header: its folder."""
    known = {}
    for file in files:
        if file.suffix != '.hpp':
            continue
        package = file.parts[0]
        for root in ('src', 'include'):
            base = Path(package) / root
            if base in file.parents:
                known[package, str(file.relative_to(base))] = folder_of(file)
    return known


def folder_of(file):
    """src/cards and include/puma_hardware/cards are one folder: cards."""
    _, root, *inner = file.parts[:-1]
    if root == 'include':
        return '/'.join(inner[1:]) or 'the public headers'
    return '/'.join(inner) or root


def circles(graph):
    """Folders that reach themselves."""
    found = []
    for start in list(graph):
        stack, seen = list(graph[start]), set()
        while stack:
            folder = stack.pop()
            if folder == start:
                found.append(start)
                break
            if folder not in seen:
                seen.add(folder)
                stack += graph.get(folder, ())
    return found


def main():
    files = [file for file in sources() if file.parts[0] in BELOW]
    known = headers_of(files)
    wrong = []
    graphs = defaultdict(lambda: defaultdict(set))
    for file in files:
        package = file.parts[0]
        production = file.parts[1] in ('src', 'include')
        for name in INCLUDE.findall((ROOT / file).read_text(encoding='utf-8')):
            other = name.split('/')[0]
            if other in BELOW and other != package and other not in BELOW[package]:
                wrong.append(f'{file}: includes {name}, of a package that {package} may not use')
            folder = known.get((package, name))
            if production and folder is not None and folder != folder_of(file):
                graphs[package][folder_of(file)].add(folder)
    for package, graph in graphs.items():
        for folder in circles(graph):
            wrong.append(f'{package}: folder {folder} includes others that include it again')
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
