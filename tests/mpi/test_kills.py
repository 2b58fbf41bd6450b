#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs of random models and options are saved (--checkpoint), get signals at random moments, and are
restarted with another engine, other numbers of ranks and workers, another rollback method, and
groups that move between ranks, until they are over. Digest and output files equal those of an
undisturbed run.

usage: test_kills.py FOLDER-OF-PROGRAMS [--cases N] [--seed S] [--scale X]

A blow is a disturbance by signals: SIGKILL to one rank, or to all ranks and mpirun; SIGTERM or SIGUSR1
to one rank or to all ranks; or SIGSTOP to one rank, and SIGCONT some time later. The moment of a blow is
early, when a new checkpoint exists, later, or while a checkpoint is being written. Sometimes `./jobs/run
--retries` restarts a killed run. All decisions of a case are drawn from its seed, `S` and the following
numbers; only the exact times differ between runs. --scale multiplies the length of the runs."""

import argparse
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter

from ranks import SHARED_CORES, Launch, Ranks

from checkpoints import contents, gvt, latest, restart_hint, result, unfinished
from programs import CHECKOUT, first_seed

CASES_DEFAULT = 4
CASES_MOST = 5  # at most this multiple of the cases is run until everything required has occurred
# (ranks, workers). The first list contains layouts that are slow on two cores of a busy machine.
LAYOUTS = [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (3, 1), (3, 2), (4, 1)]
FAST_LAYOUTS = [(1, 1), (1, 1), (1, 2), (2, 1)]
GROUPS_MIN = max(ranks for ranks, _ in LAYOUTS)
WANTED = ["restarts beyond time 0", "restarts on other ranks", "conservative", "kills",
          "kills during a checkpoint", "groups moved between ranks", "kills repaired by --retries"]
SECONDS_MAX = 600

options = argparse.ArgumentParser()
options.add_argument("programs")
options.add_argument("--cases", type=int, default=CASES_DEFAULT)
options.add_argument("--seed", type=int, default=first_seed())
options.add_argument("--scale", type=float, default=1)
given = options.parse_args()
sys.argv[1:] = [given.programs]
ranks = Ranks()
expect = ranks.expect
met = Counter()


class Case:
    """A model with its options, the properties that all pieces of the run share, and the properties
    that may differ."""

    def __init__(self, dice):
        name = dice.choice(["random_program"] * 3 + ["traffic", "phold", "queues", "pcs"])
        draw = {"random_program": self._random_program, "traffic": self._traffic, "phold": self._phold,
                "queues": self._queues, "pcs": self._pcs}
        self.rollbacks, self.has_lookahead = ["snapshot"], False
        words = draw[name](dice)
        self.model = [name, *words, "--seed", dice.randrange(10**6)]
        if dice.random() < 0.1:
            self.model += ["--check-heap", "on"]

    def _random_program(self, dice):
        lps = dice.randint(8, 64)
        state = dice.choice(["containers", "growing", "small", "large"])
        lookahead = dice.choice([0, 0, 0.25, 2])
        self.has_lookahead = lookahead > 0
        if state in ("small", "large"):
            self.rollbacks = ["snapshot", "copy", "reverse"]
        return ["--shape", dice.randrange(2**32), "--lps", lps, "--state", state, "--lookahead", lookahead,
                "--events", int(given.scale * dice.choice([30_000, 80_000])),
                "--lps-per-group", dice.randint(1, lps // GROUPS_MIN)]

    def _traffic(self, dice):
        self.has_lookahead = True
        return ["--objects", dice.randint(150, 300), "--until", given.scale * dice.choice([1500, 4000]),
                "--lps-per-group", dice.choice([1, 4, 16])]

    def _phold(self, dice):
        self.has_lookahead = dice.random() < 0.5
        self.rollbacks = ["snapshot", "copy", "reverse"]
        lps = dice.choice([16, 64, 256])
        return ["--lps", lps, "--remote", dice.choice([0.1, 0.5]), "--lookahead", 0.1 if self.has_lookahead else 0,
                "--state", dice.choice([16, 64]), "--until", given.scale * dice.choice([1, 2]) * 1_500_000 / lps,
                "--lps-per-group", dice.randint(1, lps // GROUPS_MIN)]

    def _queues(self, dice):
        return ["--until", given.scale * dice.choice([50_000, 100_000]), "--lps-per-group", dice.randint(1, 3)]

    def _pcs(self, dice):
        plain = dice.random() < 0.5
        if plain:
            self.rollbacks = ["snapshot", "copy", "reverse"]
        return ["--width", 16, "--height", 16, "--move-mean", 200, "--state", "plain" if plain else "containers",
                "--until", given.scale * dice.choice([1000, 3000]), "--lps-per-group", dice.choice([1, 4, 16])]

    def piece(self, dice, is_to_end):
        """(ranks, options) of a start. A piece that should reach the end of the run gets no options
        that make it slow on a busy machine."""
        count, workers = dice.choice(FAST_LAYOUTS if is_to_end else LAYOUTS)
        engines = ["timewarp"] * 3
        if self.has_lookahead:
            engines += ["conservative", "auto"]
        if count * workers == 1:
            engines.append("sequential")
        engine = dice.choice(engines)
        met[engine] += 1
        words = ["--engine", engine, "--workers", workers]
        if engine == "timewarp":
            for share, option, values in [
                    (1, "--rollback", self.rollbacks), (0.5, "--state-saving-interval", [1, 3, 20]),
                    (0 if is_to_end else 0.5, "--gvt-interval", [0.2, 1, 5, "300ev"]),
                    (0 if is_to_end else 0.3, "--window", ["off", 1, 5]),
                    (0.3, "--keep-safe-events", ["on"]),
                    (0 if is_to_end else 0.25, "--check-rollback", [0.02, 0.2]),
                    (0 if is_to_end else 0.15, "--check-interrupt", [0.02])]:
                if dice.random() < share:
                    words += [option, dice.choice(values)]
            if dice.random() < 0.7:
                words += ["--rebind", 0.1 if is_to_end else dice.choice([0.01, 0.05]),
                          "--check-rebind", dice.choice([0.2, 0.8])]
        if count > 1 and dice.random() < 0.2:
            words += ["--net-thread", "on"]
        return count, words


def strike(pids, numbers):
    """Sends the signals to those processes that still exist."""
    for pid in pids:
        for number in numbers:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass


class Struck:
    """A run that gets signals again and again, in its own folder."""

    def __init__(self, name, case, dice):
        self.folder = ranks.work / name
        self.folder.mkdir()
        self.case, self.dice = case, dice
        self.checkpoint, self.output = self.folder / "checkpoint", self.folder / "output"
        self.stats = self.folder / "stats.json"
        self.ranks = 0

    def start(self, period_seconds, is_to_end, retried):
        before = self.ranks
        self.ranks, options = self.case.piece(self.dice, is_to_end)
        program, *model = self.case.model
        self.words = [*model, *options, "--quiet", "--stats", self.stats, "--output", self.output,
                      "--checkpoint", self.checkpoint, "--checkpoint-period", period_seconds]
        self.from_gvt = gvt(self.checkpoint)
        if latest(self.checkpoint):
            self.words += ["--restart", self.checkpoint]
            met["restarts beyond time 0"] += self.from_gvt > 0
            met["restarts on other ranks"] += self.ranks != before
        self.stats.unlink(missing_ok=True)
        # A single rank sometimes runs without mpirun.
        alone = self.ranks == 1 and self.dice.random() < 0.5
        self.by_mpirun = not alone and not retried
        launcher = [] if alone else ["mpirun", *SHARED_CORES, "-np", self.ranks]
        if retried:
            launcher = [sys.executable, CHECKOUT / "jobs/lib/launch.py", "--retries", 2, self.ranks]
        self.launch = Launch([*launcher, ranks.bin / program, *self.words], self.folder)
        return self.launch

    def wait(self, moment):
        """Waits for the moment and returns the processes of the ranks."""
        if moment == "early":
            time.sleep(self.dice.uniform(0, 2))
            return self.pids()
        self.wait_for(lambda: gvt(self.checkpoint) > self.from_gvt)
        pids = self.pids()
        if moment == "being saved":
            self.wait_for(lambda: unfinished(self.checkpoint))
        time.sleep(self.dice.uniform(0, {"saved": 0.2, "later": 2, "being saved": 0.005}[moment]))
        return pids

    def pids(self):
        return list(self.launch.pids().values()) or [self.launch.process.pid]

    def wait_for(self, holds):
        deadline = time.monotonic() + SECONDS_MAX
        while not holds() and self.launch.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.001)

    def strike(self, blow, pids):
        """Sends the signals of the blow, and returns the exit codes that are allowed for a run that is
        not over."""
        one = [self.dice.choice(pids)]
        number = {"KILL": signal.SIGKILL, "TERM": signal.SIGTERM, "USR1": signal.SIGUSR1}
        name, _, whom = blow.partition(" ")
        if name == "STOP":
            strike(one, [signal.SIGSTOP])
            time.sleep(self.dice.uniform(0.05, 1))
            strike(one, [signal.SIGCONT])
            return {0}
        if blow == "KILL all":
            pids.append(self.launch.process.pid)
        strike(one if whom == "one" else pids, [number[name]])
        if name == "KILL":
            return {128 + signal.SIGKILL, -signal.SIGKILL}
        # The signal's own exit code is allowed, because the signal may have arrived before the
        # ranks handled it. mpirun's code 1 is allowed if mpirun was not yet ready for the signal.
        allowed = {0, 128 + number[name], -number[name]}
        return allowed | {1} if self.by_mpirun and pids == [self.launch.process.pid] else allowed

    def resume(self, moment, blow):
        """Starts the run and sends the signals of the blow. Returns whether the run is over."""
        retried = blow == "KILL one, retried"
        # The period is so short that a checkpoint is written nearly all the time, or so long that
        # the run progresses.
        is_to_end = retried or blow in (None, "STOP one")
        period_seconds = (0.02 if moment == "being saved" and not is_to_end
                          else 0.03 if retried  # so that a checkpoint exists before the run is over
                          else self.dice.choice([0.3, 1] if is_to_end else [0.05, 0.3]) if blow else 600)
        with self.start(period_seconds, is_to_end, retried) as launch:
            allowed = {0}
            if blow:
                pids = self.wait(moment)
                struck = launch.process.poll() is None and pids != [launch.process.pid]
                allowed = self.strike(blow.removesuffix(", retried"), pids)
                met["blows"] += 1
            ended = launch.wait(SECONDS_MAX)
            # Killed processes keep their locks until they have ended.
            deadline = time.monotonic() + SECONDS_MAX
            while launch.pids() and time.monotonic() < deadline:
                time.sleep(0.01)
        is_over = self.stats.exists() and result(self.stats)["end_reason"] != "interrupted"
        well = ended.exit_code in (allowed | {0} if is_over else allowed)
        if ended.exit_code == 0 and not is_over:
            well &= restart_hint(ended.stderr) is not None
        name = f"{self.ranks} ranks from {self.from_gvt:.6g}: {blow or 'nothing'} {moment or ''}"
        expect(well, f"{name} to {gvt(self.checkpoint):.6g}: exit code {ended.exit_code}"
                     + ("" if well else f": {' '.join(map(str, self.words))}: {ended.stderr}"))
        if "KILL" in (blow or "") and not is_over:
            met["kills"] += 1
            met["kills during a checkpoint"] += bool(unfinished(self.checkpoint))
        if retried and struck and "try 1 of 2 " in ended.stderr:
            met["kills"] += 1
            met["kills repaired by --retries"] += is_over
        return is_over


def run_case(seed):
    dice = random.Random(seed)
    case = Case(dice)
    program, *model = case.model
    print(f"--seed {seed} --cases 1: {' '.join(map(str, case.model))}", flush=True)
    began = time.monotonic()
    output = ranks.work / "reference"
    ranks.statistics_of(program, *model, "--engine", "sequential", "--output", output)
    reference, files = result(ranks.work / "stats.json"), contents(output)
    run = Struck(f"run-{seed}", case, dice)
    blows = [dice.choice([("saved", "KILL one"), ("being saved", "KILL all"), ("being saved", "KILL one")])]
    while len(blows) < 3 and dice.random() < 0.7:
        blows.append((dice.choice(["early", "saved", "later", "being saved"]),
                      dice.choice(["KILL one", "KILL all", "TERM one", "TERM all", "USR1 one",
                                   "USR1 all", "STOP one"])))
    dice.shuffle(blows)
    if seed % 2 == 0:
        blows.insert(dice.randrange(len(blows) + 1), ("saved", "KILL one, retried"))
    is_over = False
    try:
        for moment, blow in [*blows, (None, None), (None, None)]:
            is_over = is_over or run.resume(moment, blow)
        expect(is_over, "the run is over")
    except subprocess.TimeoutExpired as error:
        expect(False, f"no end after {error.timeout} s, at {gvt(run.checkpoint)}: {shlex.join(map(str, run.words))}: "
                      f"{run.launch.stderr()}")
    expect(run.stats.exists() and result(run.stats) == reference,
           f"{reference} after {time.monotonic() - began:.1f} s"
           + ("" if not run.stats.exists() or result(run.stats) == reference else f", not {result(run.stats)}"))
    there = contents(run.output)
    expect(there == files, f"the same files {sorted(there)}")
    if run.stats.exists():
        whole = json.loads(run.stats.read_text())
        met["pieces that were saved"] += len(whole["checkpoints"]["pieces"])
        met["groups moved between workers"] += whole["numa"]["groups_moved"]
        met["groups moved between ranks"] += whole["mpi"]["groups_sent"]
    met["cases"] += 1
    shutil.rmtree(run.folder)
    shutil.rmtree(output)


while met["cases"] < given.cases or (given.cases > 1 and not all(met[what] for what in WANTED)
                                     and met["cases"] < CASES_MOST * given.cases):
    run_case(given.seed + met["cases"])

print(dict(met))
for what in WANTED if given.cases > 1 else []:
    expect(met[what] > 0, f"{met[what]} {what}")
ranks.leave()
