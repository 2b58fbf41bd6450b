# SPDX-License-Identifier: Apache-2.0
"""./jobs/run paper-state-saving --timed: figures 2 to 9 in the modeled guest (../timed), whose nodes, caches and TLBs
are similar to those of the paper's machine, an SGI Origin 2000. All times are modeled. The counts are those of the same
runs: all vCPUs with a worker, from the beginning to the end of the event loop.

Usual runs have pages of 4 KiB. Three changes test the paper's explanation:

    huge pages on           fewer TLB misses
    past log                as in the paper, the events that may be undone and their saved states are in a pool of fixed
                            size, which is reused in FIFO order. So each event uses memory that has left the caches and
                            the TLB
    GVT interval            this memory is in use for a long time before it is reused"""

import dataclasses
import tempfile
import typing

import topology
from experiments import MAIN_METHODS, REVERSE, SEQUENTIAL, Plan, Variant
from hardware import FIGURES
from research.meter.presets import MACHINES as CORES
from research.qemu import guest_series
from research.series.summary import ratio, spread, warnings_about_runs
from research.timed.machines import MACHINES
from research.timed.series import TimedSettings, claim, run_timed, settings_of
from results import an_event, counts, measured, rates
from runs import row_of

MACHINE = "origin2000"
NODES, NODE = 8, "2:320M"  # two processors per node, as in the paper's machine
TOPOLOGY = ",".join([NODE] * NODES)
WORKERS = [1, 2, 4, 8, 15]  # of the paper's numbers
UNTIL = 300
# 20,000 events of a worker and their saved states are more than the last cache (4 MiB) and the TLB (2 MiB) of its CPU
# hold. With many workers, a run needs many times as many events before memory is reused at all.
GVT_INTERVAL = "20000ev"
# --huge-pages does not concern the memory of libc, for example of the past log. So the kernel gives it huge pages only
# if the run has huge pages.
HUGE_PAGES = 'echo "$0" >/sys/kernel/mm/transparent_hugepage/enabled && exec "$@"'
PAGES_OF_LIBC = {"": "never", "on": "always"}
# Larger than the last cache and the TLB of a CPU. The paper's pools have 360 MB for 15 processors.
PAST_LOG = "16M"
QUICK = {"cells": 60, "until": 60, "workers": [1, 4]}


@dataclasses.dataclass
class TimedPlan(TimedSettings, Plan):
    topology: str
    usual_huge_pages: typing.ClassVar = "off"

    def points(self):
        return [variant for variant in super().points() if variant.method in MAIN_METHODS]

    def changes(self):
        pool = {"past_log": PAST_LOG}
        if self.claims:
            return [pool]
        huge, rare = {"huge_pages": "on"}, {"gvt_interval": GVT_INTERVAL}
        return [huge, pool] if self.quick else [huge, pool, pool | huge, rare, rare | huge]

    def later_points(self):
        return [variant for variant in super().later_points()
                if not ((variant.gvt_interval or variant.past_log) and variant.method == SEQUENTIAL)
                and not (self.quick and variant.workers > 1)]


def new_plan(options, machine):
    nodes = topology.parse(options.timed).nodes
    quick = QUICK if options.quick else {}
    cpus = sum(node.cpus for node in nodes)
    workers = options.workers or quick.get("workers", [count for count in WORKERS if count <= cpus])
    workers = [workers[0], workers[-1]] if options.claims else workers
    return TimedPlan(
        seed=1 if options.seed is None else options.seed, runs=options.runs or (1 if options.quick else 3),
        quick=options.quick, only="rates", cells=quick.get("cells", 120),
        until=options.until or quick.get("until", UNTIL), count_until=[], worker_counts=workers, counts="modeled",
        geometries=[], without_prefetch="", machine=machine, topology=options.timed, **settings_of(options))


def run_once(pcs, plan, variant, run, on_tick):
    """(the row for runs.csv, the message if the run failed)."""
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        outcome, found = run_timed(
            plan, pcs.parent, plan.topology,
            ["sh", "-c", HUGE_PAGES, PAGES_OF_LIBC[variant.huge_pages], pcs, *plan.arguments(variant, plan.until)],
            ["--machine", MACHINE], folder, on_tick)
    loop = found["event_loop"] if found else {}
    figures = {column: loop[column] for column in FIGURES if loop}
    if figures:
        figures["counted_events"] = outcome.stats[0]["committed_events"]
    return row_of(plan, variant, run, outcome, plan.until, figures), outcome.message


# --- Results -----------------------------------------------------------------------------------

def walk_share(records, variant):
    """The share of the time of all workers that walks through the page table take."""
    walks, seconds = records.of(variant, "tlb_misses"), records.of(variant)
    walk = CORES[MACHINES[MACHINE].cores].walk_ns * 1e-9
    return spread(walks[run] * walk / (seconds[run] * variant.workers) for run in walks)


def results(plan, records):
    return {"rates": rates(plan, records), "counts": counts(plan, records), "claims": claims(plan, records),
            "runs": [{"method": variant.method.name, "workers": variant.workers, "change": variant.change,
                      **measured(records, variant), "slower_than_reverse": slower_than_reverse(records, variant),
                      "walk_share": walk_share(records, variant), "an_event": an_event(records, variant)}
                     for variant in plan.points() + plan.later_points()]}


def claims(plan, records):
    most = plan.worker_counts[-1]
    listed = []
    for method, past_log in ((method, past_log) for past_log in ("", PAST_LOG) for method in MAIN_METHODS[1:]):
        variant = Variant(method, most, past_log=past_log)
        name = f"{method.name}{', past log ' * bool(past_log)}{past_log}"
        listed.append(claim(f"{name}, {most} workers: speed-up", measured(records, variant)["speed_up"],
                            "13.8" if method == REVERSE else "about 2"))
        if method == REVERSE:
            continue
        listed.append(claim(f"{name}, {most} workers: time / time of reverse", slower_than_reverse(records, variant),
                            "6"))
        few, many = (records.of(Variant(method, workers, past_log=past_log), "tlb_misses")
                     for workers in (plan.worker_counts[0], most))
        listed.append(claim(f"{name}: TLB misses with {most} workers / with {plan.worker_counts[0]}",
                            spread(many[run] / few[run] for run in sorted(few.keys() & many.keys())), "above 1"))
    return listed


def slower_than_reverse(records, variant):
    """The time of the run / the time of the same run with reverse computation."""
    return ratio(records, variant, dataclasses.replace(variant, method=REVERSE), "wall_seconds")


def warnings(plan, records):
    return [guest_series.MODELED, *warnings_about_runs(plan, records)]
