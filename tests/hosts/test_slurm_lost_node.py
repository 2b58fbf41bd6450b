#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A host of a SLURM job is switched off in the middle of a run, with its daemon, steps and ranks.
The run continues on the other hosts from its last checkpoint, and has the same digest. The test
covers two ways to continue: jobs/slurm/long-run.sbatch, and `./jobs/run --retries N` in an
allocation."""

import json
import sys

from checkout import Checkout
from hosts import SHARED_CORES, HostRanks
from slurm import Slurm, need_slurm

from checkpoints import gvt

need_slurm()
ranks = HostRanks(4)
expect = ranks.expect
MODEL = ["traffic", "--objects", 200, "--until", 8000]
OPTIONS = [*MODEL[1:], *SHARED_CORES, "--checkpoint-period", 0.2]
reference = ranks.statistics_of(*MODEL, "--engine", "sequential")


def lose(host, checkpoint, launch):
    launch.wait_for(lambda: gvt(checkpoint) > 0)
    hosts.cut(host)  # before its processes end, so that no other host is informed of their end
    hosts.switch_off(host)


def expect_two_ranks(what, run):
    expect((run.get("ranks"), run.get("digest"), len(run.get("checkpoints", {}).get("pieces", [])))
           == (2, reference["digest"], 2),
           f"{what}: {run.get('ranks')} ranks at the end, digest {run.get('digest')}")


with ranks.hosts as hosts, Slurm(hosts, node_timeout=5) as slurm:
    checkout = Checkout(ranks, slurm)
    with slurm.start(checkout.folder, "sbatch", "--wait", "--nodes=3", "--nodelist=n1,n2,n3", "--job-name=lost",
                     "jobs/slurm/long-run.sbatch", MODEL[0], *OPTIONS) as launch:
        lose("n3", checkout.folder / "results/lost/checkpoint", launch)
        ended = launch.wait()
    log = checkout.log(f"lost-{ended.stdout.split()[3]}")
    expect(ended.exit_code == 0 and "2 of 3 machines are left" in log and "--restart results/lost/checkpoint" in log,
           f"long-run: exit code {ended.exit_code}, continues on the other nodes, and reports this"
           + ("" if ended.exit_code == 0 else log))
    expect_two_ranks("long-run", checkout.statistics("lost"))

    stats, checkpoint = ranks.work / "allocation.json", ranks.work / "allocation"
    # The command that ./jobs/run executes when the model is built.
    with slurm.start(checkout.folder, "salloc", "--nodes=3", "--exclusive", "--no-kill", sys.executable,
                     "jobs/lib/launch.py", "--retries", 2, 3, ranks.bin / MODEL[0], *OPTIONS, "--stats", stats,
                     "--checkpoint", checkpoint) as launch:
        lose("n4", checkpoint, launch)
        ended = launch.wait()
    said = [line for line in ended.ours if line.startswith("numawarp: --retries: ")]
    expect(ended.exit_code == 0 and len(said) == 1
           and said[0].startswith("numawarp: --retries: no answer from n4; try 1 of 2 continues from virtual time ")
           and said[0].endswith(", on n1 n2"), f"an allocation: {ended.exit_code} {said or ended.stderr}")
    expect_two_ranks("an allocation", json.loads(stats.read_text()) if stats.exists() else {})
ranks.leave()
