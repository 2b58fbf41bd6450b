#!/usr/bin/env python3
"""Models for ROOT-Sim, built with it and by our door, in turns: seconds of wall time and of process time, medians
of rounds, on a machine that should be quiet. The sources are ROOT-Sim's own, so both folders are made by hand:
each holds correctness_serial, correctness_parallel and phold3_1, phold3_2 (tests of core 3, phold with
NUM_THREADS=1 and 2), and classic_pcs, classic_phold, classic_packet (models of version 2).

usage: tests/bench/rootsim_beside.py OURS THEIRS [ROUNDS]"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SECONDS_MAX = 60
# What both are given.
CLASSIC_SEQUENTIAL, CLASSIC_TWO = ["--sequential"], ["--wt", "2"]
ROWS = [("correctness_serial", []), ("correctness_parallel", []), ("phold3_1", []), ("phold3_2", [])]
ROWS += [(f"classic_{model}", ["--lp", str(lps), *engine]) for model, lps in
         (("pcs", 256), ("phold", 256), ("packet", 1024)) for engine in (CLASSIC_SEQUENTIAL, CLASSIC_TWO)]


def run(folder, work, program, options, own):
    """Seconds of wall and of process time; None if it does not end."""
    began, before = time.monotonic(), os.times()
    try:
        subprocess.run([folder / program, *options, *own], check=True, cwd=work, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=SECONDS_MAX, env={**os.environ, "HOME": str(work)})
    except subprocess.TimeoutExpired:
        return None
    after = os.times()
    return (time.monotonic() - began, after.children_user + after.children_system - before.children_user
            - before.children_system)


def shown(runs):
    if None in runs:
        return f"no end in {SECONDS_MAX} s", None
    wall, process = (statistics.median(column) for column in zip(*runs))
    return f"{wall:.2f} ({process:.2f})", wall


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    ours, theirs = (Path(folder).resolve() for folder in sys.argv[1:3])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    print("| model | ROOT-Sim, s (of all cores) | our door | ROOT-Sim / ours |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(prefix="numawarp-") as work:
        # Classic ROOT-Sim's master seed, which is 1 here.
        (Path(work) / ".rootsim").mkdir()
        (Path(work) / ".rootsim" / "numerical.conf").write_text("1\n")
        for program, options in ROWS:
            keeps_seed = ["--deterministic-seed"] if program.startswith("classic") else []
            pairs = []
            for _ in range(rounds):
                pairs.append((run(theirs, work, program, options, keeps_seed),
                              run(ours, work, program, options, ["--quiet"])))
                if None in pairs[-1]:
                    break
            (their_words, their_wall), (our_words, our_wall) = (shown(side) for side in zip(*pairs))
            ratio = f"{their_wall / our_wall:.2f}" if their_wall and our_wall else ""
            print(f"| {' '.join([program, *options])} | {their_words} | {our_words} | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
