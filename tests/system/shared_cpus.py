#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests a rank with more workers than CPUs: one thread takes the turns of all workers of a CPU. The
digest is the same, also with rollbacks, moves of groups and saved runs while workers are lent. A
run that fails ends with the same message."""

import os

from programs import Programs

programs = Programs()
cpus = sorted(os.sched_getaffinity(0))

PHOLD = ["phold", "--lps", 200, "--remote", 0.5, "--until", 300, "--seed", 5]
PCS = ["pcs", "--width", 12, "--height", 12, "--until", 900]  # without lookahead


def bind(count):
    """Binds this process, and so the programs that it starts, to `count` CPUs."""
    os.sched_setaffinity(0, cpus[:count])
    return len(os.sched_getaffinity(0))


def shared(command, *options):
    """The statistics of a run in which turns must be carried."""
    run = programs.statistics_of(*command, *options)
    programs.expect(run["carried_turns"] > 0, f"{' '.join(map(str, [command[0], *options]))}: "
                    f"{run['carried_turns']} turns were carried, {run['rolled_back_events']} events rolled back")
    return run


rolled_back = groups_moved = 0
for count in {1, min(2, len(cpus))}:
    there = bind(count)
    for command in PHOLD, PCS:
        expected = programs.statistics_of(*command, "--engine", "sequential")["digest"]
        own = programs.statistics_of(*command, "--engine", "timewarp", "--workers", there)
        programs.expect(own["carried_turns"] == 0 and own["digest"] == expected,
                        f"{there} workers on {there} CPUs: no turn is carried")
        apart = ["--workers", 4, "--window", "off", "--lps-per-group", 1]  # workers run far ahead
        variants = [["--workers", 3], ["--workers", 8], ["--workers", 4, "--pin", "off"], apart,
                    ["--workers", 4, "--check-rollback", 0.05],
                    ["--workers", 5, "--rebind", 0.002, "--check-rebind", 0.3, "--lps-per-group", 4]]
        for variant in variants:
            run = shared(command, "--engine", "timewarp", *variant)
            rolled_back += run["rolled_back_events"] if variant is apart else 0
            programs.expect(run["digest"] == expected, f"{variant}: digest {run['digest']}")
            groups_moved += run["numa"]["groups_moved"]
        if command is PHOLD:
            run = shared(command, "--engine", "conservative", "--workers", 5)
            programs.expect(run["digest"] == expected, f"conservative: digest {run['digest']}")
programs.expect(rolled_back > 0 and groups_moved > 0,
                f"{rolled_back} events were rolled back, {groups_moved} groups moved")

# Saved runs: all threads take their workers back for the pause, and lend them again.
longer = [*PHOLD, "--until", 6000]
expected = programs.statistics_of(*longer, "--engine", "sequential")["digest"]
for engine in "timewarp", "conservative":
    run = shared(longer, "--engine", engine, "--workers", 5, "--checkpoint", programs.work / engine,
                 "--checkpoint-period", 0.02)
    programs.expect(run["digest"] == expected and run["checkpoints"]["written"] > 1,
                    f"{engine}: saved {run['checkpoints']['written']} times, digest {run['digest']}")

# Failures: the run ends with the failure of the earliest event.
for engine in "timewarp", "conservative":
    for breach in "two", "two_starts":
        command = ["rule_breaker", "--breach", breach, "--engine", engine]
        alone, lent = (programs.run(*command, "--workers", workers) for workers in (1, 6))
        programs.expect(lent.returncode == alone.returncode != 0 and lent.stderr == alone.stderr,
                        f"{engine}, breach {breach}: exit code {lent.returncode}: {lent.stderr.strip()}")

programs.leave()
