#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the checkpoints of runs that ./jobs/run starts. SIGTERM, SIGINT and SIGUSR1 reach the model,
on one rank and on several ranks. The exit code is that of the model, and no process is left over. A
run with --restart continues the same tables, without --output.

The test calls ./jobs/run in a folder with the layout of a checkout. Small scripts in PATH replace
cmake, ctest and apt-get, so nothing is built."""

import os
import shutil
import signal
import subprocess
import sys

from checkpoints import contents, wait_for_gvt
from checkouts import make_checkout, without_building
from programs import CHECKOUT, Programs

programs = Programs()
expect = programs.expect
MODEL = ["traffic", "--objects", "256", "--until", "4000", "--quiet", "--workers", "1"]
# Ctrl-C reaches all foreground processes of the terminal. `timeout` sends its signal first to the
# command, and then to the whole process group.
ALONE, TO_ALL = "alone", "to all"

checkout = make_checkout(programs)
environment = without_building(checkout)


def jobs_run(*arguments):
    return subprocess.Popen(["./jobs/run", *map(str, arguments)], cwd=checkout, env=environment,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            start_new_session=True)


def processes_of(session):
    """Running processes of the session. mpirun and its ranks have separate process groups in the
    session."""
    listed = subprocess.run(["ps", "-o", "stat=,comm=", "-s", str(session)], capture_output=True,
                            text=True)
    return [line.split()[1] for line in listed.stdout.splitlines() if not line.startswith("Z")]


def stop(ranks, number, whom, code):
    """Stops a run that is under way, and continues it to its end with the same folder."""
    folder = f"{number.name}-{whom.split()[-1]}-{len(ranks)}"
    name = f"{' '.join(ranks)} {number.name} {whom}".strip()
    run = jobs_run(*ranks, *MODEL, "--checkpoint", folder, "--checkpoint-period", "0.1")
    if not wait_for_gvt(run, checkout / folder):
        expect(False, f"{name}: the run is under way: {run.communicate()}")
        return
    os.kill(run.pid, number)
    if whom == TO_ALL:
        os.killpg(run.pid, number)
    said, errors = run.communicate(timeout=60)
    expect(run.returncode == code and "continue with: " in errors,
           f"{name}: exit code {run.returncode}: {errors.splitlines()[-1:]}")
    expect(f"output   {folder}/output\n" in said, f"{name}: the output names the folder of its tables")
    expect(not processes_of(run.pid), f"{name}: left over: {processes_of(run.pid)}")

    run = jobs_run(*ranks, *MODEL, f"--restart={folder}")
    _, errors = run.communicate(timeout=120)
    tables = contents(checkout / folder / "output")
    expect(run.returncode == 0 and tables["roads.csv"] == reference,
           f"{name}: continued: exit code {run.returncode}: {errors[-200:]}")


programs.run(*MODEL, "--output", programs.work / "reference")
reference = (programs.work / "reference/roads.csv").read_bytes()

stop([], signal.SIGTERM, ALONE, 0)
stop([], signal.SIGINT, TO_ALL, 130)
if shutil.which("mpirun") is None:
    print("not run: there is no mpirun here (Debian: openmpi-bin)")
else:
    stop(["--ranks", "2"], signal.SIGTERM, TO_ALL, 0)
    stop(["--ranks", "2"], signal.SIGUSR1, ALONE, 0)
    stop(["--ranks", "2"], signal.SIGINT, TO_ALL, 130)
    run = subprocess.Popen([sys.executable, CHECKOUT / "jobs/lib/launch.py", "2", programs.bin / "phold",
                            "--until", "1e12", "--progress", "on"], text=True,
                           stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)
    run.stderr.readline()  # the command line; then the model runs
    run.stderr.read(1)
    run.send_signal(signal.SIGUSR1)
    run.communicate(timeout=60)
    expect(run.returncode == 138 and not processes_of(run.pid),
           f"SIGUSR1 without --checkpoint: {run.returncode}, left over: {processes_of(run.pid)}")
programs.leave()
