#!/usr/bin/env python3
"""Inside the guest: runs a program of ours until all kinds of its pages are local, as its answers to
SIGUSR2 say thrice in a row, and then interrupts it; also after so many answers that this will never be.
What it is asked and answers it does between passes of its daemon: on a busy host all of this is slow alike.

usage: until_local.py PROGRAM...     exit code: the program's"""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from processes import wait_until_computing  # noqa: E402

PERCENT_MAX = 1
ANSWERS_MAX = 200
PERIOD_SECONDS = 0.25

with subprocess.Popen(sys.argv[1:], stderr=subprocess.PIPE, text=True) as run:
    wait_until_computing(run)
    in_a_row = answers = 0
    while run.poll() is None and in_a_row < 3 and answers < ANSWERS_MAX:
        run.send_signal(signal.SIGUSR2)
        shares = map(float, re.findall(r"([\d.]+) % remote", run.stderr.readline()))
        in_a_row = in_a_row + 1 if max(shares, default=100) <= PERCENT_MAX else 0
        answers += 1
        time.sleep(PERIOD_SECONDS)
    run.send_signal(signal.SIGINT)
    sys.stderr.write(run.stderr.read())
print(f"{answers} answers", file=sys.stderr)
sys.exit(run.returncode)
