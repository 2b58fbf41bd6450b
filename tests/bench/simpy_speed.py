#!/usr/bin/env python3
"""The machine shop with 1,000 machines beside the same model in SimPy: parts a second of process time on one
core, and what a second worker gains in wall time. Rounds alternate, so that a busy machine is busy for all;
medians.

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

SHOPS = 100  # of ten machines
# So long that what is measured is not the set-up.
THEIR_UNTIL, OUR_UNTIL = 2000, 100000
SCRIPT = Path(__file__).parents[1] / "support" / "simpy_models.py"


def children_seconds():
    times = os.times()
    return times.children_user + times.children_system


def theirs():
    done = subprocess.run([sys.executable, SCRIPT, "machine_shop", str(SHOPS), str(THEIR_UNTIL), "1"],
                          capture_output=True, text=True, check=True)
    run = json.loads(done.stdout)
    return run["seconds"] / (run["figures"]["parts"] * SHOPS)


def ours(programs, *options):
    """Seconds a part: of process time, of wall time."""
    with tempfile.TemporaryDirectory() as folder:
        began, wall = children_seconds(), time.monotonic()
        subprocess.run([programs / "machine_shop", "--shops", str(SHOPS), "--until", str(OUR_UNTIL),
                        "--quiet", "--output", folder, *options], check=True)
        took = children_seconds() - began, time.monotonic() - wall
        rows = (Path(folder) / "shops.csv").read_text().splitlines()[1:]
    parts = sum(int(row.split(",")[1]) for row in rows)
    return [seconds / parts for seconds in took]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2])
    parser.add_argument("programs", type=Path)
    parser.add_argument("rounds", type=int, nargs="?", default=7)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    programs = given.programs.resolve()
    rounds = []
    for _ in range(given.rounds):
        rounds.append({"simpy": theirs(),
                       "sequential": ours(programs, "--engine", "sequential")[0],
                       "one_worker": ours(programs, "--workers", "1")[1],
                       "two_workers": ours(programs, "--workers", "2")[1]})
    median = {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}
    ratios = {"sequential_against_simpy":
              statistics.median(each["simpy"] / each["sequential"] for each in rounds),
              "two_workers_against_one":
              statistics.median(each["one_worker"] / each["two_workers"] for each in rounds)}
    for name, seconds in median.items():
        print(f"{name:24} {seconds * 1e9:8.0f} ns a part")
    for name, ratio in ratios.items():
        print(f"{name:24} {ratio:8.2f}")
    if given.json:
        given.json.write_text(json.dumps({
            "script": "tests/bench/simpy_speed.py", "machine": platform.processor() or platform.machine(),
            "cpus": os.cpu_count(), "python": platform.python_version(), "rounds": rounds,
            "ns_a_part": {name: seconds * 1e9 for name, seconds in median.items()},
            "ratios": ratios}, indent=1) + "\n")


if __name__ == "__main__":
    main()
