#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""If one rank is killed, or a model breaks a rule on one rank, all ranks end soon, with one message
that names this rank. A signal to one rank ends the run of all ranks in an orderly way."""

import itertools
import os
import re
import signal

from ranks import Ranks

from programs import effort

SECONDS_TO_END = 10

STEP = 1 if effort() >= 1 else 4  # 1: all cases are executed; 4: every fourth case
ranks = Ranks()


def endless_run(count, *options):
    return ranks.start(ranks.part(count, "phold", "--engine", "timewarp", "--workers", 1, "--until", 1e12, *options))


# A rank is killed. The launcher's message names this rank.
with endless_run(3) as launch:
    launch.wait_until_under_way(3)
    pids = launch.pids()
    already = launch.elapsed()
    os.kill(pids[1], signal.SIGKILL)
    ended = launch.wait()
took = ended.seconds - already
ranks.expect(ended.exit_code != 0 and took < SECONDS_TO_END,
             f"a killed rank: exit code {ended.exit_code} after {took:.1f} s")
# Launchers break their lines at any place.
said = re.findall(r"process rank (\d+) .*?on\s+signal 9", ended.stderr, re.DOTALL)
ranks.expect(said == ["1"], f"a killed rank: the launcher names rank {said}")
ranks.expect(not launch.pids(), "a killed rank: no other rank is left")

# A model breaks a rule in LP 1. With eight ranks, LP 1 is on the second rank; with two or three, on
# the first. A rank reports the failure only when GVT shows that its event is final, so all ranks
# take part in the end of the run. Here and below the watchdog is off, because it prints a line for
# each rank that waits on a busy machine.
layouts = [(8, 1, "timewarp"), (2, 0, "timewarp"), (8, 1, "conservative"), (3, 0, "conservative"),
           (2, 0, "conservative")]
breaches = [("past", "-1"), ("exception", "the model's own words"), ("null", "")]
# The set of every fourth case contains each engine and each breach.
for (count, rank, engine), (breach, words) in list(itertools.product(layouts, breaches))[::STEP]:
    ended = ranks.launch(ranks.part(count, "rule_breaker", "--breach", breach, "--workers", 1,
                                    "--lps-per-group", 1, "--watchdog", "off", "--engine", engine))
    ranks.expect(ended.exit_code == 3 and len(ended.ours) == 1
                 and ended.ours[0].startswith(f"numawarp: rank {rank}: ")
                 and all(word in ended.ours[0] for word in ["LP 1", "time 3", words])
                 and not ended.stdout, f"{breach} by {engine} on {count} ranks: exit code {ended.exit_code}: {ended.ours}")

# Two ranks fail, at different virtual times: only the earlier failure is printed, whichever rank
# detects its failure first.
for options in [["--engine", "conservative"],
                *(["--window", "off", "--gvt-interval", interval] for interval in range(1, 9, STEP))]:
    ended = ranks.launch(ranks.part(2, "rule_breaker", "--breach", "two",
                                    "--engine", "timewarp", "--workers", 1, "--lps-per-group", 1,
                                    "--watchdog", "off", *options))
    ranks.expect(ended.exit_code == 3 and len(ended.ours) == 1
                 and ended.ours[0].startswith("numawarp: rank 0: LP 1 at time 3, "),
                 f"two failures, {options}: exit code {ended.exit_code}: {ended.ours}")

# The constructor of an LP on the second rank throws. Before, the first rank has already sent events
# to this LP.
for options in [["--net-thread", "off"], ["--net-thread", "on"], ["--engine", "conservative"]]:
    ended = ranks.launch(ranks.part(2, "rule_breaker", "--breach", "constructor",
                                    "--engine", "timewarp", "--workers", 4,
                                    "--lps-per-group", 1, "--watchdog", "off", *options))
    ranks.expect(ended.exit_code == 2 and len(ended.ours) == 1
                 and ended.ours[0].startswith("numawarp: rank 1: ")
                 and "the model's own words" in ended.ours[0],
                 f"a constructor, {options}: exit code {ended.exit_code}: {ended.ours}")

# A rank fails while its messages have not been received: it reports the failure at once, and waits
# for no other rank.
for options in [["--net-thread", "on"], ["--engine", "conservative"]]:
    ended = ranks.launch(ranks.part(2, "rule_breaker", "--breach", "start", "--engine", "timewarp", "--workers", 1,
                                    "--lps-per-group", 1, "--watchdog", "off", *options))
    ranks.expect(ended.exit_code == 3 and len(ended.ours) == 1
                 and ended.ours[0].startswith("numawarp: rank 1: LP 7 at time 0 in on_start(): ")
                 and ended.seconds < SECONDS_TO_END,
                 f"a failure while sending, {options}: exit code {ended.exit_code} after "
                 f"{ended.seconds:.1f} s: {ended.ours}")

# Messages to a rank with a slow set-up are received nevertheless.
for engine, what in [("timewarp", "GVT round 1"), ("conservative", "window 0")]:
    ended = ranks.launch(ranks.part(2, "rule_breaker", "--breach", "none", "--workers", 1,
                                    "--lps-per-group", 1, "--watchdog", 1, "--engine", engine))
    waiting = [line for line in ended.ours if line.startswith(f"numawarp: rank 1: {what} is not ")]
    ranks.expect(ended.exit_code == 0 and len(waiting) == 1
                 and waiting[0].endswith(" 0 batches of this rank have not been received"),
                 f"a rank with a slow set-up, {engine}: exit code {ended.exit_code}: {ended.ours}")

# A signal to one rank, which is not the first.
for engine, stop in [("timewarp", signal.SIGINT), ("timewarp", signal.SIGTERM),
                     ("conservative", signal.SIGTERM)]:
    stats = ranks.work / "interrupted.json"
    with endless_run(3, "--engine", engine, "--quiet", "--stats", stats) as launch:
        launch.wait_until_under_way(3)
        os.kill(launch.pids()[2], stop)
        ended = launch.wait()
    run = ranks.expect_sequential_digest(f"{engine}, {stop.name}", stats, "phold")
    ranks.expect(ended.exit_code == 128 + stop and not ended.ours
                 and run["end_reason"] == "interrupted" and run["committed_events"] > 0,
                 f"{engine}, {stop.name}: exit code {ended.exit_code}, "
                 f"{run['committed_events']} events")

ranks.leave()
