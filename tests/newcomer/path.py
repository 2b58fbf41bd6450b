#!/usr/bin/env python3
"""A newcomer's path: a bare Debian 12 on which numawarp is a fresh checkout, a user who may use sudo,
and nothing else. The two commands of the README install what they need, build, and do what they say;
the tutorial's model is built in a folder of its own against the installed package.

Of the tests only the unit tests and those of tutorial and package are run: all of them would take half
an hour more, and .ci/run does that. The checkout is HEAD, so that what was not committed is missed here
as by everybody else. Exit code 77 says why there can be no bare root here."""

import signal
import subprocess
import sys
import time
from pathlib import Path

from bare_root import Unavailable, bare_root, enter

checkout = Path(__file__).resolve().parent.parent.parent
HOME = "/home/newcomer"

# What an administrator has done before: the user, and sudo.
PREPARE = """
apt-get -qq update
apt-get -qq install -y --no-install-recommends sudo >/dev/null
useradd --create-home --shell /bin/bash newcomer
echo 'newcomer ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/newcomer
mkdir /home/newcomer/numawarp
tar -C /home/newcomer/numawarp -xf /checkout.tar
chown -R newcomer: /home/newcomer/numawarp
"""

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


def as_newcomer(root, lines, timeout):
    # `tee` must not hide that what is before it failed.
    (root / "step").write_text(f"set -e -o pipefail\ncd {HOME}/numawarp\n{lines}\n")
    return enter(root, "sudo", "--set-home", "--user=newcomer", "bash", "/step", timeout=timeout)


def walk(root):
    """How many steps failed; the ones after a failed one are not tried."""
    with open(root / "checkout.tar", "wb") as file:
        if subprocess.run(["git", "archive", "HEAD"], cwd=checkout, stdout=file).returncode != 0:
            raise Unavailable("no checkout of git")
    if enter(root, "sh", "-e", "-c", PREPARE, timeout=600) != 0:
        raise Unavailable("apt in the bare root does not work")
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
    with bare_root() as root:
        print(f"ok      a bare root: {time.monotonic() - began:.0f} s", flush=True)
        failures = walk(root)
except Unavailable as reason:
    print(f"skipped: {reason}")
    sys.exit(77)
sys.exit(failures)
