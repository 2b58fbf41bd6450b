#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the models that are written as processes with the same models in SimPy. First, it
compares the figures of 20 runs of each of the six models, and the times of the event loops for 100
places. Then the machine shop with 1,000 machines is measured: process time per part on one core,
and the gain of a second worker. The gain is given twice: measured in wall time, and computed from
process times as if each worker had its own core. On a busy machine, only the second value is
meaningful. Rounds alternate, so that a busy machine affects all programs, and medians are reported.

usage: simpy_speed.py FOLDER-OF-PROGRAMS [ROUNDS] [--json FILE]"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "support"))
import same_in_simpy  # noqa: E402

SHOPS = 100  # with ten machines each
PLACES = 100  # of each of the six models
# These times are so large that the set-up hardly counts.
THEIR_UNTIL, OUR_UNTIL = 2000, 100000


def children_seconds():
    times = os.times()
    return times.children_user + times.children_system


def theirs():
    run, = same_in_simpy.theirs(sys.executable, "machine_shop", SHOPS, THEIR_UNTIL, [1])
    return run["seconds"] / (run["figures"]["parts"] * SHOPS)


def ours(programs, *options):
    """Seconds per part: process time and wall time."""
    with tempfile.TemporaryDirectory() as folder:
        began, wall = children_seconds(), time.monotonic()
        subprocess.run([programs / "machine_shop", "--shops", str(SHOPS), "--until", str(OUR_UNTIL),
                        "--quiet", "--output", folder, *options], check=True)
        took = children_seconds() - began, time.monotonic() - wall
        rows = (Path(folder) / "shops.csv").read_text().splitlines()[1:]
    parts = sum(int(row.split(",")[1]) for row in rows)
    return [seconds / parts for seconds in took]


def six_models(programs):
    """For each model its figures on both sides, and the medians of the seconds of the event
    loops."""
    found = {}
    seeds = range(1, same_in_simpy.RUNS + 1)
    for model, (_, _, until) in same_in_simpy.MODELS.items():
        sides = {"ours": [], "simpy": []}
        for seed in seeds:
            sides["ours"].append(same_in_simpy.ours(programs, model, PLACES, until, seed))
            sides["simpy"] += same_in_simpy.theirs(sys.executable, model, PLACES, until, [seed])
        found[model] = {"until": until, "figures": same_in_simpy.compared(sides["ours"], sides["simpy"]),
                        **{f"{side}_seconds": statistics.median(run["seconds"] for run in runs)
                           for side, runs in sides.items()}}
        found[model]["times_as_fast"] = found[model]["simpy_seconds"] / found[model]["ours_seconds"]
    return found


def show(models):
    """Prints the table for docs/models/processes.md."""
    print("| model | figures, SimPy / numawarp | SimPy | numawarp |\n| --- | --- | --- | --- |")
    for model, found in models.items():
        figures = ", ".join(f"{name} {both['simpy']:.4g} / {both['ours']:.4g}"
                            for name, both in found["figures"].items())
        print(f"| {model} | {figures} | {found['simpy_seconds'] * 1e3:.0f} ms | "
              f"{found['ours_seconds'] * 1e3:.1f} ms, {found['times_as_fast']:.0f} times as fast |")


def machine():
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line]
    return names[0].partition(": ")[2] if names else platform.machine()


def commit():
    """The last commit that changed the measured code."""
    words = ["git", "log", "-1", "--format=%h", "--abbrev=12", "--", "src", "numa", "mpi", "models"]
    return subprocess.run(words, capture_output=True, text=True, check=True,
                          cwd=Path(__file__).parent.parent.parent).stdout.strip()


def main():
    parser = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2])
    parser.add_argument("programs", type=Path)
    parser.add_argument("rounds", type=int, nargs="?", default=7)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    programs = given.programs.resolve()
    models = six_models(programs)
    show(models)
    rounds = []
    for _ in range(given.rounds):
        one, two = (ours(programs, "--engine", "timewarp", "--workers", workers) for workers in ("1", "2"))
        rounds.append({"simpy": theirs(),
                       "sequential": ours(programs, "--engine", "sequential")[0],
                       "one_worker": one[0], "two_workers": two[0],
                       "one_worker_wall": one[1], "two_workers_wall": two[1]})
    median = {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}

    def ratio(one, other):
        return statistics.median(each[one] / each[other] for each in rounds)

    ratios = {"sequential against SimPy": ratio("simpy", "sequential"),
              "two workers against one, wall": ratio("one_worker_wall", "two_workers_wall"),
              "the same, a core for each": 2 * ratio("one_worker", "two_workers")}
    for name, seconds in median.items():
        print(f"{name:32} {seconds * 1e9:8.0f} ns a part")
    for name, value in ratios.items():
        print(f"{name:32} {value:8.2f}")
    if given.json:
        given.json.write_text(json.dumps({
            "script": "tests/bench/simpy_speed.py", "machine": machine(), "commit": commit(), "date": time.strftime("%Y-%m-%d"),
            "load": os.getloadavg()[0], "cpus": os.cpu_count(), "python": platform.python_version(),
            "places": PLACES, "models": models, "rounds": rounds,
            "ns_a_part": {name: seconds * 1e9 for name, seconds in median.items()},
            "ratios": ratios}, indent=1) + "\n")


if __name__ == "__main__":
    main()
