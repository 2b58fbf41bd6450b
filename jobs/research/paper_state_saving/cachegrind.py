# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions and cache misses of one variant by cachegrind. The counts are the difference
of two runs with different end times, so they do not contain the set-up and the first events. In a
second pair of runs, a TLB replaces the first-level cache.

cachegrind runs one thread at a time, about fifty times slower than the machine, and simulates no
prefetching. With a GVT interval of 300 ms, there are about as many events between two rounds as on
the machine with 4 ms. Pinning, rebinding and pagemigd are off, because their
intervals in milliseconds do not fit this speed."""

import shutil
import tempfile
from pathlib import Path

from lib.cachegrind import read_summary
from lib.series.machine import ProgramFailed
from lib.series.runner import run_programs

OPTIONS = ["--gvt-interval", 300, "--watchdog", "off", "--pin", "off", "--rebind", "off",
           "--pagemigd", "off"]


def demand_valgrind():
    """Raises ProgramFailed if valgrind is missing."""
    if not shutil.which("valgrind"):
        raise ProgramFailed(4, "valgrind, which makes the counts, is missing (Debian: valgrind); --only rates does not "
                               "need it")


def command_of(pcs, plan, variant, until, simulated, file):
    return ["valgrind", "-q", "--tool=cachegrind", "--cache-sim=yes", *simulated,
            f"--cachegrind-out-file={file}", pcs, *plan.arguments(variant, until), *OPTIONS]


def data_misses(difference, level):
    return difference[f"D{level}mr"] + difference[f"D{level}mw"]


def figures_of(caches, tlb):
    """The counts with the names of runs.csv. caches: None if only the TLB was counted."""
    figures = {"tlb_misses": data_misses(tlb, 1)}
    if caches:
        figures |= {"instructions": caches["Ir"], "loads": caches["Dr"], "stores": caches["Dw"],
                    "l1_misses": data_misses(caches, 1), "l2_misses": data_misses(caches, "L")}
    return figures


def count(pcs, plan, variant, on_tick):
    """(Outcome, figures); the figures are {} if a run failed. With huge pages, only the misses of
    the TLB are counted: cachegrind does not simulate pages, so the other counts would not
    change."""
    demand_valgrind()  # a resumed series may run on another machine
    huge = variant.huge_pages == "on"
    simulated = [variant.geometry.tlb_options(huge)]
    if not huge:
        simulated.append(variant.geometry.cache_options())
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        files = [[Path(folder) / f"{number}-{until}" for until in plan.count_until]
                 for number in range(len(simulated))]
        outcome = run_programs([command_of(pcs, plan, variant, until, options, file)
                                for options, pair in zip(simulated, files)
                                for until, file in zip(plan.count_until, pair)],
                               on_tick, at_once=plan.machine["cores"])
        if outcome.code != 0:
            return outcome, {}
        differences = []
        for pair in files:
            short, long = map(read_summary, pair)
            differences.append({name: long[name] - short[name] for name in long})
    tlb, caches = differences[0], differences[1] if not huge else None
    events = [stats["committed_events"] for stats in outcome.stats]
    return outcome, {**figures_of(caches, tlb), "counted_events": events[1] - events[0]}
