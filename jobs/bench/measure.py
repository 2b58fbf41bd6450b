# SPDX-License-Identifier: Apache-2.0
"""One measurement: runs a program, possibly on several ranks or beside foreign processes, and
returns one figure of the run."""

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, NamedTuple

from lib.cachegrind import read_summary

LAUNCHER = Path(__file__).resolve().parent.parent / "lib/launch.py"

# A run that takes longer is interrupted. The figure then covers the events that the run has
# committed.
SECONDS_MAX = 30
SECONDS_TO_STOP = 60


class Done(NamedTuple):
    stats: dict  # the content of the --stats file
    seconds: float  # of the whole process
    printed: str


def ns_an_event(done):
    return 1e9 * done.stats["wall_seconds"] / done.stats["committed_events"]


def setup_seconds(done):
    return done.stats["setup_seconds"]


def whole_seconds(done):
    return done.seconds


def events_a_batch(done):
    return done.stats["mpi"]["events_sent"] / done.stats["mpi"]["batches_sent"]


def printed(done):
    return float(done.printed)


class Run(NamedTuple):
    command: str  # a program of the build folder and its options, as a user types them
    figure: Callable = ns_an_event
    ranks: int = 1
    foreign: int = 0  # number of unbound busy processes that run at the same time
    # Two lengths of the run, each in place of {} in the command. The figure is the difference of
    # the instructions of the two runs, divided by the difference of their committed events. A
    # length is a virtual time; for limit_bench, which writes no statistics, it is a number of
    # events.
    lengths: tuple = ()


@contextmanager
def busy_processes(count):
    """Keeps `count` busy processes running during the `with` block."""
    busy = [sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(busy, stderr=subprocess.DEVNULL) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def wait(process):
    """Returns (stdout, stderr, exit code). A process that takes longer than SECONDS_MAX is
    interrupted. If the interrupt has ended the process, 0 is returned as its exit code."""
    try:
        return *process.communicate(timeout=SECONDS_MAX), process.returncode
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=SECONDS_TO_STOP)
        return *said, 0 if process.returncode == 128 + signal.SIGINT else process.returncode


def executed(command, programs):
    """(instructions, committed events or None) of a run under cachegrind, whose counts are
    reproducible."""
    program, *options = command.split()
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        counts, stats = Path(folder) / "counts", Path(folder) / "stats.json"
        if program != "limit_bench":
            options += ["--watchdog", "off", "--quiet", "--stats", stats]
        done = subprocess.run(["valgrind", "-q", "--tool=cachegrind", "--cache-sim=no",
                               f"--cachegrind-out-file={counts}", programs / program, *options],
                              capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"numawarp: bench: {command}: exit code {done.returncode}\n{done.stderr}")
        events = json.loads(stats.read_text())["committed_events"] if stats.exists() else None
        return read_summary(counts)["Ir"], events


def instructions_an_event(run, programs):
    if not shutil.which("valgrind"):
        sys.exit("numawarp: bench: valgrind, which counts the instructions, is missing (Debian: valgrind)")
    shorter, longer = (executed(run.command.format(length), programs) for length in run.lengths)
    events = longer[1] - shorter[1] if longer[1] is not None else run.lengths[1] - run.lengths[0]
    return (longer[0] - shorter[0]) / events


def take(run, programs):
    """The run's figure; ends the bench if the run fails."""
    if run.lengths:
        return instructions_an_event(run, programs)
    program, *options = run.command.split()
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder, busy_processes(run.foreign):
        stats = Path(folder) / "stats.json"
        words = [programs / program, *options]
        if run.ranks > 1:
            words = [sys.executable, LAUNCHER, str(run.ranks), *words]
        if run.figure is not printed:
            words += ["--quiet", "--stats", stats]
        start = time.monotonic()
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            try:
                text, errors, code = wait(process)
            except BaseException:  # otherwise the process and its ranks would continue to run
                process.terminate()
                raise
        seconds = time.monotonic() - start
        if code != 0:
            sys.exit(f"numawarp: bench: {run.command}: exit code {code}\n{errors}")
        found = json.loads(stats.read_text()) if stats.exists() else {}
        return run.figure(Done(found, seconds, text))
