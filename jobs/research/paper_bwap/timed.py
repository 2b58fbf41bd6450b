# SPDX-License-Identifier: Apache-2.0
"""./jobs/run paper-bwap --timed: the paper's placements in the modeled guest (../timed). All times are modeled.

The model is memory-bound: PHOLD on the conservative engine, where each event reads and writes a state of 4 KiB. Each
worker builds its own LPs in libc memory. The kernel puts the pages on their nodes when they are touched first, by its
policy `weighted interleave`, which can follow all placements (spread_pages.py). So no page moves during a run. There
is a run for each proximity, and the best of these runs represents the result of a tuner.

A node of the machine has CORES cores, but the modeled guest can have only 16 CPUs. So a node has fewer CPUs, and each
CPU executes instructions faster and has more misses at the same time. A node with 2 CPUs requests as many lines as a
node with CORES cores."""

import dataclasses
import json
import math
import shutil
import tempfile
from pathlib import Path

import topology
from lib.series.runner import common_row, rounds
from model import best_set, speeds, uniform
from placements import ALL, BWAP, EVEN, WORKERS, best_row, counts_of, cut, shares
from research.qemu import guest_series
from research.series.command import Refused
from research.series.summary import ratio, spread, warnings_about_runs
from research.timed.arguments import CPUS_MAX, NODES_MAX
from research.timed.series import TimedSettings, claim, run_timed, settings_of

COLUMNS = ["nodes", "weights", "beside", "mib_by_node", "lines_by_node", "shares_off"]
MACHINE = "opteron6272_8n"
CACHES = "opteron6272"
CORES = 8  # of a node of this machine
# The time of an instruction of a core. A real core of this machine takes about 0.4 ns. With the smaller value, the
# cores of a node request more lines than the memory of the node delivers. So PHOLD is limited by bandwidth, like the
# paper's programs.
INSTRUCTION_NS = 0.15
OVERLAP = 10  # misses at the same time of a core
# MB/s of a node's own memory, which the published tables do not have. Assumed: according to AMD (2010), the eight
# nodes of a machine with four Opteron 6100 reach 100 GB/s in STREAM.
OWN_MB_S = 12_500
STATE_BYTES = 4096
LPS_A_NODE = 5760  # 22.5 MiB of states; the last level of caches of a node has 6 MiB
LOOKAHEAD = 0.5
UNTIL, UNTIL_LEAST = 5, 1.25  # with one worker node. Runs on more nodes are shorter, because they have more LPs
PROXIMITIES = {EVEN: (0, 0.25, 1), BWAP: (0, 0.25, 0.5, 1)}
BESIDE_COUNTS, BESIDE_PROXIMITIES = (1, 2), {BWAP: (0, 0.25)}
FULL = {"lps": LPS_A_NODE, "until": UNTIL, "proximities": PROXIMITIES, "beside_proximities": BESIDE_PROXIMITIES}
CLAIMS = {"counts": [1, 2], "beside_counts": [1], "proximities": BESIDE_PROXIMITIES}
QUICK = {"lps": 3840, "until": 2, "counts": [2], "proximities": {BWAP: [0]}, "beside_counts": [1],
         "beside_proximities": {BWAP: [0]}}

FIRST, LOCAL = "first touch by one thread", "local"
PAPER = {WORKERS: "up to 1.66", ALL: "up to 1.50"}  # its gains over these placements
WEIGHT_MAX = 64  # larger weights are more exact, but the kernel then puts more consecutive pages on one node
SHARES_OFF_MAX = 0.05


@dataclasses.dataclass(frozen=True)
class Pages:
    """A run. `weights`: of the nodes, for the kernel; empty if each page is on its worker's node. `beside`: whether
    another program runs on the other nodes."""

    nodes: tuple
    weights: tuple
    beside: bool

    @property
    def key(self):
        pages = f"weights {' '.join(map(str, self.weights))}" if self.weights else "own pages"
        return (f"{len(self.nodes)} worker nodes",
                f"nodes {' '.join(map(str, self.nodes))}: {pages}" + ", beside another program" * self.beside)


