#!/usr/bin/env python3
"""What Time Warp costs in memory: at most three times the sequential engine's on a PHOLD of a million
events, and no more when the run is ten times as long (fossil collection keeps up). (--memory-cap:
memory_cap.py.)"""

from programs import Programs

programs = Programs()
MiB = 1 << 20


def peak(engine, until):
    run = programs.statistics_of("phold", "--lps", 65536, "--events-per-lp", 16, "--remote", 0.1,
                                 "--state", 16, "--engine", engine, "--workers", 2,
                                 "--until", until)
    return run["memory"]["resident_peak_bytes"] / MiB, run["committed_events"]


sequential, _ = peak("sequential", 3)
timewarp, _ = peak("timewarp", 3)
programs.expect(timewarp <= 3 * sequential,
                f"65,536 x 16: {timewarp:.0f} MiB against {sequential:.0f} MiB sequentially")

longer, events = peak("timewarp", 30)
programs.expect(events > 25e6, f"ten times as long: {events} events")
programs.expect(longer <= 1.5 * timewarp, f"    in {longer:.0f} MiB")

programs.leave()
