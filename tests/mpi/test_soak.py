#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs PHOLD for some time on 3 ranks. Most events go to other ranks, rollbacks are forced, and
groups change their worker. No event is lost or duplicated, and MPI has no communicator left.

usage: test_soak.py FOLDER-OF-PROGRAMS [SECONDS]

A signal to one rank stops the run. The engine itself checks at the end that as many messages were
received as sent. The test compares the digest with a sequential run up to the virtual time at which
the ranks stopped, and MPI reports communicators that were not freed."""

import os
import signal
import sys
import time

from ranks import MPI_ENVIRONMENT, Ranks

MODEL = ["--lps", 512, "--events-per-lp", 4, "--remote", 0.9, "--lookahead", 0, "--payload", 40]
DISORDER = ["--workers", 2, "--check-rollback", 0.01, "--rebind", 0.05, "--check-rebind", 0.3,
            "--lps-per-group", 8]
FOR_EVER = 1e12

seconds = float(sys.argv.pop(2)) if len(sys.argv) > 2 else 5
ranks = Ranks()
MPI_ENVIRONMENT["OMPI_MCA_mpi_show_handle_leaks"] = "1"

stats = ranks.work / "soak.json"
with ranks.start(ranks.part(3, "phold", *MODEL, *DISORDER, "--until", FOR_EVER, "--quiet",
                            "--stats", stats)) as launch:
    launch.wait_until_under_way(3)
    time.sleep(seconds)
    os.kill(launch.pids()[1], signal.SIGINT)
    ended = launch.wait()

ranks.expect(ended.exit_code == 128 + signal.SIGINT and stats.exists(),
             f"exit code {ended.exit_code} after {ended.seconds:.0f} s")
ranks.expect("still allocated" not in ended.stderr, "MPI has no communicator left")
run = ranks.expect_sequential_digest("the ranks", stats, "phold", *MODEL)
for counter, count in [("forced rollbacks", run["forced_rollbacks"]),
                       ("anti-messages", run["anti_messages"]),
                       ("events sent to other ranks", run["mpi"]["events_sent"]),
                       ("groups moved", run["numa"]["groups_moved"])]:
    ranks.expect(count > 0, f"{count} {counter}")

ranks.leave()
