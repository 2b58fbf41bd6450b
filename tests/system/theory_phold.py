#!/usr/bin/env python3
"""PHOLD against renewal theory: each of the n = lps * events-per-lp events in flight makes a chain
whose steps are L + Exp(X), of mean m = L + X and coefficient of variation c = X/m. The number of
steps before T has mean T/m + (c^2 - 1)/2 and variance c^2 T/m, for large T (Feller, volume II,
XI.3). The sum over n independent chains must lie within 4 standard deviations."""

import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from programs import Programs  # noqa: E402

programs = Programs()

for lps, events, lookahead, mean, until in [
        (1024, 1, 0.1, 0.9, 200), (64, 16, 0.1, 0.9, 200), (256, 4, 0, 1, 200), (64, 1, 2, 0.5, 3000)]:
    for seed in [1, 2]:
        options = ["--lps", lps, "--events-per-lp", events, "--lookahead", lookahead,
                   "--mean", mean, "--until", until, "--seed", seed, "--state", 16]
        runs = {engine: programs.statistics_of("phold", "--engine", engine, "--workers", 2, *options)
                for engine in ["sequential", "timewarp"]}
        step = lookahead + mean
        variation = mean / step
        expected = lps * events * (until / step + (variation ** 2 - 1) / 2)
        deviation = math.sqrt(lps * events * variation ** 2 * until / step)
        committed = runs["sequential"]["committed_events"]
        programs.expect(abs(committed - expected) < 4 * deviation,
                        f"lps {lps} x {events}, L {lookahead}, X {mean}, seed {seed}: {committed} "
                        f"events, expected {expected:.0f} +- {deviation:.0f}")
        programs.expect(runs["sequential"]["digest"] == runs["timewarp"]["digest"],
                        "    and Time Warp has the sequential digest")

programs.leave()
