#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and tests a fresh checkout on a bare Debian, as a user who may use sudo and has nothing
else installed. The checkout is HEAD: a file that was not committed is missing.

usage: newcomer.py FOLDER-OF-PROGRAMS path|next_debian     (no program of this machine is used)

path: on Debian 12, the two commands of the README install everything that they need, build, and
have the described effect. The tutorial's model is built in a separate folder against the installed
package. Only the unit tests, and the tests of the tutorial and of the package, are run; .ci/run
runs all tests.

next_debian: runs the short set of tests on Debian 13, whose compiler, Open MPI and libraries are
newer. No test may fail on Debian 13. A test may be skipped only if it reports that this machine or
Debian lacks something.

Exit code 77: no bare root can be created here; the reason is printed."""

import os
import re
import signal
import subprocess
import sys
import time

from bare_root import Unavailable, bare_root, enter
from programs import CHECKOUT

HOME = "/home/newcomer"

# Preparations by an administrator: the user, and sudo.
PREPARE = """
apt-get -qq update
apt-get -qq install -y --no-install-recommends sudo >/dev/null
useradd --create-home --shell /bin/bash newcomer
echo 'newcomer ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/newcomer
mkdir /home/newcomer/numawarp
tar -C /home/newcomer/numawarp -xf /checkout.tar
chown -R newcomer: /home/newcomer/numawarp
"""

# (Debian, gigabytes, variable with the path of an image, tests that may be skipped, steps). A step
# is a name and lines of bash, each of which must succeed.
ROOTS = {
    "path": ("bookworm", 5, "NUMAWARP_BARE_ROOT", set(), [
        ("the first command", """
            ./jobs/run traffic --until 600 | tee /tmp/said
            grep -q '^ *digest ' /tmp/said
            grep -q '^picture .*network.svg' /tmp/said
            test -s results/traffic-*/roads.csv
            test -s results/traffic-*/network.svg"""),
        ("the same result on the sequential engine", """
            build/bin/traffic --until 600 --engine sequential | tee /tmp/sequential
            test "$(grep '^ *digest ' /tmp/said)" = "$(grep '^ *digest ' /tmp/sequential)" """),
        ("the second command, its unit tests", "./tests/run -L unit | tee /tmp/said"),
        ("the tutorial and the installed package", """
            ctest --test-dir build -R '^(documents_tutorial|check_install)$' | tee /tmp/said
            grep -q 'tests passed, 0 tests failed out of 2$' /tmp/said"""),
    ]),
    # Debian 13 has neither clang-format 14 nor SimPy, the user may not mount, and the checkout has
    # no history.
    "next_debian": ("trixie", 12, "NUMAWARP_BARE_ROOT_13",
                    {"check_format", "system_beside_simpy", "system_checkpoint_disk_full", "documents_commits"}, [
        ("the short set of tests", """
            ./tests/run -L 'unit|engine|property|system|mpi' 2>&1 | tee /tmp/said"""),
    ]),
}


def settle(root):
    """Creates the user and the checkout."""
    with open(root / "checkout.tar", "wb") as file:
        if subprocess.run(["git", "archive", "HEAD"], cwd=CHECKOUT, stdout=file).returncode != 0:
            raise Unavailable("no checkout of git")
    if enter(root, "sh", "-e", "-c", PREPARE, timeout=1200) != 0:
        raise Unavailable("apt in the bare root does not work")


def as_newcomer(root, lines):
    """Runs lines of bash in the checkout, each of which must succeed. Returns the exit code."""
    # `tee` must not hide a failure of the command before it.
    (root / "step").write_text(f"set -e -o pipefail\ncd {HOME}/numawarp\n{lines}\n")
    return enter(root, "sudo", "--set-home", "--user=newcomer", "bash", "/step", timeout=10_800)


def well(root, name, lines, may_be_skipped):
    """Whether a step succeeded and only the allowed tests were skipped."""
    began = time.monotonic()
    code = as_newcomer(root, lines)
    said = (root / "tmp/said").read_text(errors="replace")
    skipped = set(re.findall(r"^\s*\d+ - (\S+) \(Skipped\)", said, re.MULTILINE)) - may_be_skipped
    holds = code == 0 and not skipped
    print(f"{'ok     ' if holds else 'FAILED '} {name}: {time.monotonic() - began:.0f} s, exit code {code}, "
          f"skipped: {sorted(skipped)}", flush=True)
    return holds


suite, gigabytes, image, may_be_skipped, steps = ROOTS[sys.argv[2]]
# SIGTERM becomes an exception, so that everything that was created is deleted.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
try:
    with bare_root(suite, gigabytes, os.environ.get(image)) as root:
        settle(root)
        # The steps after a failed step are not tried.
        sys.exit(not all(well(root, *step, may_be_skipped) for step in steps))
except Unavailable as reason:
    print(f"skipped: {reason}")
    sys.exit(77)
