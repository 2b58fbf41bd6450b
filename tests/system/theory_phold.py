#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares PHOLD with renewal theory: each of the n = lps * events-per-lp events in flight forms a
chain whose steps are L + Exp(X), with mean m = L + X and coefficient of variation c = X/m. For
large T the number of steps before T has mean T/m + (c^2 - 1)/2 and variance c^2 T/m (Feller, volume
II, XI.3). The sum over n independent chains must lie within 4 standard deviations. A hot spot moves
events between LPs but not in time, so these numbers stay the same. The LPs in the hot window
execute the configured share of the events, and their workers have the corresponding load."""

import math

from programs import Programs

programs = Programs()

lines = [(1024, 1, 0.1, 0.9, 200, 0), (64, 16, 0.1, 0.9, 200, 0), (256, 4, 0, 1, 200, 0),
         (64, 1, 2, 0.5, 3000, 0), (1024, 1, 0.1, 0.9, 200, 0.6), (64, 16, 0, 1, 200, 1)]
for lps, events, lookahead, mean, until, hot in lines:
    for seed in [1, 2]:
        options = ["--lps", lps, "--events-per-lp", events, "--lookahead", lookahead,
                   "--mean", mean, "--until", until, "--seed", seed, "--state", 16,
                   "--hot-spot", hot, "--hot-spot-period", 100]
        runs = {engine: programs.statistics_of("phold", "--engine", engine, "--workers", 2,
                                               *options)
                for engine in ["sequential", "timewarp"]}
        step = lookahead + mean
        variation = mean / step
        expected = lps * events * (until / step + (variation ** 2 - 1) / 2)
        deviation = math.sqrt(lps * events * variation ** 2 * until / step)
        committed = runs["sequential"]["committed_events"]
        programs.expect(abs(committed - expected) < 4 * deviation,
                        f"lps {lps} x {events}, L {lookahead}, X {mean}, hot spot {hot}, "
                        f"seed {seed}: {committed} events, expected {expected:.0f} +- "
                        f"{deviation:.0f}")
        programs.expect(runs["sequential"]["digest"] == runs["timewarp"]["digest"],
                        "    and Time Warp has the sequential digest")

# Eight workers with an eighth of the LPs each, no rebinding: while the hot window (a tenth of the
# LPs) moves from the LPs of the first worker to the LPs of the second worker, these two workers
# execute the hot events.
hot, eighth = 0.6, 250
run = programs.statistics_of("phold", "--lps", 4000, "--engine", "timewarp", "--workers", 8, "--until", eighth,
                             "--hot-spot", hot, "--hot-spot-period", 8 * eighth, "--rebind", "off")
total = run["committed_events"]
shares = [worker["committed_events"] / total for worker in run["workers_detail"]]
print("        shares of the workers:", " ".join(f"{share:.3f}" for share in shares))
# The share of all LPs that are in the window and belong to the first worker, as a mean over this
# time, by numerical integration; and the same for the second worker.
steps = 1000
in_first = sum(max(0, 1 / 8 - at) if at > 1 / 40 else 1 / 10
               for at in ((n + 0.5) / steps / 8 for n in range(steps))) / steps
in_second = 1 / 10 - in_first
for number, in_window in [(0, in_first), (1, in_second), (2, 0), (7, 0)]:
    expected = hot * in_window / 0.1 + (1 - hot) * (1 / 8 - in_window) / 0.9
    programs.expect(abs(shares[number] - expected) < 0.01,
                    f"worker {number} commits {shares[number]:.3f} of the events, "
                    f"expected {expected:.3f}")

programs.leave()
