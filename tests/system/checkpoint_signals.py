#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SIGTERM, SIGUSR1 and SIGHUP end a run with --checkpoint with exit code 0, and print a command
line that continues the run. This line, passed to a shell unchanged, produces the digest and the
files of an uninterrupted run. SIGINT does the same with exit code 130. Without --checkpoint these
signals have their usual effect."""

import signal
import subprocess
import time

from checkpoints import contents, gvt, restart_hint, latest, result, wait_for_gvt
from processes import wait_until_computing
from programs import Programs

MODEL = ["traffic", "--objects", 256, "--until", 12000]

programs = Programs()
expect = programs.expect
reference_stats, reference_output = programs.work / "stats.json", programs.work / "output"
programs.statistics_of(*MODEL, "--engine", "sequential", "--output", reference_output)
reference = result(reference_stats)

# A path that a shell must not split.
folder = programs.work / "it's a folder; $HOME"
folder.mkdir()
stats, output, checkpoint = folder / "stats.json", folder / "out put", folder / "checkpoint"


def start(command, **more):
    return subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, cwd=programs.work, **more)


def end(process, number):
    """Sends the signal three times, as `timeout` and batch systems do, the last time after a pause.
    Returns (exit code, stderr)."""
    for pause in [0, 0, 0.01]:
        time.sleep(pause)
        process.send_signal(number)
    try:
        _, errors = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        _, errors = process.communicate()
    return process.returncode, errors


command = [programs.bin / MODEL[0], *MODEL[1:], "--engine", "timewarp", "--workers", 2, "--quiet", "--stats", stats,
           "--output", output, "--checkpoint", checkpoint, "--checkpoint-period", "0.1"]
shell, beyond = None, 0.0
for number, code in [(signal.SIGTERM, 0), (signal.SIGUSR1, 0), (signal.SIGHUP, 0), (signal.SIGINT, 130)]:
    name = signal.Signals(number).name
    run = start(["bash", "-c", f"exec {shell}"] if shell else command)
    if not wait_for_gvt(run, checkpoint, beyond):
        expect(False, f"{name}: the run is under way: {run.communicate()[1]!r}")
        programs.leave()
    ended, errors = end(run, number)
    saved = latest(checkpoint)
    expect(ended == code, f"{name}: exit code {ended}")
    expect(errors.count("\n") == 1, f"{name}: one line: {errors!r}")
    shell = restart_hint(errors)
    expect(shell is not None and saved["gvt"] > beyond,
           f"{name}: saved at {saved['gvt']}, later than {beyond}")
    expect(str(saved['gvt']) in errors, f"{name}: the line contains the virtual time")
    beyond = saved["gvt"]

done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, cwd=programs.work)
expect((done.returncode, done.stderr) == (0, ""), f"the last part of the run ends: {done.returncode} {done.stderr!r}")
expect(result(stats) == reference, f"the result equals that of an uninterrupted run: {result(stats)}")
expect(contents(output) == contents(reference_output), f"the files of the run: {sorted(contents(output))}")

# A complete run can be restarted, with the same end time.
for arguments in [[], ["--engine", "timewarp", "--workers", 1]]:
    stats.unlink()
    done = subprocess.run(["bash", "-c", f"{shell} {' '.join(map(str, arguments))}"],
                          capture_output=True, text=True, cwd=programs.work)
    expect(done.returncode == 0 and result(stats) == reference
           and contents(output) == contents(reference_output), f"once more {arguments}")
    expect("this run ended at virtual time 12000;" in done.stderr and done.stderr.count("\n") == 1,
           f"and a message reports that the run is over: {done.stderr!r}")

# The other engines, one after the other, continue one run.
chained = programs.work / "chained"
words = [programs.bin / MODEL[0], *MODEL[1:], "--quiet", "--stats", stats, "--output", programs.work / "of chain",
         "--checkpoint", chained]
restart, beyond = [], 0.0
for engine, number, code in [("sequential", signal.SIGTERM, 0), ("conservative", signal.SIGHUP, 0),
                             ("sequential", signal.SIGINT, 130), ("conservative", signal.SIGUSR1, 0)]:
    run = start([*words, "--checkpoint-period", "0.1", "--engine", engine, *restart])
    under_way = wait_for_gvt(run, chained, beyond)
    ended, errors = end(run, number)
    expect(under_way and ended == code and restart_hint(errors) is not None and errors.count("\n") == 1,
           f"{engine}, {signal.Signals(number).name}: exit code {ended}: {errors!r}")
    expect(gvt(chained) > beyond, f"{engine}: saved at {gvt(chained)}, later than {beyond}")
    restart, beyond = ["--restart", chained], gvt(chained)
# No signal interrupts this run. It writes few checkpoints, because each of them takes long on a
# busy disk.
run = start([*words, "--checkpoint-period", 5, "--engine", "conservative", "--workers", 2, *restart])
_, errors = run.communicate(timeout=300)
expect(run.returncode == 0 and result(stats) == reference
       and contents(programs.work / "of chain") == contents(reference_output),
       f"engines in turn: {run.returncode} {errors!r}, {result(stats)}")

# A run under nohup does not end with its terminal.
immune = programs.work / "immune"
run = start(["nohup", programs.bin / MODEL[0], *MODEL[1:], "--quiet", "--checkpoint", immune,
             "--checkpoint-period", 1])
wait_for_gvt(run, immune)
run.send_signal(signal.SIGHUP)
_, errors = run.communicate(timeout=300)
expect(run.returncode == 0 and restart_hint(errors) is None, f"SIGHUP under nohup: {run.returncode} {errors!r}")

# If the log is on a full disk, the exit code is nevertheless that of a saved run, as a batch system
# requires.
logless = programs.work / "logless"
with open("/dev/full", "w") as full:
    run = subprocess.Popen([str(word) for word in [programs.bin / MODEL[0], *MODEL[1:], "--checkpoint",
                                                   logless, "--checkpoint-period", "0.1"]],
                           stdout=full, stderr=full, cwd=programs.work)
    wait_for_gvt(run, logless)
    run.terminate()
    expect(run.wait(timeout=60) == 0 and latest(logless) is not None,
           f"SIGTERM without a writable standard error: {run.returncode}")

# A signal at the very beginning has one of three effects: the run is saved before its first event;
# the signal ends the program before main() handles signals; or the program ends during set-up with
# a line.
early = programs.work / "early"
IN_SET_UP = "numawarp: stopped by SIGTERM during set-up; no event was executed\n"
for pause in [0.0, 0.05, 0.2]:
    run = start([*command[:-4], "--checkpoint", early, *(["--restart", early] if latest(early) else [])])
    time.sleep(pause)
    ended, errors = end(run, signal.SIGTERM)
    expect(ended == 0 and restart_hint(errors) is not None
           or (ended, errors) in [(-signal.SIGTERM, ""), (143, IN_SET_UP)], f"SIGTERM after {pause} s: {ended} {errors!r}")

for number in [signal.SIGTERM, signal.SIGUSR1]:
    run = start([programs.bin / "phold", "--until", "1e12", "--quiet"])
    wait_until_computing(run)
    run.send_signal(number)
    run.communicate(timeout=60)
    expect(run.returncode == (143 if number == signal.SIGTERM else -number),
           f"{signal.Signals(number).name} without --checkpoint: {run.returncode}")

programs.leave()
