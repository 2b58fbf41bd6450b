#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the conservative engine with Time Warp, on 2 ranks with 1 worker each and on 1 rank with
2 workers. The models are traffic, whose lookahead is the time in which a car is handed over, and
PHOLD with lookaheads of 0.01, 0.1 and 1. All runs are repeated in each round, and medians over the
rounds are reported. All runs of a model must have the same digest.

usage: engines_on_ranks.py FOLDER-OF-PROGRAMS [ROUNDS] [--json FILE]"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

LAUNCHER = Path(__file__).resolve().parent.parent.parent / "jobs/lib/launch.py"
ROUNDS_DEFAULT = 5
SECONDS_MAX = 120

PHOLD = "phold --lps 1024 --events-per-lp 16 --remote 0.1 --state 16"
MODELS = {
    "traffic, 1024 objects": "traffic --objects 1024 --until 7200",
    "PHOLD 1,024 × 16, lookahead 0.01": f"{PHOLD} --lookahead 0.01 --until 300",
    "PHOLD 1,024 × 16, lookahead 0.1": f"{PHOLD} --lookahead 0.1 --until 330",
    "PHOLD 1,024 × 16, lookahead 1": f"{PHOLD} --lookahead 1 --until 600",
}
# For each name: engine, ranks, workers in each rank.
COLUMNS = {
    "sequential": ("sequential", 1, 1),
    "conservative, 2 workers": ("conservative", 1, 2),
    "timewarp, 2 workers": ("timewarp", 1, 2),
    "conservative, 2 ranks": ("conservative", 2, 1),
    "timewarp, 2 ranks": ("timewarp", 2, 1),
}


def run(programs, model, engine, ranks, workers):
    """The statistics of one run."""
    program, *options = model.split()
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        stats = Path(folder) / "stats.json"
        launcher = [sys.executable, LAUNCHER, str(ranks)] if ranks > 1 else []
        done = subprocess.run(
            [*launcher, programs / program, *options, "--engine", engine, "--workers", str(workers),
             "--quiet", "--stats", stats], stdout=subprocess.DEVNULL, timeout=SECONDS_MAX)
        if done.returncode != 0:
            sys.exit(f"{model} by {engine}: exit code {done.returncode}")
        return json.loads(stats.read_text())


def measure(programs, rounds):
    """For each model: its digest and, by column, the nanoseconds per event of each round."""
    found = {model: {"command": command, "digest": None, "ns_an_event": {name: [] for name in COLUMNS},
                     "rounds_of_gvt": {}}
             for model, command in MODELS.items()}
    for number in range(rounds):
        for model, row in found.items():
            for name, (engine, ranks, workers) in COLUMNS.items():
                stats = run(programs, row["command"], engine, ranks, workers)
                row["digest"] = row["digest"] or stats["digest"]
                if stats["digest"] != row["digest"]:
                    sys.exit(f"{model}, {name}: digest {stats['digest']}, not {row['digest']}")
                row["ns_an_event"][name].append(
                    1e9 * stats["wall_seconds"] / stats["committed_events"])
                row["rounds_of_gvt"][name] = stats["gvt_rounds"]
                row["committed_events"] = stats["committed_events"]
            print(f"round {number + 1} of {rounds}: {model}", file=sys.stderr, flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path)
    parser.add_argument("rounds", type=int, nargs="?", default=ROUNDS_DEFAULT)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    found = measure(given.programs, given.rounds)
    print("| ns per event | " + " | ".join(COLUMNS) + " | digest |")
    print("| --- |" + " --- |" * (len(COLUMNS) + 1))
    for model, row in found.items():
        cells = []
        for name in COLUMNS:
            samples = row["ns_an_event"][name]
            cells.append(f"{statistics.median(samples):.0f} ({min(samples):.0f} to {max(samples):.0f})")
        print(f"| {model} | " + " | ".join(cells) + f" | {row['digest'][:8]} |")
    if given.json:
        about = run(given.programs, "phold --until 1", "sequential", 1, 1)
        facts = {name: about[name] for name in ("machine", "commit", "date")}
        given.json.write_text(json.dumps({**facts, "rounds": given.rounds, "models": found},
                                         indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
