# SPDX-License-Identifier: Apache-2.0
"""The description of the controllers' parameters, against what generators of code make of it."""

import re
from pathlib import Path

import pytest
import yaml

PACKAGE = Path(__file__).resolve().parents[1]
PLUGINS = PACKAGE / 'src' / 'plugins'


def descriptions():
    """Every parameter file that CMake hands to generate_parameter_library."""
    files = []
    for cmake in [PACKAGE / 'CMakeLists.txt', *sorted((PACKAGE / 'cmake').glob('*.cmake'))]:
        files += re.findall(r'^\s*generate_parameter_library\(\S+\s+(\S+\.yaml)', cmake.read_text(),
                            re.MULTILINE)
    return [PACKAGE / file for file in files]


def parameters(node, prefix=''):
    """Name and description of each parameter, in the order of the file."""
    for key, value in node.items():
        if isinstance(value.get('type'), str):
            yield prefix + key, value
        else:
            yield from parameters(value, prefix + key + '.')


def of_file(file):
    (tree,) = yaml.safe_load(file.read_text()).values()
    return list(parameters(tree))


def counted(validations):
    """Those that the template counts: a name with bounds, lt or gt in it (size_gt as well)."""
    return [name for name in validations if re.search('bounds|lt|gt', name)]


def ranges(description):
    """The sizes that generated code (0.6.0) gives to the range, which has room for one."""
    if not re.match('double|int', description['type']):
        return []
    base = {name: name.split('<')[0] for name in description.get('validation', {})}
    sizes = []
    for index, name in enumerate(counted(description.get('validation', {})), start=1):
        arguments = description['validation'][name]
        two = isinstance(arguments, list) and len(arguments) == 2
        one_sided = re.search('lower|upper', name) or base[name] in ('gt', 'gt_eq', 'lt', 'lt_eq')
        if two or one_sided:
            sizes.append(index)
    return sizes


def test_there_are_descriptions():
    assert [file.name for file in descriptions()] == ['law_controller_parameters.yaml']
    assert all(len(of_file(file)) > 10 for file in descriptions())


@pytest.mark.parametrize('file', descriptions(), ids=lambda file: file.name)
def test_bounds_come_first(file):
    """
    The ranges of a parameter's descriptor have room for one element.

    generate_parameter_library up to 0.7.1, and 0.8.0, resizes the range to the position of the
    bounds among the validations: in the second place they make the declaration of the parameter
    throw "Exceeded upper bound", and no controller initializes. One with two ranges cannot be
    declared at all.
    """
    for name, description in of_file(file):
        assert ranges(description) in ([], [1]), (
            f"{file.name}: parameter '{name}': put the bounds before the other validations")


def test_the_rule_finds_what_went_wrong():
    bounds, size = {'element_bounds<>': [0.1, 1000.0]}, {'size_gt<>': 0}
    assert ranges({'type': 'double_array', 'validation': {**size, **bounds}}) == [2]
    assert ranges({'type': 'double_array', 'validation': {**bounds, **size}}) == [1]
    both = {'gt<>': 0.0, 'lt<>': 1.0}
    assert ranges({'type': 'double', 'validation': both}) == [1, 2]


def test_the_names_are_those_of_the_description():
    """A failed initialization finds the parameter's name in this list."""
    header = (PLUGINS / 'parameter_names.hpp').read_text()
    listed = re.search(r'kParameterNames\[\] = \{(.*?)\}', header, re.DOTALL).group(1)
    expected = [name for name, _ in of_file(PLUGINS / 'law_controller_parameters.yaml')]
    assert re.findall(r'"([^"]+)"', listed) == expected
