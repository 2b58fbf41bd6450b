#!/usr/bin/env python3
"""What page migration and rebinding cost where they can gain nothing, on a machine with one node, and
what rebinding gains where load wanders.

usage: numa_cost.py FOLDER-OF-PROGRAMS [ROUNDS] [--json FILE]

Pairs of runs of the same program, with these on and off, in alternating order; prints the median over
the pairs of the ratio of their speeds.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

OFF = ["--rebind", "off", "--pagemigd", "off"]
ALL = ["--rebind", "1", "--pagemigd", "2@0.5"]
OFTEN = ["--rebind", "0.05", "--pagemigd", "off"]
# name, program and options, what is on, least ratio wanted
CASES = [
    ("phold 1,024 x 16", ["phold", "--lps", "1024", "--events-per-lp", "16", "--until", "800"],
     ALL, 0.97),
    ("phold 65,536 x 1", ["phold", "--lps", "65536", "--until", "150"], ALL, 0.97),
    ("traffic, 1024 objects", ["traffic", "--objects", "1024", "--until", "14400"], ALL, 0.97),
    ("phold, hot spot of 60 %",
     ["phold", "--lps", "4096", "--events-per-lp", "4", "--until", "1000", "--hot-spot", "0.6",
      "--hot-spot-period", "4000"], OFTEN, 1.05),
]


def run(programs, case, options, stats):
    """The statistics of one run."""
    program, *arguments = case
    subprocess.run([programs / program, *arguments, *options, "--quiet", "--stats", stats],
                   check=True)
    return json.loads(stats.read_text())


def main(programs, rounds, json_file):
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        stats = Path(folder) / "stats.json"
        for name, case, on, wanted in CASES:
            ratios = []
            for i in range(rounds):
                order = [OFF, on] if i % 2 == 0 else [on, OFF]
                runs = [run(programs, case, options, stats) for options in order]
                off_run, on_run = runs if i % 2 == 0 else reversed(runs)
                if off_run["digest"] != on_run["digest"]:
                    sys.exit(f"{name}: the digests differ")
                ratios.append(on_run["events_per_second"] / off_run["events_per_second"])
            ratio = statistics.median(ratios)
            results[name] = {"on": on, "ratio": ratio, "ratios": ratios, "wanted": wanted}
            verdict = "reached" if ratio >= wanted else "MISSED"
            print(f"{name:26} on / off {ratio:.3f} ({min(ratios):.3f} to {max(ratios):.3f})"
                  f"  wanted at least {wanted}  {verdict}", flush=True)
    if json_file:
        Path(json_file).write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    file = None
    if "--json" in arguments:
        at = arguments.index("--json")
        file = arguments[at + 1]
        del arguments[at:at + 2]
    if not 1 <= len(arguments) <= 2:
        sys.exit(__doc__)
    main(Path(arguments[0]), int(arguments[1]) if len(arguments) == 2 else 7, file)
