"""Counts of one variant by cachegrind, between two virtual times: what two runs of different length
differ by. So set-up and the first events are not counted. A second pair of runs has a TLB in the place
of the first-level cache.

cachegrind runs one thread at a time, some fifty times slower, and simulates no prefetching. A
computation of GVT every 300 ms is then about as far apart in events as one every 4 ms; workers are not
bound to cores, and nothing is moved, since a wait of milliseconds means something else there."""

import shutil
import tempfile
from pathlib import Path

from lib.cachegrind import read_summary
from lib.series.machine import ProgramFailed
from lib.series.runner import run_programs

OPTIONS = ["--gvt-interval", 300, "--watchdog", "off", "--pin", "off", "--rebind", "off",
           "--pagemigd", "off"]


def demand_valgrind():
    """Raises ProgramFailed where there is none."""
    if not shutil.which("valgrind"):
        raise ProgramFailed(4, "valgrind, which counts, is missing (Debian: valgrind); --only rates does not "
                               "need it")


def command_of(pcs, plan, variant, until, simulated, file):
    return ["valgrind", "-q", "--tool=cachegrind", "--cache-sim=yes", *simulated,
            f"--cachegrind-out-file={file}", pcs, *plan.arguments(variant, until), *OPTIONS]


def data_misses(difference, level):
    return difference[f"D{level}mr"] + difference[f"D{level}mw"]


def figures_of(caches, tlb):
    """In the names of runs.csv. caches: None where only the TLB was counted."""
    figures = {"tlb_misses": data_misses(tlb, 1)}
    if caches:
        figures |= {"instructions": caches["Ir"], "loads": caches["Dr"], "stores": caches["Dw"],
                    "l1_misses": data_misses(caches, 1), "l2_misses": data_misses(caches, "L")}
    return figures


def count(pcs, plan, variant, on_tick):
    """(Outcome, figures), {} where a run failed. On huge pages only the TLB differs: cachegrind knows
    no pages."""
    demand_valgrind()  # a series that goes on may do so on another machine
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
