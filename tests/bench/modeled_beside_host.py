#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the modeled time of one worker on one node (./jobs/run timed) with the CPU time on this machine, for PHOLD,
PCS and traffic. The time of an instruction is chosen once, so that PHOLD has its time on this machine. Then the same
value is used for the other models. The machine should be quiet. Each time is the difference between a long and a short
run, so that set-up is not part of it.

usage: tests/bench/modeled_beside_host.py [--rounds N] [--caches NAME] [--programs DIR]"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "jobs"))
from research.qemu.call import called  # noqa: E402

ENGINE = ["--engine", "timewarp", "--workers", "1", "--pagemigd", "off", "--huge-pages", "off", "--quiet"]
# The command line, and the end times of the short and of the long run, which takes about half a second.
MODELS = {"phold": (["--lps", "8192", "--state", "1024"], 40, 240), "pcs": (["--width", "60", "--height", "60"], 600, 3600),
          "traffic": (["--objects", "1024"], 300, 1500)}


def host_seconds(program, words, until):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([program, *words, *ENGINE, "--until", str(until)], check=True, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def modeled(programs, name, words, until, options):
    """(seconds, instructions) of the event loop."""
    with tempfile.TemporaryDirectory() as folder:
        stats = Path(folder) / "stats.json"
        found, done = called("timed", programs, "n1", [programs / name, *words, *ENGINE, "--until", until, "--stats", stats],
                             ["--rw", folder, *options])
        if done.returncode != 0:
            sys.exit(done.stderr)
        return json.loads(stats.read_text())["wall_seconds"], found["event_loop"]["instructions"]


def difference(measure, short, long):
    return [b - a for a, b in zip(measure(short), measure(long))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="runs on this machine of each kind [5]")
    parser.add_argument("--caches", default="epyc7003", help="caches of the model, similar to those of this machine [epyc7003]")
    parser.add_argument("--programs", type=Path, default=ROOT / "build/bin")
    given = parser.parse_args()
    host = {}
    for name, (words, short, long) in MODELS.items():
        host[name] = statistics.median(
            difference(lambda until: [host_seconds(given.programs / name, words, until)], short, long)[0]
            for _ in range(given.rounds))

    def model(name, instruction):
        words, short, long = MODELS[name]
        return difference(lambda until: modeled(given.programs, name, words, until,
                                                ["--caches", given.caches, "--instruction", instruction]), short, long)

    trial = 0.25
    seconds, instructions = model("phold", trial)
    chosen = max(0.01, trial + 1e9 * (host["phold"] - seconds) / instructions)
    print(f"time of an instruction {chosen:.3f} ns, from PHOLD with {trial} ns: {seconds:.3f} s, {instructions:,} instructions")
    for name, measured in host.items():
        seconds, _ = model(name, f"{chosen:.4f}")
        print(f"{name}: this machine {measured:.3f} s (user CPU time), modeled {seconds:.3f} s, {100 * (seconds / measured - 1):+.0f} %")


main()
