#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A saved run continues in another process. This process finds the arguments of the LPs'
constructors, even if stack, libraries and libc's heap have other addresses. If handlers have stored
pointers to other memory outside of the LPs, the run reports this when it is saved. If the program's
own addresses change, the run can continue only if no LP holds a pointer into the program that a
handler stored; otherwise the restart is refused. (checkpoint_libraries.py tests pointers into
libraries.)"""

import shutil
import subprocess
from pathlib import Path

from checkpoints import gvt, restart_hint, result, start, stop
from processes import PATIENCE_SECONDS
from programs import CHECKOUT, Programs

MODEL = ["--until", 25000]
# Linux gives each process another layout unless a system call prevents this. The command ANYWHERE
# refuses this system call.
moves_programs = int(Path("/proc/sys/kernel/randomize_va_space").read_text()) > 0
ANYWHERE = [CHECKOUT / "tests/support/refuse.py", "personality=1"]
launchers = [[]]
if subprocess.run([*ANYWHERE, "true"], capture_output=True).returncode == 0:
    launchers.append(ANYWHERE)
can_fix = subprocess.run(["setarch", "--addr-no-randomize", "true"], capture_output=True).returncode == 0

programs = Programs()
expect = programs.expect
stats = programs.work / "stats.json"


def go_on(program, handlers, launcher=()):
    """Runs a program in three processes. Returns (exit code of the last process, output of all
    processes)."""
    checkpoint = programs.work / "checkpoint"
    shutil.rmtree(checkpoint, ignore_errors=True)
    command = [*launcher, programs.bin / program, *MODEL, "--handlers", handlers, "--quiet",
               "--engine", "timewarp", "--workers", 2, "--stats", stats, "--checkpoint", checkpoint,
               "--checkpoint-period", "0.1"]
    said = ""
    for _ in range(2):
        beyond = gvt(checkpoint)
        run = start(programs, *command, *(["--restart", checkpoint] if beyond else []))
        code, errors = stop(run, checkpoint, beyond)
        said += errors
        if code != 0 or restart_hint(errors) is None:
            return code, said
    last = start(programs, *command, "--restart", checkpoint)
    said += last.communicate(timeout=PATIENCE_SECONDS)[1]
    return last.returncode, said


for handlers in ["plain", "typed", "astray"]:
    programs.statistics_of("pointers", *MODEL, "--handlers", handlers, "--engine", "sequential")
    reference = result(stats)
    for program, launcher in [("pointers", []), *(("moving_pointers", by) for by in launchers)]:
        code, said = go_on(program, handlers, launcher)
        name = f"{handlers}, {program}{' anywhere' if launcher else ''}"
        warned = said.count("look like pointers to memory outside of the LPs")
        # Unused bytes of a std::function may resemble a pointer, so "typed" is not checked.
        if handlers != "typed":
            expect((warned > 0) == (handlers == "astray"), f"{name}: {warned} warnings")
        moves = moves_programs and (launcher or not can_fix)
        if program == "moving_pointers" and handlers == "typed" and moves:
            expect(code == 2 and "-no-pie" in said, f"{name}: refused: {said.splitlines()[-1:]}")
        else:
            expect(code == 0 and result(stats) == reference,
                   f"{name}: exit code {code}, {result(stats)['digest']}"
                   + ("" if code == 0 else said))

programs.leave()
