# SPDX-License-Identifier: Apache-2.0
"""./jobs/run paper-numa --timed: the runs of figures 6 to 9, runs of a memory-bound model, also while its groups move, and one process beside one
rank per node, in the modeled guest (../timed). All their times are modeled.

A second of the modeled guest takes minutes of a real CPU, so the runs are shorter than those of the
paper. The daemons' periods are the paper's periods divided by 1,000, and the numbers of daemons are
in proportion to the CPUs, as in experiments.py."""

import dataclasses
import sys
import tempfile
import typing
from pathlib import Path

import topology
from experiments import PAPER_PERIODS, Plan, Variant, Workload, guest_settings
from lib.series.machine import ProgramFailed
from research.qemu import guest_series
from research.series.summary import speed_up, spread, warnings_about_runs
from research.timed import series as timed_series
from research.timed.machines import MACHINES
from results import results as paper_figures, warnings_about_daemons
from runs import row_of

PAPER_MACHINE = "opteron6128"
ONLY_TIMED = ["memory-bound", "moved", "ranks"]
EXPERIMENTS = ["balanced", "unbalanced", *ONLY_TIMED]
CLAIMED = ["unbalanced", "memory-bound", "moved"]  # by --claims
SCALE = 1000  # the paper's periods of the daemons are divided by this number
# Virtual time. On n8, a run has 68,000 to 177,000, 158,000, 259,000, about 389,000 and 127,000 events, and takes 6 to
# 230 ms of modeled time.
UNTIL = {"balanced": 6 * 3600, "unbalanced": 1200, "memory-bound": 8, "moved": 12, "ranks": 4}
REBIND = 0.005  # seconds
QUICK = {"until": {"balanced": 900, "unbalanced": 120, "memory-bound": 1, "moved": 2, "ranks": 1}, "periods": [0.001], "rebind": 0.001}
STATE_BYTES = 4096  # of the memory-bound model; each event reads and writes the whole state
SHARE_MOVED, MOVED_REBIND = 0.25, 0.02  # of the groups; seconds between two moves
LPS_A_WORKER = 4096  # 16 MiB of states; the last level of caches of a node has 6 MiB


@dataclasses.dataclass(frozen=True)
class MemoryBound(Variant):
    """A run of PHOLD. `place`: the policy of --place; empty for libc."""

    place: str = ""
    program: typing.ClassVar = "phold"

    @property
    def name(self):
        return self.place or super().name

    def arguments(self, workers, seed):
        place = ["--place", self.place] if self.place else []
        # Without huge pages: they would be a second difference between the placements, because
        # --huge-pages auto does not use them for interleaved pages, and libc has none.
        return ["--lps", self.workload.objects, "--state", STATE_BYTES, "--touch", STATE_BYTES,
                "--until", f"{self.workload.until:.17g}", "--seed", seed, *self.engine_options(workers), *place,
                "--huge-pages", "off"]


@dataclasses.dataclass(frozen=True)
class Moved(MemoryBound):
    """A run of the memory-bound model in which a part of the groups, chosen at random, move to other workers every
    `rebind` seconds."""

    def arguments(self, workers, seed):
        return [*super().arguments(workers, seed), "--check-rebind", SHARE_MOVED]


