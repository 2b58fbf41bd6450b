#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares ROSS with our interface, for models that were written for ROSS. Both sides use the same
sources and options. They must commit the same number of events, and every line that a model prints
with our interface must also be in ROSS's output. The event loop is timed on one core and on several
cores (ROSS: one rank per core; ours: one worker per core). Runs of both sides alternate, and the
shortest run counts. On several cores, the lines of ROSS are compared with the lines of a run with
the same number of our ranks, because some models print figures of their rank.

Both folders contain a program for each model: phold of ROSS itself, and the models of its
collection (ROSS-Models). Our programs are built with the lines of docs/ross.md.

usage: ross_beside.py [--rounds N] [--cores N] [--until SHARE] [--json FILE]
                      FOLDER-OF-ROSS FOLDER-OF-OURS [MODEL...]"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "support"))
from programs import MPI_ENVIRONMENT  # noqa: E402

# For each model: its end, its options, the options whose number ROSS counts per rank, and whether
# the model is also measured on several ranks of ROSS. Three models are not: qhold_fp and wifi have
# a fixed number of LPs per rank, so their size would change, and pcs does not end. ROSS needs the
# maximum number of events as an option.
MODELS = {
    "phold": (200, ["--extramem=500000"], {"nlp": 16384}, True),
    "airport": (50000, [], {}, True),
    "qhold_fp": (10000, [], {}, False),
    "torus": (2000, [], {}, True),
    "pcs": (5, [], {}, False),
    "wifi": (100000, [], {}, False),
}


def told_by_ross(said):
    """(events, seconds of its event loop)"""
    return (int(re.findall(r"Net Events Processed\s+(\d+)", said)[-1]),
            float(re.findall(r"Running Time = ([\d.]+)", said)[-1]))


class Sides:
    def __init__(self, theirs, ours, folder):
        self.theirs, self.ours, self.folder = theirs.resolve(), ours.resolve(), folder
        self.facts = {}  # machine, commit and date of the figures

    def run(self, command):
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, env=MPI_ENVIRONMENT,
                              timeout=3600)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr[-2000:]}")
        return done.stdout

    def of_ross(self, model, end, cores):
        """(events, seconds, lines)"""
        _, words, by_rank, _ = MODELS[model]
        options = [f"--end={end}", *words, *(f"--{name}={count // cores}" for name, count in by_rank.items())]
        launcher = ["mpirun", "-n", str(cores)] if cores > 1 else []
        synch = ["--synch=3"] if cores > 1 else ["--synch=1"]
        said = self.run([*launcher, self.theirs / model, *synch, *options])
        return *told_by_ross(said), {line.strip() for line in said.splitlines()}

    def of_ours(self, model, end, cores, on_ranks=False):
        """(events, seconds, lines)"""
        _, words, by_rank, _ = MODELS[model]
        ranks = cores if on_ranks else 1
        options = [f"--end={end}", *words, *(f"--{name}={count // ranks}" for name, count in by_rank.items())]
        launcher = ["mpirun", "-n", str(ranks)] if on_ranks else []
        engine = ["--synch=3", "--workers", str(cores // ranks)] if cores > 1 else ["--synch=1"]
        said = self.run([*launcher, self.ours / model, *engine, *options, "--quiet", "--stats", "stats.json"])
        return *self.told_by_ours(), [line.strip() for line in said.splitlines() if line.strip()]

    def told_by_ours(self):
        """(events, seconds of the event loop) of the run that has left its statistics"""
        statistics = json.loads((self.folder / "stats.json").read_text())
        self.facts = {name: statistics[name] for name in ("machine", "commit", "date")}
        return statistics["committed_events"], statistics["wall_seconds"]


def measured(sides, model, end, cores, rounds):
    """The row of a model on `cores` cores."""
    times, missing = ([], []), 0
    _, _, of_ranks = sides.of_ours(model, end, cores, on_ranks=True) if cores > 1 else (0, 0, None)
    for _ in range(rounds):
        (theirs, seconds, all_lines), (ours, our_seconds, lines) = (
            side(model, end, cores) for side in (sides.of_ross, sides.of_ours))
        times[0].append(seconds)
        times[1].append(our_seconds)
        missing = max(missing, sum(line not in all_lines for line in of_ranks or lines))
    return {"model": model, "end": end, "cores": cores, "events_of_ross": theirs, "events_of_ours": ours,
            "lines": len(lines), "lines_not_of_ross": missing,
            "seconds_of_ross": min(times[0]), "seconds_of_ours": min(times[1])}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\nusage")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cores", type=int, default=2,
                        help="cores of the second measurement; 1: no second measurement (%(default)s)")
    parser.add_argument("--until", type=float, default=1.0,
                        help="runs end at this share of each model's end (%(default)s)")
    parser.add_argument("--json", type=Path)
    parser.add_argument("theirs", type=Path)
    parser.add_argument("ours", type=Path)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="default: all of " + ", ".join(MODELS))
    options = parser.parse_args()
    for model in options.models:
        if model not in MODELS:
            parser.error(f"{model}: must be one of {', '.join(MODELS)}")
    rows = []
    print("| model | end | cores | events, ROSS | ours | lines, of which not in ROSS's | ROSS, s | ours, s | ROSS / ours |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        sides = Sides(options.theirs, options.ours, Path(folder))
        for model in options.models or MODELS:
            for cores in sorted({1, options.cores if MODELS[model][3] else 1}):
                row = measured(sides, model, MODELS[model][0] * options.until, cores, options.rounds)
                rows.append(row)
                print(f"| {model} | {row['end']:g} | {cores} | {row['events_of_ross']:,} | {row['events_of_ours']:,} "
                      f"| {row['lines']}, {row['lines_not_of_ross']} | {row['seconds_of_ross']:.3f} "
                      f"| {row['seconds_of_ours']:.3f} | {row['seconds_of_ross'] / row['seconds_of_ours']:.2f} |",
                      flush=True)
    if options.json:
        options.json.write_text(json.dumps({**sides.facts, "rounds": options.rounds, "rows": rows}, indent=1) + "\n")
    # On several cores, ROSS orders events at equal times by their arrival. A difference on several
    # cores is only printed: it is not a failure.
    wrong = [row["model"] for row in rows if row["cores"] == 1 and
             (row["events_of_ross"] != row["events_of_ours"] or row["lines_not_of_ross"] > 0)]
    if wrong:
        raise SystemExit("not the same on one core: " + ", ".join(wrong))


if __name__ == "__main__":
    main()
