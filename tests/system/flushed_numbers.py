#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests a program that starts with denormal numbers flushed to zero, like a program that is linked
with -ffast-math. nw::run() switches the flushing off: the run ends, and the model computes with the
same numbers as in any other program."""

from programs import Programs

programs = Programs()
# Each of 16 tokens takes part in an event at every whole time from 1 to 19; if numbers are flushed,
# only at every second whole time.
EVENTS_AFTER_TIME_0 = 16 * 19
reference = None
for variant in [["--engine", "sequential"], ["--engine", "timewarp", "--workers", 1],
                ["--workers", 2, "--window", 1e-300], ["--workers", 2, "--check-rollback", 0.5],
                ["--engine", "timewarp", "--workers", 3, "--lps-per-group", 1, "--memory", "libc"]]:
    run = programs.statistics_of("flushed_numbers", *variant)
    reference = reference or run["digest"]
    programs.expect(run["digest"] == reference and run["committed_events"] > EVENTS_AFTER_TIME_0,
                    f"{' '.join(map(str, variant))}: digest {run['digest']}, {run['committed_events']} events")
programs.leave()
