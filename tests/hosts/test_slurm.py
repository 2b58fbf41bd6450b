#!/usr/bin/env python3
"""A batch job of SLURM on three nodes, its own srun and mpirun in it, and what ./jobs/run makes of it:
one digest. What goes wrong on one rank ends a job under srun as it does under mpirun."""

import json
import os
import shlex
import signal
import sys
import time

from hosts import HERE, HostRanks
from slurm import Slurm, need_slurm

from ranks import MODELS, SHARED_CORES, skip

SECONDS_TO_END = 10
# Each node believes that it has the cores for itself.
OPTIONS = ["--workers", 1, "--pin", "off"]

need_slurm()
ranks = HostRanks()
SRUN = ["srun", "--mpi=pmix", "--kill-on-bad-exit"]
MPIRUN = ["mpirun", *SHARED_CORES]
JOBS_RUN = [sys.executable, HERE.parent.parent / "jobs/lib/launch.py", "3"]

# (how it is called here, the words of the launcher, the model)
RUNS = [*((f"{model} by srun", SRUN, model) for model in MODELS),
        *((f"{model} by mpirun", MPIRUN, model) for model in MODELS),
        ("phold by jobs/run", JOBS_RUN, "phold")]


def stats_of(name):
    return ranks.work / (name.replace("/", " ") + ".json")


def job_script():
    """All runs one after another, as in a user's job."""
    lines = ["#!/bin/sh"]
    for name, words, model in RUNS:
        command = [*words, ranks.bin / model, *MODELS[model], *OPTIONS, "--quiet", "--stats",
                   stats_of(name)]
        lines.append(shlex.join(map(str, command)))
    script = ranks.work / "job.sh"
    script.write_text("\n".join(lines) + "\n")
    return script


references = {model: ranks.statistics_of(model, "--engine", "sequential", *options)
              for model, options in MODELS.items()}

with ranks.hosts as hosts, Slurm(hosts) as slurm:
    with slurm.start(ranks.work, "srun", "--mpi=list") as launch:
        ended = launch.wait()
    if "pmix" not in ended.stdout + ended.stderr:
        skip("this SLURM does not speak PMIx")

    size = ["--nodes=3", "--ntasks=3", "--cpus-per-task=2"]
    with slurm.start(ranks.work, "sbatch", "--wait", *size, "--output=job.out",
                     job_script()) as launch:
        ended = launch.wait()
    ranks.expect(ended.exit_code == 0, f"the job: exit code {ended.exit_code} after "
                                       f"{ended.seconds:.0f} s")
    print((ranks.work / "job.out").read_text(), end="")
    for name, _, model in RUNS:
        stats = stats_of(name)
        run = json.loads(stats.read_text()) if stats.exists() else {}
        ranks.expect(run.get("ranks") == 3 and run["digest"] == references[model]["digest"],
                     f"{name}: digest {run.get('digest')}")

    srun = [*SRUN, *size]
    with slurm.start(ranks.work, *srun, ranks.bin / "rule_breaker", "--workers", 1,
                     "--lps-per-group", 1, "--breach", "past") as launch:
        ended = launch.wait()
    ranks.expect(ended.exit_code == 3 and len(ended.ours) == 1 and "LP 1 at time 3" in ended.ours[0]
                 and ended.ours[0].startswith("numawarp: rank 0: "),
                 f"a broken rule: exit code {ended.exit_code}: {ended.ours}")

    with slurm.start(ranks.work, *srun, ranks.bin / "phold", "--until", 1e12, *OPTIONS) as launch:
        launch.wait_until_under_way(3)
        began = time.monotonic()
        os.kill(launch.pids()[1], signal.SIGKILL)
        ended = launch.wait()
        took = time.monotonic() - began
    ranks.expect(ended.exit_code != 0 and took < SECONDS_TO_END
                 and "n2: task 1: Killed" in ended.stderr,
                 f"a killed rank: exit code {ended.exit_code} after {took:.1f} s, named by srun")

ranks.leave()