def kernel_weights(shares_of_pages):
    """The shares as small whole numbers."""
    weights = [round(WEIGHT_MAX * share / max(shares_of_pages)) for share in shares_of_pages]
    return tuple(weight // math.gcd(*weights) for weight in weights)


@dataclasses.dataclass
class TimedPlan(TimedSettings):
    topology: str
    modeled: dict  # source, and bw with the bandwidth of each node's own memory
    counts: list  # numbers of worker nodes
    beside_counts: list
    proximities: dict  # of the placements that a tuner may choose from
    beside_proximities: dict
    lps: int  # per worker node
    until: float
    seed: int
    runs: int
    quick: bool
    instruction_ns: float  # of a core
    machine: dict

    @property
    def bw(self):
        return self.modeled["bw"]

    def groups(self):
        """(nodes, beside) of the runs that are compared with each other."""
        return [(best_set(self.bw, count), beside) for beside in (False, True)
                for count in (self.beside_counts if beside else self.counts)]

    def placements(self, nodes, beside):
        """(placement, proximity or None, run). Several placements may have the same run."""
        def run(of_pages):
            return Pages(nodes, kernel_weights(of_pages), beside)

        if not beside and not self.claims:
            yield FIRST, None, run(uniform(len(self.bw), nodes[:1]))
            yield LOCAL, None, run(uniform(len(self.bw), nodes)) if len(nodes) == 1 else Pages(nodes, (), beside)
        yield WORKERS, None, run(shares(self.bw, nodes, EVEN, 1))
        yield ALL, None, run(shares(self.bw, nodes, EVEN, 0))
        for placement, proximities in (self.beside_proximities if beside else self.proximities).items():
            for proximity in proximities if len(nodes) < len(self.bw) else [0]:
                yield placement, proximity, run(shares(self.bw, nodes, placement, proximity))

    def variants(self):
        return list(dict.fromkeys(run for group in self.groups() for _, _, run in self.placements(*group)))

    def schedule(self):
        return rounds(self.variants(), self.runs, self.seed)

    def cpus_a_node(self, nodes):
        """The number of CPUs of a worker node. Each other node has one CPU."""
        return min(CORES, (CPUS_MAX - len(self.bw) + len(nodes)) // len(nodes))

    def cpus(self, nodes):
        """The number of CPUs of each node."""
        return [self.cpus_a_node(nodes) if node in nodes else 1 for node in range(len(self.bw))]

    def until_of(self, nodes):
        return max(UNTIL_LEAST, self.until / len(nodes))


def new_plan(options, machine):
    nodes = len(topology.parse(options.timed).nodes)
    if not 2 <= nodes <= min(NODES_MAX, CPUS_MAX):
        raise Refused(f"--timed {options.timed}; allowed: 2 to {min(NODES_MAX, CPUS_MAX)} nodes")
    if len(options.machine) != 1:
        raise Refused(f"--machine: {len(options.machine)} machines; allowed with --timed: one, as FILE#NAME")
    modeled, = cut(options.machine, nodes, "--timed").values()
    modeled["bw"] = [[rate or OWN_MB_S for rate in row] for row in modeled["bw"]]
    sizes = QUICK if options.quick else FULL | CLAIMS if options.claims else FULL | {
        "counts": counts_of(nodes), "beside_counts": [count for count in BESIDE_COUNTS if count < nodes]}
    return TimedPlan(topology=options.timed, modeled=modeled, seed=1 if options.seed is None else options.seed,
                     runs=options.runs or 1, quick=options.quick, instruction_ns=options.instruction or INSTRUCTION_NS,
                     machine=machine, **settings_of(options), **sizes)


def on_cpus(cpus, nodes):
    """The words that bind a command to all CPUs of `nodes`."""
    owners = [node for node, number in enumerate(cpus) for _ in range(number)]
    return ["taskset", "-c", ",".join(str(cpu) for cpu, node in enumerate(owners) if node in nodes)]


def phold_words(phold, plan, nodes, workers, until):
    return [phold, "--lps", plan.lps * len(nodes), "--state", STATE_BYTES, "--touch", STATE_BYTES,
            "--lookahead", LOOKAHEAD, "--remote", 0.1, "--until", until, "--seed", plan.seed,
            "--engine", "conservative", "--memory", "libc", "--workers", workers]


def run_once(phold, plan, pages, run, on_tick):
    """(the row for runs.csv, the message if the run failed)."""
    cpus, nodes = plan.cpus(pages.nodes), topology.parse(plan.topology).nodes
    others = [node for node in range(len(cpus)) if node not in pages.nodes]
    workers = sum(cpus[node] for node in pages.nodes)
    beside = [*on_cpus(cpus, others), *phold_words(phold, plan, others, len(others), 1e6), "--quiet"]
    settings = {"weights": pages.weights, "beside": list(map(str, beside)) if pages.beside else []}
    cores_a_cpu = CORES / plan.cpus_a_node(pages.nodes)
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        script, machine = Path(folder) / "spread_pages.py", Path(folder) / "machine.json"
        shutil.copy(Path(__file__).with_name(script.name), script)
        machine.write_text(json.dumps(plan.modeled))
        outcome, found = run_timed(
            plan, phold.parent, ",".join(f"{number}:{node.mib}M" for number, node in zip(cpus, nodes)),
            ["python3", script, json.dumps(settings), *on_cpus(cpus, pages.nodes),
             *phold_words(phold, plan, pages.nodes, workers, plan.until_of(pages.nodes))],
            ["--machine", machine, "--caches", CACHES,
             "--instruction", plan.instruction_ns / cores_a_cpu], folder, on_tick, OVERLAP * cores_a_cpu)
    return {**common_row(plan, pages, run, outcome, workers, plan.until_of(pages.nodes)),
            "nodes": " ".join(map(str, pages.nodes)), "weights": " ".join(map(str, pages.weights)),
            "beside": int(pages.beside), **(counted(outcome.stats[0]["numa"], found["memory"], pages) if found else {})
            }, outcome.message


def counted(numa, memory, pages):
    """The columns that come from the statistics of the run and from the guest's JSON. `memory`: lines by [node of the
    CPU][node of the memory]."""
    states = numa["placement"]["state"]
    held = states["bytes_by_node"]
    wanted = [weight / sum(pages.weights) for weight in pages.weights]
    off = max((abs(have / sum(held) - share) for have, share in zip(held, wanted)), default=states["remote_share"])
    return {"mib_by_node": " ".join(f"{have / 2**20:.1f}" for have in held), "shares_off": off,
            "lines_by_node": " ".join(str(sum(memory[node][m] for node in pages.nodes)) for m in range(len(memory)))}


# --- Results -----------------------------------------------------------------------------------

def results(plan, records):
    groups = [group(plan, records, nodes, beside) for nodes, beside in plan.groups()]
    return {"groups": groups, "claims": [claim(f"{title(one)}: BWAP over {placement}", gain(one, placement), paper)
                                         for one in groups for placement, paper in PAPER.items()]}


def title(group):
    count = len(group["nodes"])
    return f"{count} worker node{'s' * (count != 1)}" + ", beside another program" * group["beside"]


def gain(group, placement):
    """The gain of BWAP over a placement at its best proximity."""
    best = best_row([row for row in group["rows"] if row["placement"] == placement], placement, "seconds")
    return best and best["gain_of_bwap"]


def group(plan, records, nodes, beside):
    runs = list(plan.placements(nodes, beside))
    rows = [{"placement": placement, "proximity": proximity, "run": run.key[1],
             "seconds": spread(records.of(run).values()), "shares_off": spread(records.of(run, "shares_off").values())}
            for placement, proximity, run in runs]
    best = best_row(rows, BWAP, "seconds")
    tuned = next((run for row, (_, _, run) in zip(rows, runs) if row is best), None)
    for row, (_, _, run) in zip(rows, runs):
        row["gain_of_bwap"] = tuned and ratio(records, run, tuned, "wall_seconds")
    return {"nodes": list(nodes), "beside": beside, "workers": sum(plan.cpus(nodes)[node] for node in nodes),
            "rows": rows, "predicted_mb_s": speeds(plan.bw, nodes),
            "proximity": {placement: ends_at(rows, placement) for placement in (EVEN, BWAP)}}


def ends_at(rows, placement):
    """The best proximity, and the proximity at which a search that begins at 0 ends. The search continues as long as
    the run does not become slower."""
    found = [row for row in rows if row["placement"] == placement and row["seconds"]]
    if not found:
        return None
    end = found[0]
    for row in found[1:]:
        if row["seconds"]["median"] > end["seconds"]["median"]:
            break
        end = row
    return {"best": best_row(found, placement, "seconds")["proximity"], "search": end["proximity"]}


def warnings(plan, records):
    found = [guest_series.MODELED, *warnings_about_runs(plan, records)]
    late = [run.key[1] for run in plan.variants()
            if max(records.of(run, "shares_off").values(), default=0) > SHARES_OFF_MAX]
    if late:
        found.append("Pages are not placed as intended (the share of a node in the pages of the states is more than "
                     f"{100 * SHARES_OFF_MAX:g} percentage points off): {'; '.join(late)}.")
    return found
