#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A rank is killed exactly during a move of groups between ranks (slow_moves.cpp): a rank that
receives groups, or another rank. The job ends as after any other kill of a rank. The run continues
from its last checkpoint, by hand or by `./jobs/run --retries`, and has the digest and the table of
an undisturbed run."""

import json
import os
import shutil
import signal
import sys

from ranks import SHARED_CORES, Launch, Ranks

from checkpoints import contents, gvt, result
from programs import CHECKOUT, MPI_ENVIRONMENT

RANKS = 3
ranks = Ranks()
expect = ranks.expect
output = ranks.work / "reference"
MODEL = ["slow_moves", "--lps-per-group", 1]
ranks.statistics_of(*MODEL, "--engine", "sequential", "--output", output)
reference, tables = result(ranks.work / "stats.json"), contents(output)


class Moving:
    """A run whose groups move all the time, in its own folder."""

    def __init__(self, name):
        self.folder = ranks.work / name
        self.folder.mkdir()
        self.moves = self.folder / "moves"
        self.stats, self.output = self.folder / "stats.json", self.folder / "output"
        self.checkpoint = self.folder / "checkpoint"

    def words(self, *options):
        program, *model = MODEL
        return [ranks.bin / program, *model, "--quiet",
                "--engine", "timewarp", "--workers", 1, "--stats", self.stats, "--output",
                self.output, "--checkpoint", self.checkpoint, "--checkpoint-period", 0.1, *options]

    def start(self, launcher, *options):
        return Launch([*launcher, RANKS, *self.words("--rebind", 0.05, "--check-rebind", 0.2, *options)],
                      self.folder, {**MPI_ENVIRONMENT, "NUMAWARP_TEST_MOVES": str(self.moves)})

    def kill(self, launch, whom):
        """Kills a rank during a move of groups, after a new checkpoint. If a rank should be killed
        that receives no groups, but all ranks receive groups in this move, the next move is tried.
        Returns whether a rank was killed."""
        for _ in range(20):
            beyond = gvt(self.checkpoint)
            launch.wait_for(lambda: gvt(self.checkpoint) > beyond)
            self.moves.mkdir()
            launch.wait_for(self.arriving)
            arriving, pids = self.arriving(), set(launch.pids().values())
            victims = arriving if whom == "arrives" else pids - arriving
            if arriving and victims and len(pids) == RANKS:
                os.kill(min(victims), signal.SIGKILL)
                return True
            self.let_go()
        return False

    def arriving(self):
        """The processes that wait in a constructor."""
        return {int(mark.name) for mark in self.moves.iterdir()}

    def let_go(self):
        shutil.rmtree(self.moves, ignore_errors=True)

    def expect_as_if_nothing_had_happened(self, name):
        moved = json.loads(self.stats.read_text())["mpi"]["groups_sent"] if self.stats.exists() else 0
        expect(moved > 0 and result(self.stats) == reference and contents(self.output) == tables,
               f"{name}: {moved} groups moved in the saved run, {reference}, the same table")


MPIRUN = ["mpirun", *SHARED_CORES, "-np"]
for whom in ("arrives", "stands still"):
    run = Moving(whom)
    restart = []
    for time in (1, 2):
        with run.start(MPIRUN, *restart) as launch:
            struck = run.kill(launch, whom)
            ended = launch.wait()
        run.let_go()
        expect(struck and ended.exit_code == 128 + signal.SIGKILL and not ended.ours,
               f"a rank that {whom} during a move is killed, {time}: exit code {ended.exit_code} {ended.ours}")
        restart = ["--restart", run.checkpoint]
    done = ranks.run(MODEL[0], *run.words(*restart)[1:])
    expect(done.returncode == 0, f"a rank that {whom}: exit code {done.returncode} {done.stderr}")
    run.expect_as_if_nothing_had_happened(f"a rank that {whom} was killed during a move")

run = Moving("retried")
with run.start([sys.executable, CHECKOUT / "jobs/lib/launch.py", "--retries", 2]) as launch:
    struck = run.kill(launch, "arrives")
    run.let_go()
    ended = launch.wait()
tries = [line for line in ended.ours if "a rank has died of SIGKILL; try 1 of 2" in line]
expect(struck and ended.exit_code == 0 and len(tries) == 1, f"--retries: exit code {ended.exit_code}, {tries}")
run.expect_as_if_nothing_had_happened("--retries")
ranks.leave()
