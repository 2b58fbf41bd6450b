#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests runs on three hosts that are connected by TCP. Each run must have the digest of the
sequential engine: over a fast network, over a network that is slow and loses frames, if groups move
between the hosts all the time, and if a host is cut off for some seconds during the run. The rows
of all ranks must be written to a folder of the first host, which other hosts cannot access."""

import os
import signal
import time

from hosts import SHARED_CORES, HostRanks

from ranks import MODELS

SECONDS_CUT_OFF = 3
FOR_EVER = 1e12
MOVES = ["--rebind", 0.1, "--check-rebind", 0.3]

ranks = HostRanks()


def sent_again(hosts):
    """Number of segments that TCP has sent again, on all hosts together, because it is random which
    host had segments in flight."""
    segments = 0
    for host in ("n1", "n2", "n3"):
        names, values = (line.split() for line in hosts.run(host, "grep", "^Tcp:", "/proc/net/snmp").splitlines())
        segments += int(values[names.index("RetransSegs")])
    return segments


def compare(name, run, reference):
    ranks.expect((run["digest"], run["committed_events"])
                 == (reference["digest"], reference["committed_events"])
                 and run["mpi"]["events_sent"] > 0,
                 f"{name}: digest {run['digest']}, {run['mpi']['events_sent']} events sent, "
                 f"{run['wall_seconds']:.1f} s")


references = {model: ranks.statistics_of(model, "--engine", "sequential", *options)
              for model, options in MODELS.items()}

with ranks.hosts as hosts:
    for model, options in MODELS.items():
        compare(f"{model} over TCP", ranks.statistics_over(3, model, *options, *SHARED_CORES),
                references[model])

    own_folder = "/tmp/output"
    ranks.statistics_over(3, "traffic", *MODELS["traffic"], *SHARED_CORES, "--output", own_folder)
    ranks.statistics_of("traffic", *MODELS["traffic"], "--engine", "sequential",
                        "--output", ranks.work / "sequential")
    table = hosts.run("n1", "cat", f"{own_folder}/roads.csv")
    ranks.expect(table == (ranks.work / "sequential" / "roads.csv").read_text(),
                 "traffic: the same roads.csv on the first host")
    ranks.expect(not hosts.run("n2", "ls", "-A", own_folder), "no file is left on the second host")

    hosts.set_links(delay_ms=2, loss=0.01)
    before = sent_again(hosts)
    for model, options in MODELS.items():
        run = ranks.statistics_over(3, model, *options, *SHARED_CORES, "--engine", "timewarp")
        compare(f"{model} with 2 ms delay and 1 % loss", run, references[model])
        round_ms = 1000 * run["wall_seconds"] / run["gvt_rounds"]
        ranks.expect(round_ms > 2, f"    and {round_ms:.1f} ms per GVT round, more than the delay of a frame")
    moved = 0
    for model, options in MODELS.items():
        run = ranks.statistics_over(3, model, *options, *SHARED_CORES, *MOVES)
        compare(f"{model} with the same delay and loss and {run['mpi']['groups_sent']} moves", run, references[model])
        moved += run["mpi"]["groups_sent"]
    ranks.expect(moved > 0, f"{moved} groups moved between hosts")
    hosts.set_links()
    lost = sent_again(hosts) - before
    ranks.expect(lost > 0, f"{lost} segments were lost and retransmitted")

    # The run continues until a signal stops it. So the cut is within the run, also on a fast
    # machine.
    model = ["--lps", 256, "--lps-per-group", 8, "--remote", 0.3]
    stats = ranks.work / "cut.json"
    with ranks.start(ranks.part(3, "phold", *model, *SHARED_CORES, "--until", FOR_EVER, "--quiet",
                                *MOVES, "--stats", stats)) as launch:
        launch.wait_until_under_way(3)
        before = sent_again(hosts)
        hosts.cut("n2")
        time.sleep(SECONDS_CUT_OFF)
        ranks.expect(sent_again(hosts) > before, "cut off: packets to the host are not answered")
        hosts.heal("n2")
        time.sleep(1)
        os.kill(launch.pids()[0], signal.SIGINT)
        ended = launch.wait()
    ranks.expect(ended.exit_code == 128 + signal.SIGINT,
                 f"cut off: exit code {ended.exit_code} after {ended.seconds:.1f} s: {ended.ours}")
    run = ranks.expect_sequential_digest(f"cut off for {SECONDS_CUT_OFF} s", stats, "phold", *model)
    ranks.expect(run["mpi"]["groups_sent"] > 0, f"    with {run['mpi']['groups_sent']} moves")

ranks.leave()
