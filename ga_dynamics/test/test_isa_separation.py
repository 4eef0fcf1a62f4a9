# SPDX-License-Identifier: Apache-2.0
"""
The AVX2 kernels must not leak into programs for older processors.

Every weak symbol of the AVX2 object may be merged by the linker with its namesake from any other
object: all of them must carry the name of the instruction set.
"""

import os
import re
import subprocess


def weak_symbols(path):
    output = subprocess.run(['nm', '--demangle', path], capture_output=True, text=True, check=True)
    for line in output.stdout.splitlines():
        match = re.match(r'[0-9a-f]{16} ([WVu]) (.*)', line)
        if match:
            yield match[2]


def test_weak_symbols_of_the_avx2_object_name_their_instruction_set():
    symbols = list(weak_symbols(os.environ['GA_AVX2_OBJECT']))
    assert len(symbols) > 5, 'the object holds the kernels'
    # a pointer to the personality routine: data, not code
    foreign = [s for s in symbols if 'ga_dynamics::avx2' not in s and not s.startswith('DW.ref.')]
    assert foreign == []
