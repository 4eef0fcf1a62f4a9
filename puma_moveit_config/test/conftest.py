# SPDX-License-Identifier: Apache-2.0
"""The support of puma_bringup's launch tests, for tests that are run by pytest."""

import os
import sys

if 'PUMA_LAUNCH_SUPPORT' in os.environ:
    sys.path.insert(0, os.environ['PUMA_LAUNCH_SUPPORT'])
