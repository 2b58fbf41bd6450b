# SPDX-License-Identifier: Apache-2.0
"""The experiments behind figures 6 to 9 of "NUMA Time Warp" (PADS 2015), section 4, scaled to this
machine.

The paper's machine had 32 cores on 8 NUMA nodes, and one worker per core. Here there is one worker
per core of this machine. The numbers of daemons are the paper's numbers multiplied by cores/32. End
times are proportional to the number of cores, so that a parallel run takes about the same time on
all machines. This time must be longer than many periods of the daemons. The periods are those of
the paper."""

import dataclasses
import typing

import topology
from lib.series.runner import rounds

PAPER_CORES = 32
PAPER_DAEMONS = (4, 8, 16, 32)
PAPER_PERIODS = (2, 4, 6, 8, 10)  # seconds
INTER_ARRIVALS = (120, 60, 45)  # seconds; figure 6
REBIND_POLICIES = ("least-moves", "knapsack", "root-sim")  # the first is the default

# Virtual seconds for each core. On 2 cores of a 2023 server, a parallel run takes about 5 s
# (balanced, with an inter-arrival time of 45 s) and a minute (unbalanced).
BALANCED_UNTIL_A_CORE = 20 * 86400
UNBALANCED_UNTIL_A_CORE = 12 * 3600
# --quick only shows that everything works: daemons and rebinding must act within a run of 0.1 s.
QUICK = {"runs": 2, "until": {"balanced": 86400, "unbalanced": 1800}, "rebind": 0.05,
         "periods": (0.02, 0.1), "balanced_period": 0.02}


@dataclasses.dataclass(frozen=True)
class Workload:
    """The simulated model: all runs of a workload must have the same digest."""

    name: str
    objects: int
    inter_arrival: int  # seconds; 0: the value of the network
    until: float


@dataclasses.dataclass(frozen=True)
class Variant:
    """A way to run a workload. `memory` is empty for the sequential engine. `builder`: --libc-builder,
    if it is not the default."""

    workload: Workload
    memory: str
    daemons: int = 0
    period: float = 0
    rebind: float = 0  # seconds; 0: off
    rebind_policy: str = ""
    builder: str = ""
    lps_per_group: int = 0  # 0: the engine decides
    program: typing.ClassVar = "traffic"

    @property
    def name(self):
        if not self.memory:
            return "sequential"
        daemons = f" {self.daemons}@{self.period:g}" if self.daemons else ""
        return self.memory + daemons + (f" {self.builder}" if self.builder else "")

    @property
    def key(self):
        return self.workload.name, self.name

    def launcher(self):
        """The command that starts the program; empty: the program is started directly."""
        return []

    def arguments(self, workers, seed):
        """The command line of the program without --stats."""
        words = ["--objects", self.workload.objects, "--inter-arrival", self.workload.inter_arrival,
                 "--until", f"{self.workload.until:.17g}", "--seed", seed]
        return [*words, *self.engine_options(workers)]

    def engine_options(self, workers):
        if not self.memory:
            return ["--engine", "sequential"]
        daemons = f"{self.daemons}@{self.period:g}" if self.daemons else "off"
        return ["--engine", "timewarp", "--workers", workers, "--memory", self.memory,
                "--pagemigd", daemons, "--rebind", f"{self.rebind:g}" if self.rebind else "off",
                *(["--lps-per-group", self.lps_per_group] if self.lps_per_group else []),
                *(["--rebind-policy", self.rebind_policy] if self.rebind_policy else []),
                *(["--libc-builder", self.builder] if self.builder else [])]


