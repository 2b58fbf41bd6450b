# SPDX-License-Identifier: Apache-2.0
"""./jobs/run paper-numa --timed: the runs of figures 6 to 9, and runs of a memory-bound model, in the
modeled guest (../timed). All their times are modeled.

A second of the modeled guest takes minutes of a real CPU, so the runs are shorter than those of the
paper. The periods of rebinding and of the daemons are the paper's periods divided by 1,000, and the
numbers of daemons are in proportion to the CPUs, as in experiments.py."""

import dataclasses
import tempfile
import typing

import topology
from experiments import PAPER_CORES, PAPER_PERIODS, Plan, Variant, Workload, daemons_of, scaled
from research.qemu import guest_series
from research.series.summary import speed_up, spread, warnings_about_runs
from research.timed.machines import MACHINES
from results import results as paper_figures, warnings_about_daemons
from runs import row_of

MODELED = ("All times are modeled, not measured: the runs took place in an emulated machine whose clock follows a "
           "model of caches, latencies and bandwidths.")
EXPERIMENTS = ["balanced", "unbalanced", "memory-bound"]
SCALE = 1000  # the paper's periods are divided by this number
# Virtual time. On n8, a parallel run has 35,000 to 90,000, 158,000 and 262,000 events, and takes 20 to
# 150 ms of modeled time.
UNTIL = {"balanced": 6 * 3600, "unbalanced": 1200, "memory-bound": 8}
REBIND = 0.005
MOVE_PERIOD = 0.04  # of the memory-bound model, in seconds
QUICK = {"until": {"balanced": 900, "unbalanced": 120, "memory-bound": 2}, "periods": (0.001,), "rebind": 0.001,
         "move": 0.001}
STATE_BYTES = 4096  # of the memory-bound model; each event reads and writes the whole state
LPS_A_WORKER = 4096  # 16 MiB of states; the last level of caches of a node has 6 MiB
SHARE_MOVED = 0.5


@dataclasses.dataclass(frozen=True)
class MemoryBound(Variant):
    """A run of PHOLD. `place`: the policy of --place; empty for libc. Each `rebind` seconds, a share of
    SHARE_MOVED of the groups changes its worker."""

    place: str = ""
    program: typing.ClassVar = "phold"

    @property
    def name(self):
        return " ".join([self.place or self.memory, *["moved"] * bool(self.rebind),
                         *[f"{self.daemons}@{self.period:g}"] * bool(self.daemons)])

    def arguments(self, workers, seed):
        place = ["--place", self.place] if self.place else []
        moved = ["--check-rebind", SHARE_MOVED] if self.rebind else []
        return ["--lps", self.workload.objects, "--state", STATE_BYTES, "--touch", STATE_BYTES,
                "--until", f"{self.workload.until:g}", "--seed", seed,
                *self.engine_options(workers), *place, *moved]


@dataclasses.dataclass
class TimedPlan(Plan):
    topology: str
    modeled: str  # --machine of ./jobs/run timed; empty: the distances of the topology
    latency_factor: float
    move_period: float  # seconds, memory-bound only; 0: off

    def memory_bound(self):
        workload = Workload("memory-bound", LPS_A_WORKER * self.workers, 0, self.until["memory-bound"])
        place = [MemoryBound(workload, "libc"), MemoryBound(workload, "numa", place="interleave"),
                 MemoryBound(workload, "numa", place="local")]
        moved = [(0, 0), *((self.daemons[-1], period) for period in (self.periods[0], self.periods[-1]))]
        return place + [MemoryBound(workload, "numa", daemons, period, self.move_period, "local")
                        for daemons, period in dict.fromkeys(moved) if self.move_period]


def new_plan(options, machine):
    parsed = topology.parse(options.timed)
    workers = sum(node.cpus for node in parsed.nodes)
    quick = QUICK if options.quick else {}
    daemons = daemons_of(workers)
    until = quick.get("until", UNTIL)
    paper = MACHINES["opteron6128"]
    return TimedPlan(
        workers=workers, seed=1 if options.seed is None else options.seed, runs=options.runs or 3 - 2 * options.quick,
        quick=options.quick, experiments=[options.only] if options.only else EXPERIMENTS,
        until=until if options.until is None else dict.fromkeys(until, options.until),
        rebind=quick.get("rebind", REBIND) if options.rebind is None else options.rebind,
        move_period=quick.get("move", MOVE_PERIOD) if options.rebind is None else options.rebind,
        daemons=daemons[-1:] if options.quick else daemons,
        periods=list(quick.get("periods", [period / SCALE for period in PAPER_PERIODS])),
        balanced_daemons=scaled(PAPER_CORES, workers), balanced_period=1 / SCALE, machine=machine,
        topology=options.timed, latency_factor=options.latency_factor or 1,
        modeled=options.machine or ("opteron6128" if len(parsed.nodes) == len(paper.bandwidth) else ""))


def run_once(traffic, plan, variant, run, on_tick):
    """(the row for runs.csv, the message if the run failed)."""
    modeled = ["--machine", plan.modeled] if plan.modeled else []
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        outcome, _ = guest_series.run_in_guest(
            "timed", traffic.parent, plan.topology,
            [traffic.parent / variant.program, *variant.arguments(plan.workers, plan.seed)],
            [*modeled, "--latency-factor", plan.latency_factor], folder, on_tick)
    return row_of(plan, variant, run, outcome), outcome.message


# --- Results -----------------------------------------------------------------------------------

def results(plan, records):
    found = paper_figures(plan, records)
    if "memory-bound" in plan.experiments:
        variants = plan.memory_bound()
        libc, unmoved = variants[0], next((variant for variant in variants if variant.rebind), None)
        found["memory_bound"] = [
            {"variant": variant.name, "seconds": spread(records.of(variant).values()),
             "over_libc": speed_up(records, libc, variant),
             "over_no_daemons": speed_up(records, unmoved, variant) if variant.rebind else None,
             "pages_moved": spread(records.of(variant, "pages_moved").values())} for variant in variants]
    return found


def warnings(plan, records):
    return [MODELED, *warnings_about_runs(plan, records, load_matters=False), *warnings_about_daemons(plan, records)]
