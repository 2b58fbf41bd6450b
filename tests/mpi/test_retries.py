#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `./jobs/run --retries`. If a rank is killed, the run is restarted automatically, from its
last checkpoint or from the beginning, and ends with the digest and the tables of an undisturbed
run. After a failure of the model, a wrong option or a signal from the user, a run is not retried.
When no try is left, the exit code is that of the last try."""

import os
import re
import signal
import sys
from pathlib import Path

from ranks import Launch, Ranks

from checkpoints import contents, gvt, restart_hint, result
from programs import CHECKOUT

MODEL = ["traffic", "--objects", 200, "--until", 8000]
ranks = Ranks()
expect = ranks.expect


class Retried:
    """A run under launch.py, in its own folder."""

    def __init__(self, name, tries, count, period_seconds, *model):
        self.folder = ranks.work / name
        self.folder.mkdir()
        self.checkpoint, self.output = self.folder / "checkpoint", self.folder / "output"
        self.stats = self.folder / "stats.json"
        self.count = count
        program, *options = model or MODEL
        self.launch = Launch(
            [sys.executable, CHECKOUT / "jobs/lib/launch.py", "--retries", tries, count,
             ranks.bin / program, *options,
             "--engine", "timewarp", "--workers", 1, "--quiet", "--stats", self.stats, "--output",
             self.output, f"--checkpoint={self.checkpoint}", "--checkpoint-period", period_seconds],
            self.folder)

    def pids(self):
        """The processes of the ranks, or the single process of a run without mpirun, which has no
        rank number."""
        parent = self.launch.process.pid
        children = Path(f"/proc/{parent}/task/{parent}/children")
        found = list(self.launch.pids().values())
        if self.count == "alone" and children.exists():
            found = list(map(int, children.read_text().split()))
        return found

    def kill_one(self, others_than=()):
        """Waits until a try has started whose processes are not among `others_than`, and until this
        try has written a checkpoint. Then kills one process of the try. Returns all processes of
        the try."""
        wanted = 1 if self.count == "alone" else self.count
        pids = []

        def are_there():
            pids[:] = [pid for pid in self.pids() if pid not in others_than]
            return len(pids) == wanted
        self.launch.wait_for(are_there)
        beyond = gvt(self.checkpoint)
        self.launch.wait_for(lambda: gvt(self.checkpoint) > beyond)
        os.kill(pids[-1], signal.SIGKILL)
        return pids

    def tries(self):
        """The messages about retries."""
        return [line for line in self.launch.stderr().splitlines()
                if line.startswith("numawarp: --retries: ")]

    def expect_as_if_nothing_had_happened(self, name, ended, tries):
        said = self.tries()
        expect(ended.exit_code == 0 and len(said) == tries,
               f"{name}: exit code {ended.exit_code}: {said}" + ("" if ended.exit_code == 0 else ended.stderr))
        if ended.exit_code == 0:
            expect(result(self.stats) == reference, f"{name}: {result(self.stats)}")
            expect(contents(self.output) == tables, f"{name}: the same tables")


output = ranks.work / "reference"
ranks.statistics_of(*MODEL, "--engine", "sequential", "--output", output)
reference, tables = result(ranks.work / "stats.json"), contents(output)

for count in (2, "alone"):
    run = Retried(f"twice-{count}", 3, count, 0.2)
    with run.launch as launch:
        run.kill_one(run.kill_one())
        ended = launch.wait()
    run.expect_as_if_nothing_had_happened(f"killed twice, {count}", ended, 2)
    expect(all(re.search(rf"died of SIGKILL; try {i} of 3 continues from virtual time \d", line)
               for i, line in enumerate(run.tries(), 1)),
       f"killed twice, {count}: a line names the time from which the run continues")

# A rank is killed before there is a checkpoint.
run = Retried("early", 1, 2, 600)
with run.launch as launch:
    launch.wait_until_under_way(2)
    os.kill(launch.pids()[1], signal.SIGKILL)
    ended = launch.wait()
run.expect_as_if_nothing_had_happened("killed early", ended, 1)
expect("starts from the beginning" in "".join(run.tries()), "killed early: a line reports that it starts from the beginning")

run = Retried("used-up", 1, 2, 0.2)
with run.launch as launch:
    run.kill_one(run.kill_one())
    ended = launch.wait()
expect(ended.exit_code == 128 + signal.SIGKILL and len(run.tries()) == 1,
       f"no try remains: exit code {ended.exit_code}: {run.tries()}")

for name, number, code in [("SIGUSR1 requests a checkpoint", signal.SIGUSR1, 0), ("interrupted", signal.SIGINT, 130)]:
    run = Retried(number.name, 3, 2, 0.2)
    with run.launch as launch:
        launch.wait_for(lambda: gvt(run.checkpoint) > 0)
        launch.process.send_signal(number)
        ended = launch.wait()
    expect(ended.exit_code == code and not run.tries() and restart_hint(ended.stderr) is not None,
           f"{name}: exit code {ended.exit_code}: {run.tries()}")

for name, code, model in [
        ("the model fails", 3, ["rule_breaker", "--breach", "exception", "--lps-per-group", 1]),
        ("a wrong option", 2, ["phold", "--until", "soon"])]:
    run = Retried(f"code-{code}", 3, 2, 600, *model)
    with run.launch as launch:
        ended = launch.wait()
    expect(ended.exit_code == code and not run.tries(), f"{name}: exit code {ended.exit_code}: {run.tries()}")

ranks.leave()
