#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests kinds of LPs, typed events and measures at intervals on several ranks, with both parallel
engines. The digest, the counts by kind and type, and the tables are the same, also if groups move
between ranks, and if a run is saved and continued by other ranks."""

import signal

from ranks import Ranks

from checkpoints import gvt, wait_for_gvt

ranks = Ranks()
expect = ranks.expect
MODEL = ["--until", 3000, "--warm-up", 10, "--measure-interval", 210]  # takes 0.2 s, in which groups move
AHEAD = ["--window", "off", "--keep-safe-events", "on"]


def outcome(run, folder):
    return (run["digest"], run["measures"],
            [(row["kind"], row["event"], row["committed_events"]) for row in run["event_types"]],
            {path.name: path.read_bytes() for path in sorted(folder.iterdir())})


folder = ranks.work / "one"
reference = outcome(ranks.statistics_of("print_shops", *MODEL, "--engine", "sequential", "--output", folder), folder)
rolled_back = moved = 0
for number, (count, options) in enumerate([
        (2, ["--engine", "conservative"]), (3, ["--engine", "conservative"]), (2, AHEAD),
        (3, ["--lps-per-group", 2, "--rebind", 0.01, "--check-rebind", 0.5, *AHEAD])]):
    folder = ranks.work / f"of{number}"
    run = ranks.statistics_over(count, "print_shops", *MODEL,
                                "--engine", "timewarp", "--workers", 1, *options, "--output", folder)
    rolled_back += run["rolled_back_events"]
    moved += run["mpi"]["groups_sent"]
    expect(outcome(run, folder) == reference and run["mpi"]["events_sent"] > 0,
           f"{count} ranks {' '.join(map(str, options))}: digest {run['digest']}, measures, counts and tables")
expect(rolled_back > 0 and moved > 0, f"{rolled_back} events were rolled back, {moved} groups changed their rank")

# Two ranks save the run, and three ranks continue it.
long = ["--until", 30000, "--measure-interval", 300, "--lps-per-group", 4, "--workers", 1]
folder, saved, parts = ranks.work / "long", ranks.work / "saved", ranks.work / "parts"
reference = outcome(ranks.statistics_of("print_shops", *long[:4], "--engine", "sequential", "--output", folder),
                    folder)
with ranks.start(ranks.part(2, "print_shops", *long, "--quiet", *AHEAD, "--output", parts, "--checkpoint", saved,
                            "--checkpoint-period", 0.1)) as launch:
    wait_for_gvt(launch.process, saved, 0)
    launch.process.send_signal(signal.SIGUSR1)
    ended = launch.wait()
expect(ended.exit_code == 0 and gvt(saved) > 0, f"two ranks are saved at {gvt(saved):.0f}: {ended.ours}")
run = ranks.statistics_over(3, "print_shops", *long, *AHEAD, "--output", parts, "--restart", saved)
expect((run["digest"], run["measures"]) == reference[:2]
       and {path.name: path.read_bytes() for path in sorted(parts.iterdir())} == reference[3],
       f"three ranks continue to the same end: digest {run['digest']}")
ranks.leave()
