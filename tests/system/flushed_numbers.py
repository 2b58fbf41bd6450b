#!/usr/bin/env python3
"""A program that begins with denormal numbers flushed to zero, as one that is linked with -ffast-math: nw::run() switches
that off, so that the run ends, and the model meets the numbers that it meets in any other program."""

from programs import Programs

programs = Programs()
# Of 16 tokens each one takes part in an event at every whole time from 1 to 19; where numbers are flushed, at every other.
EVENTS_AFTER_TIME_0 = 16 * 19
reference = None
for variant in [["--engine", "sequential"], ["--workers", 1],
                ["--workers", 2, "--window", 1e-300], ["--workers", 2, "--check-rollback", 0.5],
                ["--workers", 3, "--lps-per-group", 1, "--memory", "libc"]]:
    run = programs.statistics_of("flushed_numbers", *variant)
    reference = reference or run["digest"]
    programs.expect(run["digest"] == reference and run["committed_events"] > EVENTS_AFTER_TIME_0,
                    f"{' '.join(map(str, variant))}: digest {run['digest']}, {run['committed_events']} events")
programs.leave()
