#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `./jobs/run --hostfile FILE --retries N` on three hosts. One host is cut off permanently in
the middle of the run. The run continues from its last checkpoint on the other two hosts, and has
the same digest."""

import sys

from hosts import SHARED_CORES, HostRanks

from checkpoints import gvt
from programs import CHECKOUT
from ranks import Launch

MODEL = ["traffic", "--objects", 200, "--until", 8000]

ranks = HostRanks()
reference = ranks.statistics_of(*MODEL, "--engine", "sequential")
stats, checkpoint = ranks.work / "lost.json", ranks.work / "checkpoint"

with ranks.hosts as hosts:
    hostfile = ranks.work / "machines"
    hostfile.write_text("# three\n" + "".join(f"{name} slots=1\n" for name in hosts.names))
    program, *options = MODEL
    # Here the machines are checked every second instead of every minute, with a short time limit.
    starter = ("import sys; sys.path.insert(0, sys.argv.pop(1)); import launch, retries; "
               "launch.SECONDS_BETWEEN_CHECKS = 1; retries.SECONDS_TO_ANSWER = 8; sys.exit(launch.main(sys.argv[1:]))")
    command = [sys.executable, "-c", starter, CHECKOUT / "jobs/lib", "--retries", 2, "--hostfile", hostfile, 3,
               ranks.bin / program, *options, *SHARED_CORES, "--quiet", "--stats", stats,
               "--checkpoint", checkpoint, "--checkpoint-period", 0.2]
    with Launch(hosts.on("n1", *command, folder=ranks.work), ranks.work, hosts.environment()) as launch:
        launch.wait_for(lambda: gvt(checkpoint) > 0)
        hosts.cut("n3")
        ended = launch.wait()

said = [line for line in ended.ours if line.startswith("numawarp: --retries: ")]
ranks.expect(ended.exit_code == 0 and len(said) == 1
             and "no answer from n3; try 1 of 2 continues from virtual time " in said[0]
             and said[0].endswith(", on n1 n2"),
             f"a lost host: exit code {ended.exit_code}: {said}" + ("" if ended.exit_code == 0 else ended.stderr))
run = ranks.expect_sequential_digest("a lost host", stats, *MODEL)
ranks.expect(run["ranks"] == 2 and run["digest"] == reference["digest"], f"a lost host: {run['ranks']} ranks at the end")
ranks.leave()
