#!/usr/bin/env python3
"""Runs that are saved (--checkpoint), struck at random moments and started again, with other numbers of
engines, ranks and workers, until they are over: digest and output files are those of a run that nobody has struck.

usage: test_kills.py FOLDER-OF-PROGRAMS [--kills N] [--seed S]

A blow is SIGKILL to one rank or to all of them with mpirun, SIGTERM or SIGUSR1 to one rank or all, or
SIGSTOP to one and SIGCONT a while later. It comes early, when a new checkpoint is there, or while one is
being written. The seed decides what is done, not to the microsecond when."""

import argparse
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter

from ranks import SHARED_CORES, Launch, Ranks

from checkpoints import contents, gvt, restart_hint, latest, result, unfinished
from programs import first_seed

MODELS = [
    ("traffic", ["--objects", 200, "--until", 8000]),
    ("phold", ["--lps", 64, "--remote", 0.5, "--until", 150000]),
    ("queues", ["--until", 400000]),
]
HAS_LOOKAHEAD = {"traffic": True, "phold": True, "queues": False}
BLOWS_PER_RUN = 3
THREADS_MAX = 3
WANTED = ["restarts beyond time 0", "conservative", "kills", "kills amid a checkpoint"]
SECONDS_MAX = 300

options = argparse.ArgumentParser()
options.add_argument("programs")
options.add_argument("--kills", type=int, default=9)
options.add_argument("--seed", type=int, default=first_seed())
given = options.parse_args()
sys.argv[1:] = [given.programs]
dice = random.Random(given.seed)
ranks = Ranks()
expect = ranks.expect
met = Counter()
print(f"--seed {given.seed}")


def strike(pids, numbers):
    """Sends the signals to processes, as far as they are still there."""
    for pid in pids:
        for number in numbers:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass


