#!/usr/bin/env python3
"""The models that are told as processes, beside the same models in SimPy (support/simpy_models.py): 20
independent runs of each, and no mean figure of theirs differs by more than the 99.9 % confidence interval
of the difference."""

import json
import math
import statistics
import subprocess
from pathlib import Path

from programs import Programs, python_with

# Of each model the option for the number of its LPs, the table, and until when.
MODELS = {
    "bank": ("banks", "banks", 2000),
    "car_wash": ("washes", "washes", 600),
    "channel": ("hosts", "hosts", 1000),
    "gas_station": ("stations", "stations", 20000),
    "machine_shop": ("shops", "shops", 1000),
    "movies": ("cinemas", "films", 120),
}
PLACES, RUNS = 10, 20
SEEDS = range(1, RUNS + 1)
# Student's t at 0.9995 for 19 degrees of freedom: those of the difference are at least as many.
STUDENT = 3.883

python = python_with("simpy", "python3-simpy3, or pip install simpy")
programs = Programs()


def ours(model, option, table, until, seed):
    rows = programs.table_of(table, model, f"--{option}", PLACES, "--until", until, "--seed", seed)
    names = list(rows[0])[1:]
    return {name: statistics.mean(float(row[name]) for row in rows) for name in names}


def theirs(model, until):
    script = Path(__file__).parents[1] / "support" / "simpy_models.py"
    words = [python, script, model, PLACES, until, *SEEDS]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=True)
    return [json.loads(line)["figures"] for line in done.stdout.splitlines()]


for model, (option, table, until) in MODELS.items():
    runs = [ours(model, option, table, until, seed) for seed in SEEDS], theirs(model, until)
    programs.expect(set(runs[0][0]) == set(runs[1][0]), f"{model}: figures {', '.join(runs[0][0])}")
    for name in runs[0][0]:
        values = [[run[name] for run in side] for side in runs]
        one, other = map(statistics.mean, values)
        half = STUDENT * math.sqrt(sum(map(statistics.variance, values)) / RUNS)
        # Where nothing is random, sums of times are rounded.
        programs.expect(abs(one - other) <= half + 1e-9 * abs(other),
                        f"{model}: {name} {one:.4f}, SimPy {other:.4f}, +- {half:.4f}")
programs.leave()
