#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares models that are written as processes with equal models in SimPy
(support/same_in_simpy.py), by 20 independent runs of each model. The difference of each mean figure
must be within its 99.9 % confidence interval."""

from programs import Programs, python_with
from same_in_simpy import MODELS, RUNS, compared, ours, theirs

PLACES, SEEDS = 10, range(1, RUNS + 1)

python = python_with("simpy", "python3-simpy3, or pip install simpy")
programs = Programs()
for model, (_, _, until) in MODELS.items():
    runs = [ours(programs.bin, model, PLACES, until, seed) for seed in SEEDS]
    their_runs = theirs(python, model, PLACES, until, SEEDS)
    programs.expect(runs[0]["figures"].keys() == their_runs[0]["figures"].keys(),
                    f"{model}: figures {', '.join(runs[0]['figures'])}")
    for name, both in compared(runs, their_runs).items():
        # Without randomness, only the rounding of sums of times differs.
        programs.expect(abs(both["ours"] - both["simpy"]) <= both["half_width"] + 1e-9 * abs(both["simpy"]),
                        f"{model}: {name} {both['ours']:.4f}, SimPy {both['simpy']:.4f}, +- {both['half_width']:.4f}")
programs.leave()
