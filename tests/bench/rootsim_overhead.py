#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of the interface for ROOT-Sim's models. PHOLD with this interface
(rootsim_phold.c) is compared with two models: the same model written for numawarp
(rootsim_twin.cpp), which must have the same digest, and our own PHOLD, which draws from another
generator.

Instructions per committed event are the difference of cachegrind's counts of a longer and of a
shorter run. Instructions are not counted for several workers, because cachegrind runs one thread at
a time. Times are ns of wall time per event, medians of alternating runs, on a machine that should
be quiet.

usage: tests/bench/rootsim_overhead.py FOLDER-OF-PROGRAMS [instructions | times [ROUNDS]]"""

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "jobs"))
from lib.cachegrind import read_summary  # noqa: E402

LPS, EVENTS_PER_LP, REMOTE = 1024, 16, 0.1
ENGINES = {
    "sequential": ["--engine", "sequential"],
    "one worker": ["--workers", "1"],
    "one worker, past kept": ["--workers", "1", "--keep-safe-events", "on"],
    "two workers": ["--workers", "2"],
}
COUNTED = [name for name in ENGINES if name != "two workers"]
LENGTHS = (2, 10)  # ends of the runs whose instructions are counted, in virtual time
TIMED = 120


def through_the_door(until):
    return ["rootsim_phold", *map(str, (LPS, EVENTS_PER_LP, REMOTE, until)), "--"]


def twin(until):
    return ["rootsim_twin", "--lps", str(LPS), "--events-per-lp", str(EVENTS_PER_LP), "--remote", str(REMOTE),
            "--until", str(until)]


def our_phold(until):
    return ["phold", "--state", "16", *twin(until)[1:]]


MODELS = (through_the_door, twin, our_phold)


def run(programs, folder, command, options, prefix=()):
    """Runs the program and returns its statistics."""
    program, *words = command
    subprocess.run([*prefix, programs / program, *words, *options, "--watchdog", "off", "--quiet", "--stats",
                    "stats.json"], check=True, cwd=folder, stdout=subprocess.DEVNULL)
    return json.loads((folder / "stats.json").read_text())


def instructions(programs, folder, model, options):
    """Instructions per committed event, and the digest of the longer run."""
    counts, events = [], []
    for until in LENGTHS:
        stats = run(programs, folder, model(until), options,
                    ("valgrind", "-q", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=counts"))
        counts.append(read_summary(folder / "counts")["Ir"])
        events.append(stats["committed_events"])
    return (counts[1] - counts[0]) / (events[1] - events[0]), stats["digest"]


def times(programs, folder, rounds, options):
    """ns per event of each of MODELS, for each round."""
    taken = []
    for _ in range(rounds):
        runs = [run(programs, folder, model(TIMED), options) for model in MODELS]
        demand_one_digest(*(stats["digest"] for stats in runs[:2]))
        taken.append([1e9 * stats["wall_seconds"] / stats["committed_events"] for stats in runs])
    return taken


def demand_one_digest(interface, native):
    if interface != native:
        sys.exit(f"the digests of the two models differ: {interface} and {native}")


def main():
    _, programs, *words = sys.argv if len(sys.argv) > 1 else sys.exit(__doc__)
    what = words[0] if words else "instructions"
    if what not in ("instructions", "times") or len(words) > 2:
        sys.exit(__doc__)
    programs = Path(programs).resolve()
    unit = "instructions" if what == "instructions" else "ns"
    print(f"| engine | with the interface, {unit} per event | written for numawarp | ratio | our PHOLD |\n"
          "| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        for name in COUNTED if what == "instructions" else ENGINES:
            options = ENGINES[name]
            if what == "instructions":
                (interface, interface_digest), (native, digest), (ours, _) = (
                    instructions(programs, Path(folder), model, options) for model in MODELS)
                demand_one_digest(interface_digest, digest)
                ratio = interface / native
            else:
                rounds = times(programs, Path(folder), int(words[1]) if len(words) > 1 else 5, options)
                interface, native, ours = (statistics.median(column) for column in zip(*rounds))
                ratio = statistics.median(row[0] / row[1] for row in rounds)
            print(f"| {name} | {interface:.0f} | {native:.0f} | {ratio:.3f} | {ours:.0f} |", flush=True)


if __name__ == "__main__":
    main()
