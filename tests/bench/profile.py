#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the nanoseconds of CPU time per event in each function, for several command lines side by
side. Takes samples with `perf record -e cpu-clock`, which also works without hardware counters.

usage: tests/bench/profile.py [--rows N] NAME='COMMAND...'...
Each command is a program of a model with its options; --stats and --quiet are added."""

import argparse
import json
import re
import shlex
import subprocess
import tempfile
from pathlib import Path

SAMPLES_A_SECOND = 5000
SAMPLE = re.compile(r"\s*[\d.]+%\s+(\d+)\s+\S+\s+\S+\s+\[(.)\]\s+(.*)")


def profile(command):
    """The statistics of a run, and nanoseconds per event by function. Functions of the kernel have
    the prefix `kernel: `."""
    with tempfile.TemporaryDirectory() as folder:
        data, stats = Path(folder, "perf.data"), Path(folder, "stats.json")
        subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", str(SAMPLES_A_SECOND), "-o", data,
                        *shlex.split(command), "--quiet", "--stats", stats], check=True,
                       stderr=subprocess.DEVNULL)
        report = subprocess.run(["perf", "report", "-i", data, "--no-children", "-n"], check=True,
                                capture_output=True, text=True).stdout
        run = json.loads(stats.read_text())
    events = run["committed_events"]
    functions = {}
    for line in report.splitlines():
        found = SAMPLE.match(line)
        if found:
            name = ("kernel: " if found[2] == "k" else "") + re.sub(r"\(.*", "", found[3].replace(
                "(anonymous namespace)::", ""))
            functions[name] = functions.get(name, 0) + int(found[1]) * 1e9 / SAMPLES_A_SECOND / events
    return run, functions


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\nusage")[0])
    parser.add_argument("--rows", type=int, default=25, help="functions shown (%(default)s)")
    parser.add_argument("commands", nargs="+", metavar="NAME=COMMAND")
    options = parser.parse_args()
    columns = {}
    for text in options.commands:
        name, equals, command = text.partition("=")
        if not equals:
            parser.error(f"{text}: must be NAME=COMMAND")
        columns[name] = profile(command)
    print("| function | " + " | ".join(columns) + " |")
    print("| --- |" + " --- |" * len(columns))
    wall = [run["wall_seconds"] * 1e9 / run["committed_events"] for run, _ in columns.values()]
    print("| wall time | " + " | ".join(f"{ns:.0f}" for ns in wall) + " |")
    print("| CPU time | " + " | ".join(f"{sum(f.values()):.0f}" for _, f in columns.values()) + " |")
    names = {name for _, functions in columns.values() for name in functions}
    largest = sorted(names, key=lambda name: -max(f.get(name, 0) for _, f in columns.values()))
    for name in largest[:options.rows]:
        cells = [f"{f[name]:.1f}" if name in f else "" for _, f in columns.values()]
        print(f"| `{name}` | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
