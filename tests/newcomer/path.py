#!/usr/bin/env python3
"""A newcomer's path: a bare Debian 12 on which numawarp is a fresh checkout, a user who may use sudo,
and nothing else. The two commands of the README install what they need, build, and do what they say;
the tutorial's model is built in a folder of its own against the installed package.

Of the tests only the unit tests and those of tutorial and package are run: all of them would take half
an hour more, and .ci/run does that. The checkout is HEAD, so that what was not committed is missed here
as by everybody else. Exit code 77 says why there can be no bare root here."""

import os
import signal
import sys
import time

from bare_root import Unavailable, bare_root
from newcomer import as_newcomer, settle

# (what it is, the lines of bash, each of which must succeed)
STEPS = [
    ("the first command", """
        ./jobs/run traffic --until 600 | tee /tmp/said
        grep -q '^ *digest ' /tmp/said
        grep -q '^picture .*network.svg' /tmp/said
        test -s results/traffic-*/roads.csv
        test -s results/traffic-*/network.svg"""),
    ("the same result on the sequential engine", """
        build/bin/traffic --until 600 --engine sequential | tee /tmp/sequential
        test "$(grep '^ *digest ' /tmp/said)" = "$(grep '^ *digest ' /tmp/sequential)" """),
    ("the second command, its unit tests", """
        ./tests/run -L unit | tee /tmp/said
        grep -q '^100% tests passed' /tmp/said"""),
    ("the tutorial and the installed package", """
        ./tests/run -R '^(documents_tutorial|check_install)$' | tee /tmp/said
        grep -q '^100% tests passed, 0 tests failed out of 2' /tmp/said
        test -z "$(grep Skipped /tmp/said)" """),
]


def walk(root):
    """How many steps failed; the ones after a failed one are not tried."""
    settle(root)
    for name, lines in STEPS:
        began = time.monotonic()
        code = as_newcomer(root, lines, timeout=3600)
        print(f"{'ok     ' if code == 0 else 'FAILED '} {name}: {time.monotonic() - began:.0f} s",
              flush=True)
        if code != 0:
            return 1
    return 0


# As an exception, so that what was made is taken away.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
try:
    began = time.monotonic()
    with bare_root("bookworm", image=os.environ.get("NUMAWARP_BARE_ROOT")) as root:
        print(f"ok      a bare root: {time.monotonic() - began:.0f} s", flush=True)
        failures = walk(root)
except Unavailable as reason:
    print(f"skipped: {reason}")
    sys.exit(77)
sys.exit(failures)