class Struck:
    """A run that is struck again and again, in a folder of its own."""

    def __init__(self, number, program, model):
        self.folder = ranks.work / f"run-{number}"
        self.folder.mkdir()
        self.checkpoint, self.output = self.folder / "checkpoint", self.folder / "output"
        self.stats = self.folder / "stats.json"
        self.command = [program, *model]

    def start(self, period_seconds, threads_max):
        self.ranks = dice.randint(1, threads_max)
        workers = dice.randint(1, threads_max) if self.ranks == 1 else 1
        words = [*self.command, "--quiet", "--workers", workers, "--stats", self.stats,
                 "--output", self.output, "--checkpoint", self.checkpoint,
                 "--checkpoint-period", period_seconds]
        self.from_gvt = gvt(self.checkpoint)
        engine = dice.choice(["timewarp", "timewarp", "conservative" if HAS_LOOKAHEAD[words[0]] else "timewarp",
                              "sequential" if self.ranks == 1 and workers == 1 else "timewarp"])
        words += ["--engine", engine]
        met[engine] += 1
        if self.ranks > 1 and engine == "timewarp" and dice.random() < 0.5:
            words += ["--rebind", 0.02, "--check-rebind", 0.3]
        if latest(self.checkpoint):
            words += ["--restart", self.checkpoint]
            met["restarts beyond time 0"] += self.from_gvt > 0
        self.stats.unlink(missing_ok=True)
        # One rank now and then without mpirun.
        alone = self.ranks == 1 and dice.random() < 0.5
        self.by_mpirun = not alone
        launcher = [] if alone else ["mpirun", *SHARED_CORES, "-np", self.ranks]
        self.launch = Launch([*launcher, ranks.bin / words[0], *words[1:]], self.folder)
        return self.launch

    def wait(self, moment):
        """Returns the processes of the ranks."""
        if moment == "early":
            time.sleep(dice.uniform(0, 2))
            return self.pids()
        self.wait_for(lambda: gvt(self.checkpoint) > self.from_gvt)
        pids = self.pids()
        if moment == "being saved":
            self.wait_for(lambda: unfinished(self.checkpoint))
        time.sleep(dice.uniform(0, 0.2 if moment == "saved" else 0.005))
        return pids

    def pids(self):
        return list(self.launch.pids().values()) or [self.launch.process.pid]

    def wait_for(self, holds):
        deadline = time.monotonic() + SECONDS_MAX
        while not holds() and self.launch.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.001)

    def strike(self, blow, pids):
        """Returns the exit codes that are right for a run that is not over."""
        one = [dice.choice(pids)]
        number = {"KILL": signal.SIGKILL, "TERM": signal.SIGTERM, "USR1": signal.SIGUSR1}
        name, _, whom = blow.partition(" ")
        if name == "STOP":
            strike(one, [signal.SIGSTOP])
            time.sleep(dice.uniform(0.05, 1))
            strike(one, [signal.SIGCONT])
            return {0}
        if blow == "KILL all":
            pids.append(self.launch.process.pid)
        strike(one if whom == "one" else pids, [number[name]])
        if name == "KILL":
            return {128 + signal.SIGKILL, -signal.SIGKILL}
        # That of the signal: it came before the ranks were ready for it. Or mpirun's own, which was not.
        legal = {0, 128 + number[name], -number[name]}
        return legal | {1} if self.by_mpirun and pids == [self.launch.process.pid] else legal

    def resume(self, moment, blow):
        """A start and a blow. Whether the run is over."""
        # So often that it is nearly always being saved, or so that it gets on.
        period_seconds = (0.02 if moment == "being saved" and blow != "STOP one"
                         else dice.choice([0.05, 0.3]) if blow else 600)
        # More threads than cores crawl where the machine has other work, too: not to the run's end.
        is_to_end = blow in (None, "STOP one")
        threads_max = min(THREADS_MAX, os.cpu_count()) if is_to_end else THREADS_MAX
        with self.start(period_seconds, threads_max) as launch:
            legal = {0}
            if blow:
                legal = self.strike(blow, self.wait(moment))
                met["blows"] += 1
            ended = launch.wait(SECONDS_MAX)
            # Processes that were killed keep their locks until they are gone.
            deadline = time.monotonic() + SECONDS_MAX
            while launch.pids() and time.monotonic() < deadline:
                time.sleep(0.01)
            name = (f"{self.command[0]}, {self.ranks} ranks from {self.from_gvt:.6g}: "
                    f"{blow or 'nothing'} {moment if blow else ''} to {gvt(self.checkpoint):.6g}")
        is_over = self.stats.exists() and result(self.stats)["end_reason"] != "interrupted"
        well = ended.exit_code in (legal | {0} if is_over else legal)
        if ended.exit_code == 0 and not is_over:
            well &= restart_hint(ended.stderr) is not None
        expect(well, f"{name}: exit code {ended.exit_code}" + ("" if well else f": {ended.stderr}"))
        if "KILL" in (blow or "") and not is_over:
            met["kills"] += 1
            met["kills amid a checkpoint"] += bool(unfinished(self.checkpoint))
        return is_over


references = {}
for number, (program, model) in enumerate(MODELS):
    output = ranks.work / f"reference-{program}"
    ranks.statistics_of(program, *model, "--engine", "sequential", "--output", output)
    references[program] = (result(ranks.work / "stats.json"), contents(output))

number = -1
while met["blows"] < given.kills or (not all(met[what] for what in WANTED)
                                     and met["blows"] < 5 * given.kills):
    number += 1
    program, model = MODELS[number % len(MODELS)]
    run = Struck(number, program, model)
    # Whatever is drawn besides, these two are met.
    blows = [("saved", "KILL one"), ("being saved", "KILL all")]
    while len(blows) < BLOWS_PER_RUN:
        blows.append((dice.choice(["early", "saved", "being saved"]),
                      dice.choice(["KILL one", "KILL all", "TERM one", "TERM all", "USR1 one",
                                   "USR1 all", "STOP one"])))
    dice.shuffle(blows)
    is_over = False
    for moment, blow in [*blows, (None, None), (None, None)]:
        is_over = is_over or run.resume(moment, blow)
    expect(is_over, f"{program}: it is over")
    digest, files = references[program]
    expect(run.stats.exists() and result(run.stats) == digest, f"{program}: {digest}")
    there = contents(run.output)
    expect(there == files, f"{program}: the same files {sorted(there)}")
    shutil.rmtree(run.folder)

print(dict(met))
for what in WANTED:
    expect(met[what] > 0, f"{met[what]} {what}")
ranks.leave()
