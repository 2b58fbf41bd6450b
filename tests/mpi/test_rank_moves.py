#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs whose groups move between ranks have the digest and the tables of the sequential engine,
also if most groups move every few hundredths of a second. Groups whose LPs point out of their heaps
stay, and this is reported. Unequal loads are balanced, equal loads are not changed."""

import json

from ranks import Ranks

ranks = Ranks()
expect = ranks.expect

OFTEN = ["--rebind", 0.02, "--check-rebind", 0.5]
# Long enough for some moves, on shared cores.
LONG = {
    "traffic": ["--objects", 300, "--until", 3000],
    "phold": ["--lps", 512, "--remote", 0.5, "--until", 1500, "--rollback", "snapshot", "--state", 64],
    "queues": ["--until", 8000],
    "pcs": ["--width", 16, "--height", 16, "--move-mean", 200, "--until", 2000, "--state", "containers"],
}


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


for model, options in LONG.items():
    sequential, moved = ranks.work / f"{model}-sequential", ranks.work / f"{model}-moved"
    reference = ranks.statistics_of(model, *options, "--engine", "sequential", "--output", sequential)
    sent = 0
    for count, workers in [(2, 1), (3, 2)]:
        run = ranks.statistics_over(count, model, *options, "--workers", workers, *OFTEN,
                                    "--output", moved)
        sent += run["mpi"]["groups_sent"]
        expect(run["digest"] == reference["digest"]
               and run["committed_events"] == reference["committed_events"]
               and contents(sequential) == contents(moved),
               f"{model} on {count} x {workers}: {run['mpi']['groups_sent']} groups moved, digest "
               f"{run['digest']}, the same files")
    expect(sent > 0, f"{model}: {sent} groups moved between ranks")

stays = ranks.statistics_over(2, "phold", *LONG["phold"], "--workers", 1, *OFTEN, "--rebind-ranks", "off")
expect(stays["mpi"]["groups_sent"] == 0, "--rebind-ranks off: no group moved")

# Pointers that handlers made are valid on the other rank, or the group stays.
for handlers, program, may_stay in [("plain", "pointers", False), ("astray", "pointers", True),
                                    ("plain", "moving_pointers", False)]:
    options = ["--until", 30000, "--handlers", handlers]
    reference = ranks.statistics_of(program, *options, "--engine", "sequential")
    run = ranks.statistics_over(2, program, *options, "--workers", 1, *OFTEN)
    sent = run["mpi"]["groups_sent"]
    expect(run["digest"] == reference["digest"] and run["mpi"]["balance_pauses"] > 0
           and (sent == 0 if may_stay else sent > 0),
           f"{program}, handlers that point {handlers}: {sent} groups moved in "
           f"{run['mpi']['balance_pauses']} pauses, digest {run['digest']}")

# If the ranks have no common addresses for groups, the groups stay, and this is reported.
stats = ranks.work / "limited.json"
ended = ranks.launch(["-np", 2, "sh", "-c", 'ulimit -v 3000000; exec "$@"', "sh", ranks.bin / "phold",
                      *LONG["phold"], "--workers", 1, *OFTEN, "--quiet", "--stats", stats])
limited = json.loads(stats.read_text()) if ended.exit_code == 0 else {}
reference = ranks.statistics_of("phold", *LONG["phold"], "--engine", "sequential")
expect(limited.get("digest") == reference["digest"] and limited["mpi"]["groups_sent"] == 0
       and any("--rebind-ranks" in notice for notice in limited["notices"]),
       f"little address space: exit code {ended.exit_code}, {limited.get('notices')} {ended.ours}")

SPOT = ["--lps", 1024, "--lps-per-group", 32, "--until", 3000, "--rebind", 0.05, "--hot-spot", 0.8,
        "--hot-spot-period", 100000]
run = ranks.statistics_over(2, "phold", *SPOT, "--workers", 1)
expect(run["mpi"]["groups_sent"] > 0,
       f"a hot spot on one rank: {run['mpi']['groups_sent']} groups moved")
# The loads that decide about moves between ranks do not depend on the policy within a rank.
reference = ranks.statistics_of("phold", *SPOT, "--engine", "sequential")
run = ranks.statistics_over(2, "phold", *SPOT, "--workers", 2, "--rebind-policy", "knapsack")
expect(run["mpi"]["groups_sent"] > 0 and run["numa"]["groups_moved"] > 0 and run["digest"] == reference["digest"],
       f"--rebind-policy knapsack: {run['mpi']['groups_sent']} groups moved to another rank, "
       f"{run['numa']['groups_moved']} within their ranks, digest {run['digest']}")

ranks.leave()
