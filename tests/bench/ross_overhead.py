#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of the interface for ROSS's models, in instructions and nanoseconds per
committed event. PHOLD in ROSS's style is compared with PHOLD for our own interface, which draws the
same numbers from the same generator. The rounds of both programs alternate. The nanoseconds are
those of the fastest round of each program.

usage: tests/bench/ross_overhead.py [--rounds N] [--until TIME] FOLDER-OF-PROGRAMS"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

from instructions import instructions

INTERFACE, NATIVE = "ross_phold", "ross_phold_native"
ENGINES = {
    "sequential": "--engine sequential",
    "timewarp, 1 worker": "--engine timewarp --workers 1",
    "timewarp, 1 worker, past kept": "--engine timewarp --workers 1 --keep-safe-events on",
    "timewarp, 2 workers": "--engine timewarp --workers 2",
    "sequential, commit handlers": "--engine sequential --commits",
}
COMMON = "--lps 1024 --events-per-lp 16 --remote 0.1 --watchdog off --quiet --stats stats.json"
LENGTHS = (4, 36)


def command_of(program, words, until):
    # ROSS's options have `=` before their value.
    options = f"{COMMON} {words} --until {until}"
    if program == INTERFACE:
        for name in ("lps", "events-per-lp", "remote"):
            options = options.replace(f"--{name} ", f"--{name}=")
    return [program, *options.split()]


class Pair:
    def __init__(self, programs, folder, words):
        self.programs, self.folder, self.words = programs, folder, words

    def statistics(self):
        return json.loads((self.folder / "stats.json").read_text())

    def instructions(self, program):
        counts, events = [], []
        for until in LENGTHS:
            counts.append(instructions(self.programs, self.folder, command_of(program, self.words, until)))
            events.append(self.statistics()["committed_events"])
        return (counts[1] - counts[0]) / (events[1] - events[0]), events

    def nanoseconds(self, program, until):
        name, *options = command_of(program, self.words, until)
        subprocess.run([self.programs / name, *options], check=True, cwd=self.folder, stdout=subprocess.DEVNULL)
        statistics = self.statistics()
        return statistics["wall_seconds"] * 1e9 / statistics["committed_events"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\nusage")[0])
    parser.add_argument("--rounds", type=int, default=5, help="timed runs of each program; 0: none (%(default)s)")
    parser.add_argument("--until", type=float, default=300,
                        help="virtual time at which the timed runs end (%(default)s)")
    parser.add_argument("--engines", nargs="*", default=list(ENGINES), choices=ENGINES)
    parser.add_argument("programs", type=Path)
    options = parser.parse_args()
    print("| engine | native, instructions | interface | ratio | native, ns | interface | ratio |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        for name in options.engines:
            pair = Pair(options.programs.resolve(), Path(folder), ENGINES[name])
            (native, wanted), (interface, events) = pair.instructions(NATIVE), pair.instructions(INTERFACE)
            if events != wanted:
                raise SystemExit(f"{name}: {events} events; allowed: {wanted}, as in numawarp's model")
            cells = [f"{native:.0f}", f"{interface:.0f}", f"{interface / native:.3f}"]
            times = [[pair.nanoseconds(program, options.until) for program in (NATIVE, INTERFACE)]
                     for _ in range(options.rounds)]
            if times:
                best = [min(column) for column in zip(*times)]
                cells += [f"{best[0]:.0f}", f"{best[1]:.0f}", f"{best[1] / best[0]:.3f}"]
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
