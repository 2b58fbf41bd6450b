# SPDX-License-Identifier: Apache-2.0
"""Runs the models that are written as processes, and the equal models in SimPy (simpy_models.py). Computes the allowed
difference of their figures."""

import csv
import json
import math
import statistics
import subprocess
import tempfile
from pathlib import Path

# For each model: the option for the number of its LPs, its table, and the end time.
MODELS = {
    "bank": ("banks", "banks", 2000),
    "car_wash": ("washes", "washes", 600),
    "channel": ("hosts", "hosts", 1000),
    "gas_station": ("stations", "stations", 20000),
    "machine_shop": ("shops", "shops", 1000),
    "movies": ("cinemas", "films", 120),
}
RUNS = 20
# Student's t at 0.9995 for 19 degrees of freedom. The difference has at least 19 degrees of freedom.
STUDENT = 3.883


def ours(program_folder, model, places, until, seed):
    """Executes a sequential run of numawarp. Returns the mean of each figure over all places, and the seconds of the
    event loop."""
    option, table, _ = MODELS[model]
    with tempfile.TemporaryDirectory() as folder:
        words = [program_folder / model, f"--{option}", places, "--until", until, "--seed", seed, "--engine",
                 "sequential", "--quiet", "--output", folder, "--stats", f"{folder}/stats.json"]
        subprocess.run(list(map(str, words)), check=True)
        with open(f"{folder}/{table}.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        seconds = json.loads(Path(folder, "stats.json").read_text())["wall_seconds"]
    return {"figures": {name: statistics.mean(float(row[name]) for row in rows) for name in list(rows[0])[1:]},
            "seconds": seconds}


def theirs(python, model, places, until, seeds):
    """For each seed, the figures of a run in SimPy, in the form that ours() returns."""
    words = [python, Path(__file__).parent / "simpy_models.py", model, places, until, *seeds]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def compared(runs, their_runs):
    """For each figure, both means and the half-width of the 99.9 % confidence interval of their
    difference."""
    found = {}
    for name in runs[0]["figures"]:
        sides = [[run["figures"][name] for run in side] for side in (runs, their_runs)]
        half = STUDENT * math.sqrt(sum(map(statistics.variance, sides)) / len(runs))
        found[name] = {"ours": statistics.mean(sides[0]), "simpy": statistics.mean(sides[1]), "half_width": half}
    return found
