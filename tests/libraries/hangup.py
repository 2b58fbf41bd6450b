#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run under nohup continues when its terminal closes, also if a library that is loaded before
main() handles SIGHUP. The test covers a run with --checkpoint, for which the program starts itself
again, and a run without this option.

usage: hangup.py FOLDER-OF-PROGRAMS THE-LIBRARY"""

import os
import signal
import subprocess
import sys

from checkpoints import wait_for_gvt
from processes import wait_until_computing
from programs import Programs

MODEL = ["phold", "--lps", 256, "--until", 1e9, "--quiet"]

programs = Programs()
environment = {**os.environ, "LD_PRELOAD": sys.argv[2]}
folder = programs.work / "checkpoint"


def start(options, through=()):
    return subprocess.Popen([*through, programs.bin / MODEL[0], *map(str, [*MODEL[1:], *options])], env=environment,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=programs.work)


for options in [[], ["--checkpoint", folder, "--checkpoint-period", 1]]:
    run = start(options, through=["nohup"])
    if options:
        wait_for_gvt(run, folder)
    else:
        wait_until_computing(run)
    run.send_signal(signal.SIGHUP)
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate()
    # The first signal that is not ignored gives the exit code.
    programs.expect(run.returncode == 130, f"{options}: SIGHUP is ignored: {run.returncode} {errors!r}")
# Without nohup, the library handles SIGHUP.
run = start([])
wait_until_computing(run)
run.send_signal(signal.SIGHUP)
_, errors = run.communicate()
programs.expect(run.returncode == 99, f"without nohup: {run.returncode} {errors!r}")
programs.leave()
