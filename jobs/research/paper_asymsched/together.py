# SPDX-License-Identifier: Apache-2.0
"""Runs in the modeled guest: starts several programs at the same time.

usage: together.py OTHERS COMMAND...

OTHERS is JSON: a list of command lines. Waits for all programs. The exit code is the first one that is not 0."""

import json
import subprocess
import sys

others = [subprocess.Popen(words, stdout=subprocess.DEVNULL) for words in json.loads(sys.argv[1])]
codes = [subprocess.call(sys.argv[2:]), *(other.wait() for other in others)]
sys.exit(next((code for code in codes if code != 0), 0))
