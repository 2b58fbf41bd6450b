# SPDX-License-Identifier: Apache-2.0
"""The runs of "Thread and Memory Placement on NUMA Systems: Asymmetry Matters" (USENIX ATC 2015), slide 5:
one program on two nodes, with all its data on one of them, the master. nodes.py has the other runs.

The paper runs streamcluster, which no model here resembles. The program here is PHOLD with large states: each
event reads and writes the whole state of its LP. The conservative engine keeps no past, so the states are nearly
all memory that a run uses. Each worker has half of the LPs. So half of the states are read over the link from
the master to the other node, and the run waits for the slower worker.

A node of the paper's machine has eight cores, and a node of the modeled machine has one CPU. This CPU executes
instructions faster and has more misses at the same time, so that it requests as many lines as several cores. The
time of an instruction was chosen once, so that the time on nodes 0 and 4 has the paper's ratio to the time on
nodes 0 and 1. The other ratios follow from the table of bandwidths."""

import dataclasses
from pathlib import Path

import nodes
from lib import machine_file
from lib.series.runner import rounds
from research.timed.series import TimedSettings, settings_of

TABLES = Path(__file__).resolve().parents[1] / "paper_bwap/machines.json"
MACHINE = f"{TABLES}#opteron6272_8n"
TOPOLOGY = "n8"
INSTRUCTION_NS = 0.15
OVERLAP = 64  # misses at the same time
LPS, STATE_BYTES = 8192, 4096
UNTIL, QUICK_UNTIL = 8, 1
LOOKAHEAD = 0.5


TWO = "two nodes"
EXPERIMENTS = {name.replace(" ", "-"): name
               for name in (TWO, *(one.workload for one in nodes.EXPERIMENTS))}  # by the value of --only


@dataclasses.dataclass(frozen=True)
class Pair:
    """A run on `nodes` with all memory on the node `master`. `seconds`: the paper's time."""

    nodes: tuple
    master: int
    seconds: int

    @property
    def name(self):
        return f"nodes {self.nodes[0]} and {self.nodes[1]}, memory on {self.master}"

    @property
    def key(self):
        return TWO, self.name

    @property
    def sets(self):
        return (self.nodes,)

    def commands(self, phold, seed, until):
        """The command line in the guest, without --stats. The CPU of node n is CPU n."""
        return [["numactl", "-C", ",".join(map(str, self.nodes)), "-m", self.master,
                 phold, "--lps", LPS, "--events-per-lp", 1, "--state", STATE_BYTES, "--touch", STATE_BYTES,
                 "--lookahead", LOOKAHEAD, "--remote", 0.1, "--until", until, "--seed", seed,
                 "--engine", "conservative", "--memory", "libc", "--workers", 2]]

    def link(self, bandwidth):
        """MB/s that the other node reads from the master."""
        other = self.nodes[0] if self.master == self.nodes[1] else self.nodes[1]
        return bandwidth[other][self.master]


# Slide 5. The slide's table is available only as text without columns. The bandwidth that belongs to each time
# shows its pair of nodes and its master.
PAIRS = (Pair((0, 1), 0, 148), Pair((0, 2), 2, 168), Pair((0, 3), 3, 185), Pair((0, 4), 0, 228),
         Pair((0, 2), 0, 228), Pair((0, 3), 0, 340))
BASE, FITTED = PAIRS[0], PAIRS[3]


def bandwidths():
    """The table of the machine in MB/s, [node of the CPU][node of the memory]."""
    return machine_file.read(MACHINE)[1]["bw"]


@dataclasses.dataclass
class Plan(TimedSettings):
    """The complete settings of a series. They are stored next to the runs, so that the series can be resumed."""

    seed: int
    runs: int
    quick: bool
    until: dict  # experiment -> virtual time
    instruction_ns: float
    static: dict  # workload -> nodes.planned()
    machine: dict

    def pairs(self):
        return (BASE, max(PAIRS, key=lambda pair: pair.seconds)) if self.claims else PAIRS

    def variants(self):
        return [*(self.pairs() if TWO in self.until else ()),
                *(variant for planned in self.static.values() for variant in nodes.variants(planned))]

    def schedule(self):
        return rounds(self.variants(), self.runs, self.seed)


def ends(quick):
    """The virtual end time of each workload."""
    return {TWO: QUICK_UNTIL if quick else UNTIL,
            **{one.workload: one.quick_until if quick else one.until for one in nodes.EXPERIMENTS}}


def new_plan(options, machine):
    seed = 1 if options.seed is None else options.seed
    until = ends(options.quick)
    if options.only:
        until = {EXPERIMENTS[options.only]: until[EXPERIMENTS[options.only]]}
    return Plan(seed=seed, runs=options.runs or (1 if options.quick else 3), quick=options.quick,
                until={name: options.until or end for name, end in until.items()},
                instruction_ns=options.instruction or INSTRUCTION_NS, machine=machine, **settings_of(options),
                static={one.workload: nodes.planned(one, options.programs, bandwidths(), seed, 0 if options.quick
                                                    or options.claims else nodes.RANDOM_PLACEMENTS)
                        for one in nodes.EXPERIMENTS if one.workload in until})