@dataclasses.dataclass
class Plan:
    """The complete settings of a series. They are stored next to the runs, so that the series can
    be resumed."""

    workers: int
    seed: int
    runs: int
    quick: bool
    experiments: list  # of "balanced", "unbalanced"; with --timed also "memory-bound"
    until: dict  # experiment -> virtual seconds
    rebind: float  # seconds, unbalanced only; 0: off
    rebind_policy: str  # --rebind-policy of the unbalanced runs; empty: the default
    lps_per_group: int  # 0: the engine decides; 1: the grain of the paper
    daemons: list
    periods: list
    balanced_daemons: int
    balanced_period: float
    machine: dict

    def balanced(self):
        """Figure 6: no rebinding; as many daemons as cores, every second, as in the paper."""
        variants = []
        for inter_arrival in INTER_ARRIVALS:
            workload = Workload(f"balanced-{inter_arrival}", 137, inter_arrival,
                                self.until["balanced"])
            grain = {"lps_per_group": self.lps_per_group}
            variants += [Variant(workload, ""), Variant(workload, "libc", **grain),
                         Variant(workload, "libc", builder="owners", **grain), Variant(workload, "numa", **grain),
                         Variant(workload, "numa", self.balanced_daemons, self.balanced_period, **grain)]
        return variants

    def unbalanced(self):
        """Figures 7 to 9: accidents shift the load, and groups of LPs are rebound to balance it."""
        workload = Workload("unbalanced", 1024, 0, self.until["unbalanced"])
        parallel = {"rebind": self.rebind, "rebind_policy": self.rebind_policy, "lps_per_group": self.lps_per_group}
        return [Variant(workload, ""), Variant(workload, "libc", **parallel),
                Variant(workload, "libc", builder="owners", **parallel), Variant(workload, "numa", **parallel),
                *(Variant(workload, "numa", daemons, period, **parallel)
                  for daemons in self.daemons for period in self.periods)]

    def variants(self):
        return [variant for experiment in self.experiments
                for variant in getattr(self, experiment.replace("-", "_"))()]

    def schedule(self):
        return rounds(self.variants(), self.runs, self.seed)


def scaled(daemons, cores):
    return max(1, round(daemons * cores / PAPER_CORES))


def daemons_of(cores):
    return sorted({scaled(daemons, cores) for daemons in PAPER_DAEMONS})


def guest_settings(options, machine, topology_name, defaults):
    """The fields of a Plan except balanced_period, and the topology, for runs in a guest. `defaults`:
    until, rebind, periods, experiments and runs, for options that are None."""
    workers = sum(node.cpus for node in topology.parse(topology_name).nodes)
    daemons = daemons_of(workers)
    until = defaults["until"]
    return {"workers": workers, "seed": 1 if options.seed is None else options.seed,
            "runs": options.runs or defaults["runs"], "quick": options.quick,
            "experiments": [options.only] if options.only else defaults["experiments"],
            "until": until if options.until is None else dict.fromkeys(until, options.until),
            "rebind": defaults["rebind"] if options.rebind is None else options.rebind,
            "rebind_policy": options.rebind_policy or "", "lps_per_group": options.lps_per_group or 0,
            "daemons": daemons[-1:] if options.quick else daemons, "periods": list(defaults["periods"]),
            "balanced_daemons": scaled(PAPER_CORES, workers), "machine": machine, "topology": topology_name}


def new_plan(options, machine):
    """A plan for this machine. options: those of the command line; None selects the default."""
    cores = machine["cores"]
    daemons = daemons_of(cores)
    periods, balanced_period, runs, rebind = PAPER_PERIODS, 1, 5, 2
    until = {"balanced": BALANCED_UNTIL_A_CORE * cores,
             "unbalanced": UNBALANCED_UNTIL_A_CORE * cores}
    if options.quick:
        daemons = sorted({daemons[0], daemons[-1]})
        periods, balanced_period = QUICK["periods"], QUICK["balanced_period"]
        runs, rebind, until = QUICK["runs"], QUICK["rebind"], QUICK["until"]
    if options.until is not None:
        until = dict.fromkeys(until, options.until)
    return Plan(workers=cores, seed=1 if options.seed is None else options.seed,
                runs=options.runs or runs, quick=options.quick,
                experiments=[options.only] if options.only else ["balanced", "unbalanced"],
                until=until, rebind=rebind if options.rebind is None else options.rebind,
                rebind_policy=options.rebind_policy or "", lps_per_group=options.lps_per_group or 0,
                daemons=daemons, periods=list(periods), balanced_daemons=scaled(PAPER_CORES, cores),
                balanced_period=balanced_period, machine=machine)
