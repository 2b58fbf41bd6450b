#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost or gain of an option: pairs of runs with the option off and on, in alternating
order. Influences on both runs of a pair (a busy machine, a warm one) cancel in their ratio, and the
median over pairs ignores single disturbances.

usage: on_off.py numa|place|ranks|trace FOLDER-OF-PROGRAMS [ROUNDS] [--json FILE]

numa   the cost of page migration and rebinding on a machine with one node, where they gain nothing;
       and the gain of rebinding if the load moves
place  the cost of each --place, compared with local, on a machine with one node, where --place has
       no choice
ranks  the cost or gain of moves of groups between two ranks with one worker each, under mpirun, if
       the load moves, and if the load is balanced
trace  the cost of --trace in the event loop (the file is written after the loop)"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

OFF = ["--rebind", "off", "--pagemigd", "off"]
ALL = ["--rebind", "1", "--pagemigd", "2@0.5"]
OFTEN = ["--rebind", "0.05", "--pagemigd", "off"]
SPOT = ["--lps", "4096", "--events-per-lp", "4", "--hot-spot", "0.6",
        "--engine", "timewarp", "--workers", "1", "--rebind", "0.05",
        "--lps-per-group", "32"]
WANDERS = ["--hot-spot-period", "1600"]
STANDS = ["--hot-spot-period", "1000000"]
TRACE = ["--trace", "FOLDER/trace.json"]  # a folder that is deleted after the run
STAY = ["--rebind-ranks", "off"]
MOVE = ["--rebind-ranks", "on"]
TWO = ["--engine", "timewarp", "--workers", "2", "--rebind", "off"]

TWO_RANKS = ["mpirun", "--allow-run-as-root", "--map-by", "slot:OVERSUBSCRIBE", "--bind-to", "none", "-np", "2",
             "sh", "-c", 'exec taskset -c "$OMPI_COMM_WORLD_LOCAL_RANK" "$@"', "--"]

# For each measurement: the number of rounds, and the cases. A case consists of: name, program and
# options, options for off, options for on, smallest ratio that is required.
CASES = {
    "numa": (7, [
        ("phold 1,024 x 16", ["phold", "--lps", "1024", "--events-per-lp", "16", "--until", "800"],
         OFF, ALL, 0.97),
        ("phold 65,536 x 1", ["phold", "--lps", "65536", "--until", "150"], OFF, ALL, 0.97),
        ("traffic, 1024 objects", ["traffic", "--objects", "1024", "--until", "14400"], OFF, ALL, 0.97),
        ("phold, hot spot of 60 %",
         ["phold", "--lps", "4096", "--events-per-lp", "4", "--until", "1000", "--hot-spot", "0.6",
          "--hot-spot-period", "4000"], OFF, OFTEN, 1.05)]),
    "place": (7, [
        (f"{name}, {place}", command, ["--place", "local"], ["--place", place], 0.99)
        for place in ("interleave", "weighted", "asymsched", "auto")
        for name, command in (
            ("phold", ["phold", "--lps", "1024", "--events-per-lp", "16", "--until", "800"]),
            ("traffic", ["traffic", "--objects", "1024", "--until", "14400"]))]),
    "ranks": (5, [
        ("hot spot that wanders",
         ["phold", *SPOT, *WANDERS, "--until", "400", "--work", "500"], STAY, MOVE, 1.3),
        ("hot spot that stands still",
         ["phold", *SPOT, *STANDS, "--until", "400", "--work", "500"], STAY, MOVE, 1.3),
        ("that wanders, short events",
         ["phold", *SPOT, *WANDERS, "--until", "1600"], STAY, MOVE, 1.0),
        ("balanced traffic",
         ["traffic", "--objects", "1024", "--until", "14400",
          "--engine", "timewarp", "--workers", "1", "--rebind", "0.05"],
         STAY, MOVE, 0.97)]),
    # PHOLD has events of 0.2 µs and about one rollback per 100 events, in one case many rollbacks.
    # The other model has events of 1 µs.
    "trace": (11, [
        ("phold 1,024 x 16",
         ["phold", "--lps", "1024", "--events-per-lp", "16", "--until", "2000", *TWO], [], TRACE, 0.95),
        ("phold 65,536 x 1", ["phold", "--lps", "65536", "--until", "150", *TWO], [], TRACE, 0.95),
        ("phold, half to others",
         ["phold", "--lps", "1024", "--events-per-lp", "4", "--remote", "0.5", "--until", "1000", *TWO],
         [], TRACE, 0.95),
        ("traffic, 1024 objects", ["traffic", "--objects", "1024", "--until", "5000", *TWO],
         [], TRACE, 0.95)]),
}


def ahead_of_others():
    """Words before a command that give it priority over other programs, if that is allowed."""
    words = ["chrt", "--fifo", "50"]
    try:
        allowed = subprocess.run([*words, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        allowed = False
    return words if allowed else []


def run(programs, command, before=()):
    """The statistics of one run of `command`: a program's name and its options."""
    program, *arguments = command
    # The addresses of the heap's blocks depend on the length of each name, and these addresses
    # change the speed by some percent. With names of random length, the runs of an option have
    # different addresses.
    with tempfile.TemporaryDirectory(prefix="r" * random.randint(1, 99)) as folder:
        stats = Path(folder) / "stats.json"
        arguments = [word.replace("FOLDER", folder) for word in arguments]
        subprocess.run([*before, programs / program, *arguments, "--quiet", "--stats", stats],
                       check=True)
        return json.loads(stats.read_text())


def ratios(name, programs, command, off, on, rounds, before):
    """The speed with `on` divided by the speed with `off`, for each pair."""
    found = []
    for i in range(rounds):
        order = [off, on] if i % 2 == 0 else [on, off]
        pair = [run(programs, [*command, *options], before) for options in order]
        off_run, on_run = pair if i % 2 == 0 else reversed(pair)
        if off_run["digest"] != on_run["digest"]:
            sys.exit(f"{name}: the digests differ")
        found.append(on_run["events_per_second"] / off_run["events_per_second"])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=CASES)
    parser.add_argument("programs", type=Path)
    parser.add_argument("rounds", type=int, nargs="?")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rounds, cases = CASES[given.what]
    before = TWO_RANKS if given.what == "ranks" else ahead_of_others()
    results = {}
    for name, command, off, on, wanted in cases:
        found = ratios(name, given.programs, command, off, on, given.rounds or rounds, before)
        ratio = statistics.median(found)
        print(f"{name:26} on / off {ratio:.3f} ({min(found):.3f} to {max(found):.3f})  required: at least "
              f"{wanted}  {'reached' if ratio >= wanted else 'MISSED'}", flush=True)
        results[name] = {"on": on, "ratio": ratio, "ratios": found, "wanted": wanted}
    if given.json:
        # The file also contains the facts for which the results hold: the machine, the commit and
        # the date.
        about = run(given.programs, ["phold", "--until", "1"])
        facts = {name: about[name] for name in ("machine", "commit", "date")}
        given.json.write_text(json.dumps({**facts, "results": results}, indent=2) + "\n")


if __name__ == "__main__":
    main()
