# SPDX-License-Identifier: Apache-2.0
"""./jobs/run paper-numa --timed: the runs of figures 6 to 9, runs of a memory-bound model, and one process beside one
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
from research.timed.machines import MACHINES
from research.timed.version import check_version
from results import results as paper_figures, warnings_about_daemons
from runs import row_of

PAPER_MACHINE = "opteron6128"
EXPERIMENTS = ["balanced", "unbalanced", "memory-bound", "ranks"]
SCALE = 1000  # the paper's periods of the daemons are divided by this number
# Virtual time. On n8, a run has 68,000 to 177,000, 158,000, 259,000 and 127,000 events, and takes 6 to 230 ms of
# modeled time.
UNTIL = {"balanced": 6 * 3600, "unbalanced": 1200, "memory-bound": 8, "ranks": 4}
REBIND = 0.005  # seconds
QUICK = {"until": {"balanced": 900, "unbalanced": 120, "memory-bound": 1, "ranks": 1}, "periods": [0.001], "rebind": 0.001}
STATE_BYTES = 4096  # of the memory-bound model; each event reads and writes the whole state
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
class TimedPlan(Plan):
    topology: str
    modeled: str  # --machine of ./jobs/run timed; empty: the distances of the topology
    latency_factor: float

    def memory_bound(self):
        workload = Workload("memory-bound", LPS_A_WORKER * self.workers, 0, self.until["memory-bound"])
        return [MemoryBound(workload, "libc"), MemoryBound(workload, "libc", builder="owners"),
                MemoryBound(workload, "numa", place="interleave"),
                MemoryBound(workload, "numa", place="local")]

    def ranks(self):
        return [Ranked(Workload(name, LPS_A_WORKER * self.workers, 0, self.until["ranks"]), "numa", ranks=ranks)
                for name in RANKED for ranks in (False, True)]


def new_plan(options, machine):
    nodes = len(topology.parse(options.timed).nodes)
    settings = guest_settings(options, machine, options.timed, {
        "until": UNTIL, "rebind": REBIND, "periods": [period / SCALE for period in PAPER_PERIODS],
        "experiments": EXPERIMENTS, "runs": 3} | (QUICK | {"runs": 1} if options.quick else {}))
    modeled = options.machine or (PAPER_MACHINE if nodes == len(MACHINES[PAPER_MACHINE].bandwidth) else "")
    return TimedPlan(**settings, balanced_period=1 / SCALE, modeled=modeled, latency_factor=options.latency_factor or 1)


def demand_guest(series, programs):
    """Raises ProgramFailed if something that the runs need is missing."""
    guest_series.demand_guest("timed", series, programs, check_version)
    if not (programs / MemoryBound.program).exists():
        raise ProgramFailed(4, f"no {MemoryBound.program} in {programs}; ./jobs/run {series} builds it")


def run_once(traffic, plan, variant, run, on_tick):
    """(the row for runs.csv, the message if the run failed)."""
    modeled = ["--machine", plan.modeled] if plan.modeled else []
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        outcome, _ = guest_series.run_in_guest(
            "timed", traffic.parent, plan.topology,
            [*variant.launcher(), traffic.parent / variant.program, *variant.arguments(plan.workers, plan.seed)],
            [*modeled, *(MPI_OPTIONS if variant.launcher() else []), "--latency-factor", plan.latency_factor], folder, on_tick)
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
    return found


def warnings(plan, records):
    return [guest_series.MODELED, *warnings_about_runs(plan, records), *warnings_about_daemons(plan, records)]
