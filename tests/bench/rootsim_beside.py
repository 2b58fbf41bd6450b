#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares models for ROOT-Sim that are built with ROOT-Sim and with our interface. Runs of both
programs alternate. The results are medians over the rounds: seconds of wall time and of process
time. The machine should be quiet. The sources belong to ROOT-Sim, so both folders are made by hand.
Each folder contains correctness_serial, correctness_parallel and phold3_1, phold3_2 (tests of core
3, phold with NUM_THREADS=1 and 2), classic_pcs, classic_phold, classic_packet (models of version
2), and models_<name> for each model of COLLECTION (ROOT-Sim/models, with core's branch develop).
For the models of COLLECTION, ROOT-Sim's libraries are changed so that they draw the same numbers as
ours: the master seed is 0, and topologies draw from one stream per LP. In sugarscape, CanEnd
returns false: without this change, the model ends after LP_INIT.

usage: tests/bench/rootsim_beside.py [--rounds N] [--json FILE] OURS THEIRS [PROGRAM...]"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

SECONDS_MAX = 60
TIMEOUT_EXPIRED = 124  # the exit code of the command timeout
# Options of both programs.
CLASSIC_SEQUENTIAL, CLASSIC_TWO = ["--sequential"], ["--wt", "2"]
ROWS = [("correctness_serial", []), ("correctness_parallel", []), ("phold3_1", []), ("phold3_2", [])]
ROWS += [(f"classic_{model}", ["--lp", str(lps), *engine]) for model, lps in
         (("pcs", 256), ("phold", 256), ("packet", 1024)) for engine in (CLASSIC_SEQUENTIAL, CLASSIC_TWO)]
# The number of LPs and the end of each model.
COLLECTION = {"phold": (8192, 1000), "nosql": (512, 100000), "pcs": (256, 1000), "segregation": (16384, 100),
              "tcar": (4096, 10000), "stupid_model": (6400, 1000), "robot_explore": (256, 2000000),
              "sugarscape": (4096, 10000)}
COLLECTION_SEQUENTIAL, COLLECTION_TWO = ["--serial"], ["-c", "2"]
ROWS += [(f"models_{model}", ["-p", str(lps), "-t", str(end), *engine]) for model, (lps, end) in COLLECTION.items()
         for engine in (COLLECTION_SEQUENTIAL, COLLECTION_TWO)]
NAMES = sorted({program for program, _ in ROWS})


def own_words(program, stats):
    """Options of ROOT-Sim's program only, and options of our program only."""
    ours = ["--quiet", "--stats", stats]
    if program.startswith("classic_"):
        return ["--deterministic-seed"], ours
    if program.startswith("models_"):
        return ["-l", "silent"], ["--", *ours]
    return [], ours


def run(folder, work, program, options, own):
    """Seconds of wall time and of process time, or None if the program does not end in
    SECONDS_MAX."""
    began, before = time.monotonic(), os.times()
    # Not subprocess's own timeout: with it, Python polls for the end of the program every 50 ms.
    done = subprocess.run(["timeout", str(SECONDS_MAX), folder / program, *options, *own], cwd=work,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": str(work)})
    if done.returncode == TIMEOUT_EXPIRED:
        return None
    done.check_returncode()
    after = os.times()
    return (time.monotonic() - began, after.children_user + after.children_system - before.children_user
            - before.children_system)


def medians(runs):
    """The medians of wall time and of process time, or None if a run did not end."""
    return None if None in runs else [statistics.median(column) for column in zip(*runs)]


def shown(seconds):
    return f"no end in {SECONDS_MAX} s" if seconds is None else "{:.2f} ({:.2f})".format(*seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\nusage")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("ours", type=Path)
    parser.add_argument("theirs", type=Path)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="default: all of " + ", ".join(NAMES))
    given = parser.parse_args()
    for program in given.programs:
        if program not in NAMES:
            parser.error(f"{program}: must be one of {', '.join(NAMES)}")
    ours, theirs = given.ours.resolve(), given.theirs.resolve()
    rows, facts = [], {}
    print("| model | ROOT-Sim, s (of all cores) | our interface | ROOT-Sim / ours |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(prefix="numawarp-") as work:
        # The master seed of classic ROOT-Sim, which is 1 here.
        (Path(work) / ".rootsim").mkdir()
        (Path(work) / ".rootsim" / "numerical.conf").write_text("1\n")
        stats = Path(work) / "stats.json"
        for program, options in ROWS:
            if given.programs and program not in given.programs:
                continue
            their_words, our_words = own_words(program, stats)
            pairs = []
            for _ in range(given.rounds):
                pairs.append((run(theirs, work, program, options, their_words),
                              run(ours, work, program, options, our_words)))
                if None in pairs[-1]:
                    break
            of_theirs, of_ours = (medians(side) for side in zip(*pairs))
            ratio = of_theirs[0] / of_ours[0] if of_theirs and of_ours else None
            # The statistics of our programs contain machine, commit and date of the figures.
            if not facts and stats.exists():
                facts = {name: json.loads(stats.read_text())[name] for name in ("machine", "commit", "date")}
            rows.append({"program": program, "options": options, "seconds_of_rootsim": of_theirs,
                         "seconds_of_ours": of_ours, "ratio": ratio})
            print(f"| {' '.join([program, *options])} | {shown(of_theirs)} | {shown(of_ours)} "
                  f"| {f'{ratio:.2f}' if ratio else ''} |", flush=True)
    if given.json:
        given.json.write_text(json.dumps({**facts, "rounds": given.rounds, "seconds": ["wall", "process"],
                                          "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
