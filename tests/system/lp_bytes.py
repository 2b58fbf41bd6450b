#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An LP with 16 bytes of state and one event takes at most 300 bytes on every engine. The test
measures how much more resident memory a million LPs take than ten thousand LPs. All LPs execute
their event, which schedules nothing before the end."""

from programs import Programs

programs = Programs()
FEW, MANY, BYTES_MAX = 10_000, 1_000_000, 300


def resident(lps, engine):
    return programs.statistics_of("phold", "--lps", lps, "--lookahead", 100, "--until", 110,
                                  *engine)["memory"]["resident_peak_bytes"]


for engine in (["--engine", "sequential"], ["--engine", "conservative", "--workers", 2],
               ["--engine", "timewarp", "--workers", 1],
               ["--engine", "timewarp", "--workers", 2]):
    each = (resident(MANY, engine) - resident(FEW, engine)) / (MANY - FEW)
    programs.expect(each <= BYTES_MAX, f"{' '.join(map(str, engine))}: {each:.0f} bytes per LP")

programs.leave()
