#!/usr/bin/env python3
"""Prints the instructions of a committed event: what cachegrind counts in a longer run beyond a shorter one. The rows
are PHOLD without an engine (limit_bench); PHOLD, PCS and traffic on the sequential engine and with one worker; and
events as structs beside events as bytes, with one type and with four. The machine does not matter, compiler and
libraries do.

usage: tests/bench/instructions.py FOLDER-OF-PROGRAMS"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "jobs"))
from paper_state_saving.cachegrind import read_summary  # noqa: E402

LIMIT = "limit_bench 1024 16 0.1 {}"
TYPED = "typed_bench --events {} --engine sequential"
ENGINES = ("--engine sequential", "--workers 1")
# (the command, its two lengths: of limit_bench in events, of models in virtual time)
MODELS = [("phold --lps 1024 --events-per-lp 16 --remote 0.1 --state 16", (4, 36)),
          ("pcs", (20, 100)),
          ("traffic --objects 1024", (300, 900))]
TYPED_LENGTHS = (2, 14)


def model(command):
    """The command of a run until a time that is still to be given."""
    return command + " --watchdog off --quiet --until {} --stats stats.json"


def instructions(programs, folder, words):
    """Executed by a program of that folder, whose name comes first."""
    program, *options = words
    done = subprocess.run(["valgrind", "-q", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=counts",
                           programs / program, *options], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return read_summary(folder / "counts")["Ir"]


def an_event(programs, folder, command, lengths):
    counts, events = [], []
    for length in lengths:
        counts.append(instructions(programs, folder, command.format(length).split()))
        events.append(length if command == LIMIT
                      else json.loads((folder / "stats.json").read_text())["committed_events"])
    return (counts[1] - counts[0]) / (events[1] - events[0])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        programs, folder = Path(sys.argv[1]).resolve(), Path(folder)
        print(f"{LIMIT.split()[0]}: {an_event(programs, folder, LIMIT, (64_000, 588_000)):.0f}")
        for command, lengths in MODELS:
            for engine in ENGINES:
                count = an_event(programs, folder, model(f"{command} {engine}"), lengths)
                print(f"{command} {engine}: {count:.0f}")
        counts = {events: an_event(programs, folder, model(TYPED.format(events)), TYPED_LENGTHS)
                  for events in ("untyped", "one", "four")}
        for events, count in counts.items():
            print(f"typed_bench, {events}: {count:.0f}, {count / counts['untyped'] - 1:+.2%}")


if __name__ == "__main__":
    main()
