#!/usr/bin/env python3
"""Instructions of a committed event of PHOLD, of the sequential engine and of the loop without an engine: what
cachegrind counts in a longer run beyond a shorter one. The machine does not matter, compiler and libraries do.
And what events as structs cost beside events as bytes, with one type and with four.

usage: tests/bench/instructions.py FOLDER-OF-PROGRAMS"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "jobs"))
from paper_state_saving.cachegrind import read_summary  # noqa: E402

PHOLD = ("phold --lps 1024 --events-per-lp 16 --remote 0.1 --state 16 --engine sequential --watchdog off --quiet "
         "--until {} --stats stats.json")
LIMIT = "limit_bench 1024 16 0.1 {}"
LENGTHS = {PHOLD: (4, 36), LIMIT: (64_000, 588_000)}
TYPED = "typed_bench --events {} --engine sequential --watchdog off --quiet --until {{}} --stats stats.json"


def instructions(programs, folder, words):
    """Executed by a program of that folder, whose name comes first."""
    program, *options = words
    subprocess.run(["valgrind", "-q", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=counts",
                    programs / program, *options], check=True, cwd=folder, stdout=subprocess.DEVNULL)
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
        for command, lengths in LENGTHS.items():
            print(f"{command.split()[0]}: {an_event(programs, folder, command, lengths):.0f}")
        counts = {events: an_event(programs, folder, TYPED.format(events), (2, 14))
                  for events in ("untyped", "one", "four")}
        for events, count in counts.items():
            print(f"typed_bench, {events}: {count:.0f}, {count / counts['untyped'] - 1:+.2%}")


if __name__ == "__main__":
    main()
