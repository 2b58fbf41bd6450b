#!/usr/bin/env python3
"""The short set of tests in a bare Debian 13, whose compiler, Open MPI and libraries are newer than those of
Debian 12: nothing may fail there. What is skipped is told, and may be only what says by itself that this
machine or this Debian cannot do it: a layout check without clang-format 14, guests and hosts.

Exit code 77 says why there can be no bare root here."""

import os
import re
import signal
import sys
import time

from bare_root import Unavailable, bare_root
from newcomer import as_newcomer, settle

GIGABYTES = 12
LABELS = "unit|engine|property|system|mpi"
# With the packages of Debian 13, and by a user who may not mount anything, these cannot be shown there.
MAY_BE_SKIPPED = {"check_format", "system_checkpoint_disk_full"}


def skipped_in(report):
    return set(re.findall(r"^\s*\d+ - (\S+) \(Skipped\)", report, re.MULTILINE))


def run_short_set(root):
    """How many things were wrong."""
    settle(root)
    code = as_newcomer(root, f"./tests/run --short -L '{LABELS}' 2>&1 | tee /tmp/said", timeout=10_800)
    report = (root / "tmp/said").read_text(errors="replace")
    unexpected = skipped_in(report) - MAY_BE_SKIPPED
    if unexpected:
        print(f"FAILED  skipped: {', '.join(sorted(unexpected))}")
    print(f"{'ok     ' if code == 0 else 'FAILED '} the short set on Debian 13", flush=True)
    return (code != 0) + bool(unexpected)


# As an exception, so that what was made is taken away.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
try:
    began = time.monotonic()
    with bare_root("trixie", GIGABYTES, os.environ.get("NUMAWARP_BARE_ROOT_13")) as root:
        print(f"ok      a bare root: {time.monotonic() - began:.0f} s", flush=True)
        failures = run_short_set(root)
except Unavailable as reason:
    print(f"skipped: {reason}")
    sys.exit(77)
sys.exit(1 if failures else 0)