LAUNCHER = Path(__file__).resolve().parents[2] / "lib/launch.py"
MPI_OPTIONS = ["--env", "OMPI_ALLOW_RUN_AS_ROOT=1", "--env", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"]
# PHOLD by the name of its workload: the engine's work is memory, or messages between LPs.
RANKED = {"states of 4 KiB, 10 % remote": ["--state", STATE_BYTES, "--touch", STATE_BYTES, "--remote", 0.1],
          "small states, 50 % remote": ["--remote", 0.5]}


@dataclasses.dataclass(frozen=True)
class Ranked(Variant):
    """A run of PHOLD by one process, or by one rank per node."""

    ranks: bool = False
    program: typing.ClassVar = "phold"

    @property
    def name(self):
        return "one rank per node" if self.ranks else "one process"

    def launcher(self):
        return [sys.executable, LAUNCHER, "numa"] if self.ranks else []

    def arguments(self, workers, seed):
        return ["--lps", self.workload.objects, *RANKED[self.workload.name], "--until", f"{self.workload.until:.17g}",
                "--seed", seed, "--engine", "timewarp", "--rebind", "off", *([] if self.ranks else ["--workers", workers])]


@dataclasses.dataclass
class TimedPlan(timed_series.TimedSettings, Plan):
    topology: str
    modeled: str  # --machine of ./jobs/run timed; empty: the distances of the topology

    def memory_bound(self):
        workload = Workload("memory-bound", LPS_A_WORKER * self.workers, 0, self.until["memory-bound"])
        return [MemoryBound(workload, "libc"), MemoryBound(workload, "libc", builder="owners"),
                MemoryBound(workload, "numa", place="interleave"),
                MemoryBound(workload, "numa", place="local")]

    def moved(self):
        workload = Workload("moved", LPS_A_WORKER * self.workers, 0, self.until["moved"])
        return [Moved(workload, "numa", daemons, self.balanced_period, rebind=MOVED_REBIND)
                for daemons in (0, self.balanced_daemons)]

    def ranks(self):
        return [Ranked(Workload(name, LPS_A_WORKER * self.workers, 0, self.until["ranks"]), "numa", ranks=ranks)
                for name in RANKED for ranks in (False, True)]


def new_plan(options, machine):
    nodes = len(topology.parse(options.timed).nodes)
    settings = guest_settings(options, machine, options.timed, {
        "until": UNTIL, "rebind": REBIND, "periods": [period / SCALE for period in PAPER_PERIODS],
        "experiments": CLAIMED if options.claims else EXPERIMENTS, "runs": 3} | (
            QUICK | {"runs": 1} if options.quick else {}))
    if options.claims:
        settings |= {"daemons": settings["daemons"][-1:], "periods": settings["periods"][:1]}
    modeled = options.machine or (PAPER_MACHINE if nodes == len(MACHINES[PAPER_MACHINE].bandwidth) else "")
    return TimedPlan(**settings, balanced_period=1 / SCALE, modeled=modeled, **timed_series.settings_of(options))


def demand_guest(series, programs):
    """Raises ProgramFailed if something that the runs need is missing."""
    timed_series.demand_guest(series, programs)
    if not (programs / MemoryBound.program).exists():
        raise ProgramFailed(4, f"no {MemoryBound.program} in {programs}; ./jobs/run {series} builds it")


def run_once(traffic, plan, variant, run, on_tick):
    """(the row for runs.csv, the message if the run failed)."""
    modeled = ["--machine", plan.modeled] if plan.modeled else []
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        outcome, _ = timed_series.run_timed(
            plan, traffic.parent, plan.topology,
            [*variant.launcher(), traffic.parent / variant.program, *variant.arguments(plan.workers, plan.seed)],
            [*modeled, *(MPI_OPTIONS if variant.launcher() else [])], folder, on_tick)
    return row_of(plan, variant, run, outcome), outcome.message


# --- Results -----------------------------------------------------------------------------------

def results(plan, records):
    found = paper_figures(plan, records)
    if "memory-bound" in plan.experiments:
        variants = plan.memory_bound()
        found["memory_bound"] = [
            {"variant": variant.name, "seconds": spread(records.of(variant).values()),
             "over_libc": speed_up(records, variants[0], variant),
             "remote_page_share": spread(records.of(variant, "remote_page_share").values())} for variant in variants]
    if "ranks" in plan.experiments:
        variants = plan.ranks()
        found["ranks"] = [
            {"workload": one.workload.name, "process": spread(records.of(one).values()),
             "ranks": spread(records.of(ranks).values()), "speed_up": speed_up(records, one, ranks)}
            for one, ranks in zip(variants[::2], variants[1::2])]
    if "moved" in plan.experiments:
        variants = plan.moved()
        found["moved"] = [
            {"variant": variant.name, "seconds": spread(records.of(variant).values()),
             "over_numa": speed_up(records, variants[0], variant),
             **{name: spread(records.of(variant, name).values())
                for name in ("groups_moved", "pages_moved", "remote_page_share")}} for variant in variants]
    return {**found, "claims": claims(plan, records)}


def claims(plan, records):
    """The values that decide the claims of the paper."""
    listed = []

    def add(text, before, after, paper):
        listed.append(timed_series.claim(text, speed_up(records, before, after), paper))

    if "unbalanced" in plan.experiments:
        sequential, libc, owners, numa, *daemons = plan.unbalanced()
        for text, before, paper in (("figure 7: NUMA with daemons over sequential", sequential, "28 to 37 on 32 cores"),
                                    ("figure 8: NUMA with daemons over NUMA without", numa, "up to 5.5"),
                                    ("figure 9: NUMA with daemons over libc", libc, "up to 7"),
                                    ("figure 9 with owners: NUMA with daemons over libc owners", owners, "–")):
            add(text, before, daemons[0], paper)
    if "memory-bound" in plan.experiments:
        libc, owners, interleave, local = plan.memory_bound()
        for before in (libc, owners, interleave):
            add(f"memory-bound model: local pages over {before.name}", before, local, "–")
    if "moved" in plan.experiments:
        without, daemons = plan.moved()
        add("memory-bound model, groups move: daemons over no daemons", without, daemons, "–")
    return listed


def warnings(plan, records):
    return [guest_series.MODELED, *warnings_about_runs(plan, records), *warnings_about_daemons(plan, records)]
