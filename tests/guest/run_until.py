#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program of numawarp inside the guest and interrupts it, like Ctrl-C.

The time starts when the program watches its placement, because the set-up takes long on a busy
host. The program's answer to SIGUSR2 shows whether the placement is watched. After the time, the
program continues until three consecutive answers fulfill the condition, or until a deadline, after
which the condition counts as impossible. So a slow host changes the duration of the run, but not
the result of the test.

usage: run_until.py SECONDS COMMAND CONDITION PROGRAM...

SECONDS    minimum duration of the run
COMMAND    a shell command that is executed after SECONDS; $RUN is the program's process. After the
           command, the program runs for SECONDS again. -: no command
CONDITION  local   at most 1 % of the pages of each kind are remote
           spread  the search for weights has ended, and state pages have the shares of the weights
           grown   spread, and state pages have grown by a fifth since the first answer
           other   a regular expression that matches a part of the answer
           -       no condition

exit code: the program's exit code"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from processes import PATIENCE_SECONDS, line_of, wait_until_computing  # noqa: E402

PERCENT_REMOTE_MAX = 1
# Below the percentage point that the tests require at the end, because an answer covers a sample of
# the pages.
POINTS_OFF_MAX = 0.7
GROWTH = 1.2
IN_A_ROW = 3
PERIOD_SECONDS = 0.25
DEADLINE_SECONDS = PATIENCE_SECONDS - 60  # a batch ends a program after PATIENCE_SECONDS
UNITS = {"B": 1, "KiB": 2 ** 10, "MiB": 2 ** 20, "GiB": 2 ** 30}


def state_bytes(answer):
    """Bytes of state, indexed by node."""
    state = next((part for part in answer.split("; ") if part.startswith("state ")), "")
    return [float(number) * UNITS[unit] for number, unit in re.findall(r"([\d.]+) (\w+) on node", state)]


def is_spread(answer):
    weights = next((part for part in answer.split("; ") if part.startswith("pages on nodes")), "")
    wanted = [float(share) for share in re.findall(r" \d+ ([\d.]+) %", weights)]
    found = state_bytes(answer)
    return ("has not ended" not in answer and len(wanted) == len(found) > 0
            and all(abs(100 * share / sum(found) - want) <= POINTS_OFF_MAX for share, want in zip(found, wanted)))


def is_fulfilled(condition, first, answer):
    match condition:
        case "local":
            shares = [float(share) for share in re.findall(r"([\d.]+) % remote", answer)]
            return max(shares, default=100) <= PERCENT_REMOTE_MAX
        case "spread":
            return is_spread(answer)
        case "grown":
            return is_spread(answer) and sum(state_bytes(answer)) > GROWTH * sum(state_bytes(first))
        case _:
            return re.search(condition, answer) is not None


def ask(run):
    run.send_signal(signal.SIGUSR2)
    line = line_of(run.stderr, timeout=PERIOD_SECONDS * 40)
    other = "" if "placement:" in line else line
    sys.stderr.write(other)
    return line


seconds, command, condition, *program = sys.argv[1:]
with subprocess.Popen(program, stderr=subprocess.PIPE) as run:
    deadline = time.monotonic() + DEADLINE_SECONDS
    wait_until_computing(run)
    first = ""
    # Until the placement is watched, the run prints that it is not watched.
    while run.poll() is None and not re.search("local;|placement: not reported by the kernel", first):
        if time.monotonic() > deadline:
            run.kill()
            sys.exit(f"placement is not watched: {first}")
        first = ask(run)
    if command != "-":
        time.sleep(float(seconds))
        subprocess.run(["sh", "-c", command], env={**os.environ, "RUN": str(run.pid)}, check=True)
    time.sleep(float(seconds))
    in_a_row = 0 if condition != "-" else IN_A_ROW
    while run.poll() is None and in_a_row < IN_A_ROW and time.monotonic() < deadline:
        answer = ask(run)
        in_a_row = in_a_row + 1 if is_fulfilled(condition, first, answer) else 0
        time.sleep(PERIOD_SECONDS)
    if in_a_row < IN_A_ROW:
        print(f"never fulfilled: {condition}", file=sys.stderr)
    run.send_signal(signal.SIGINT)
    rest = run.stderr.read().decode()
sys.stderr.write("".join(line for line in rest.splitlines(keepends=True) if "placement:" not in line))
sys.exit(run.returncode)
