#!/usr/bin/env python3
"""What the NUMA machinery costs where it can gain nothing: on a machine with one node.

usage: numa_cost.py FOLDER-OF-PROGRAMS [ROUNDS] [--json FILE]

Pairs of runs of the same program, with page migration and rebinding on and off, in alternating
order; prints the median over the pairs of the ratio of their speeds, wanted at least 0.97.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

WANTED = 0.97
IDLE = ["--rebind", "off", "--pagemigd", "off"]
BUSY = ["--rebind", "1", "--pagemigd", "2@0.5"]
CASES = {
    "phold 1,024 x 16": ["phold", "--lps", "1024", "--events-per-lp", "16", "--until", "800"],
    "phold 65,536 x 1": ["phold", "--lps", "65536", "--until", "150"],
    "traffic, 1024 objects": ["traffic", "--objects", "1024", "--until", "14400"],
}


def speed(programs, case, options, stats):
    program, *arguments = case
    subprocess.run([programs / program, *arguments, *options, "--quiet", "--stats", stats],
                   check=True)
    return json.loads(stats.read_text())


def main(programs, rounds, json_file):
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        stats = Path(folder) / "stats.json"
        for name, case in CASES.items():
            ratios, idle_speeds = [], []
            for i in range(rounds):
                order = [IDLE, BUSY] if i % 2 == 0 else [BUSY, IDLE]
                runs = {tuple(options): speed(programs, case, options, stats) for options in order}
                idle, busy = runs[tuple(IDLE)], runs[tuple(BUSY)]
                if idle["digest"] != busy["digest"]:
                    sys.exit(f"{name}: the digests differ")
                ratios.append(busy["events_per_second"] / idle["events_per_second"])
                idle_speeds.append(idle["events_per_second"])
            ratio = statistics.median(ratios)
            results[name] = {"ratio": ratio, "ratios": ratios,
                             "idle_events_per_second": statistics.median(idle_speeds)}
            verdict = "reached" if ratio >= WANTED else "MISSED"
            print(f"{name:24} on / off {ratio:.3f} ({min(ratios):.3f} to {max(ratios):.3f})"
                  f"  wanted at least {WANTED}  {verdict}", flush=True)
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
