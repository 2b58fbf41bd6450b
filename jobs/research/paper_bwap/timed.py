# SPDX-License-Identifier: Apache-2.0
"""./jobs/run paper-bwap --timed: the paper's placements in the modeled guest (../timed). All times are modeled.

The model is memory-bound: PHOLD on the conservative engine, where each event reads and writes a state of 4 KiB. Each
worker builds its own LPs in libc memory. The kernel puts the pages on their nodes when they are touched first, by its
policy `weighted interleave`, which can follow all placements (spread_pages.py). So no page moves during a run. There
is a run for each proximity, and the best of these runs represents the result of a tuner.

With AutoNUMA, the kernel moves pages at its clock ticks, every 4 ms. So this placement has longer runs, and other
placements have runs of this length for comparison.

A node of the machine has 7 or 8 cores, but the modeled guest can have only 16 CPUs. So a node may have fewer CPUs, and
each CPU executes instructions faster and has more misses at the same time. A node with 2 CPUs requests as many lines
as a node of the machine. machines.json has the figures of the machines."""

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
from research.meter.presets import MACHINES as CACHES
from research.qemu import guest_series
from research.series.command import Refused
from research.series.summary import ratio, spread, warnings_about_runs
from research.timed import machines
from research.timed.arguments import CPUS_MAX, NODES_MAX, USABLE_CORES
from research.timed.series import TimedSettings, claim, run_timed, settings_of

COLUMNS = ["nodes", "weights", "beside", "mib_by_node", "lines_by_node", "shares_off", "pages_migrated"]
STATE_BYTES = 4096
LOOKAHEAD = 0.5
STATES, STATES_QUICK = 3.75, 2.5  # memory of the states of a worker node / its last level of caches
# The product of the end time and the number of LPs. So the number of events does not depend on the number of LPs,
# except in the shortest runs.
UNTIL_LPS, UNTIL_LPS_QUICK, UNTIL_LEAST = 5 * 5760, 2 * 3840, 1.25
LONG = 30  # the factor of the end time of long runs
PROXIMITIES = {EVEN: (0, 0.25, 1), BWAP: (0, 0.25, 0.5, 1)}
BESIDE_COUNTS, BESIDE_PROXIMITIES = (1, 2), {BWAP: (0, 0.25)}
FULL = {"until_lps": UNTIL_LPS, "proximities": PROXIMITIES, "beside_proximities": BESIDE_PROXIMITIES,
        "long_counts": [2]}
CLAIMS = {"counts": [1, 2], "beside_counts": [1], "proximities": BESIDE_PROXIMITIES, "long_counts": []}
QUICK = {"until_lps": UNTIL_LPS_QUICK, "counts": [2], "proximities": {BWAP: [0]}, "beside_counts": [1],
         "beside_proximities": {BWAP: [0]}, "long_counts": []}

FIRST, AUTONUMA, LOCAL = "first touch by one thread", "AutoNUMA", "local"
LONG_PROXIMITY = 0.25
PAPER = {WORKERS: "up to 1.66", ALL: "up to 1.50"}  # its gains over these placements
WEIGHT_MAX = 64  # larger weights are more exact, but the kernel then puts more consecutive pages on one node
SHARES_OFF_MAX = 0.05


@dataclasses.dataclass(frozen=True)
class Pages:
    """A run. `weights`: of the nodes, for the kernel; empty if each page is on its worker's node, or if the kernel
    moves pages (`autonuma`) that are on the first node at the start. `beside`: whether another program runs on the
    other nodes."""

    nodes: tuple
    weights: tuple
    beside: bool
    long: bool = False
    autonuma: bool = False

    @property
    def key(self):
        pages = (f"weights {' '.join(map(str, self.weights))}" if self.weights
                 else AUTONUMA if self.autonuma else "own pages")
        return (f"{len(self.nodes)} worker nodes" + ", long runs" * self.long,
                f"nodes {' '.join(map(str, self.nodes))}: {pages}" + ", beside another program" * self.beside
                + ", long" * self.long)


def kernel_weights(shares_of_pages):
    """The shares as small whole numbers."""
    weights = [round(WEIGHT_MAX * share / max(shares_of_pages)) for share in shares_of_pages]
    return tuple(weight // math.gcd(*weights) for weight in weights)


@dataclasses.dataclass
class TimedPlan(TimedSettings):
    topology: str
    modeled: dict  # as in machines.json; bw has the bandwidth of each node's own memory
    counts: list  # numbers of worker nodes
    beside_counts: list
    long_counts: list
    proximities: dict  # of the placements that a tuner may choose from
    beside_proximities: dict
    lps: int  # per worker node
    until_lps: float
    seed: int
    runs: int
    quick: bool
    machine: dict

    @property
    def bw(self):
        return self.modeled["bw"]

    def groups(self):
        """(nodes, beside, long) of the runs that are compared with each other."""
        return [(best_set(self.bw, count), beside, long) for counts, beside, long in (
            (self.counts, False, False), (self.beside_counts, True, False), (self.long_counts, False, True))
            for count in counts]

    def placements(self, nodes, beside, long):
        """(placement, proximity or None, run). Several placements may have the same run."""
        def run(of_pages):
            return Pages(nodes, kernel_weights(of_pages), beside, long)

        if long:
            yield FIRST, None, run(uniform(len(self.bw), nodes[:1]))
            yield AUTONUMA, None, Pages(nodes, (), beside, long, autonuma=True)
            yield WORKERS, None, run(shares(self.bw, nodes, EVEN, 1))
            yield BWAP, LONG_PROXIMITY, run(shares(self.bw, nodes, BWAP, LONG_PROXIMITY))
            return
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
        return min(self.modeled["cores"], (CPUS_MAX - len(self.bw) + len(nodes)) // len(nodes))

    def cpus(self, nodes):
        """The number of CPUs of each node."""
        return [self.cpus_a_node(nodes) if node in nodes else 1 for node in range(len(self.bw))]

    def until_of(self, pages):
        return max(UNTIL_LEAST, self.until_lps / self.lps / len(pages.nodes)) * (LONG if pages.long else 1)


def new_plan(options, machine):
    nodes = len(topology.parse(options.timed).nodes)
    if not 2 <= nodes <= min(NODES_MAX, CPUS_MAX):
        raise Refused(f"--timed {options.timed}; allowed: 2 to {min(NODES_MAX, CPUS_MAX)} nodes")
    if len(options.machine) != 1:
        raise Refused(f"--machine: {len(options.machine)} machines; allowed with --timed: one, as FILE#NAME")
    modeled, = cut({name: machines.completed(one) for name, one in options.machine.items()}, nodes, "--timed").values()
    if modeled["caches"] not in USABLE_CORES:
        raise Refused(f"--machine: caches '{modeled['caches']}'; allowed: {', '.join(USABLE_CORES)}")
    modeled["instruction_ns"] = options.instruction or modeled["instruction_ns"]
    states = (STATES_QUICK if options.quick else STATES) * CACHES[modeled["caches"]].caches[-1].bytes
    sizes = QUICK if options.quick else FULL | CLAIMS if options.claims else FULL | {
        "counts": counts_of(nodes), "beside_counts": [count for count in BESIDE_COUNTS if count < nodes]}
    return TimedPlan(topology=options.timed, modeled=modeled, seed=1 if options.seed is None else options.seed,
                     runs=options.runs or 1, quick=options.quick, lps=round(states / STATE_BYTES), machine=machine,
                     **settings_of(options), **sizes)


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
    settings = {"weights": pages.weights, "beside": list(map(str, beside)) if pages.beside else [],
                "autonuma": {"node": pages.nodes[0], "threads": workers,
                             "bytes": plan.lps * len(pages.nodes) * STATE_BYTES} if pages.autonuma else {}}
    modeled, until = plan.modeled, plan.until_of(pages)
    cores_a_cpu = modeled["cores"] / plan.cpus_a_node(pages.nodes)
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        script, machine = Path(folder) / "spread_pages.py", Path(folder) / "machine.json"
        shutil.copy(Path(__file__).with_name(script.name), script)
        machine.write_text(json.dumps(modeled))
        outcome, found = run_timed(
            plan, phold.parent, ",".join(f"{number}:{node.mib}M" for number, node in zip(cpus, nodes)),
            ["python3", script, json.dumps(settings), *on_cpus(cpus, pages.nodes),
             *phold_words(phold, plan, pages.nodes, workers, until)],
            ["--machine", machine, "--caches", modeled["caches"], "--instruction",
             modeled["instruction_ns"] / cores_a_cpu], folder, on_tick, modeled["overlap"] * cores_a_cpu)
        migrated = script.with_name("pages_migrated")
        pages_migrated = migrated.read_text().strip() if migrated.exists() else ""
    return {**common_row(plan, pages, run, outcome, workers, until),
            "nodes": " ".join(map(str, pages.nodes)), "weights": " ".join(map(str, pages.weights)),
            "beside": int(pages.beside), "pages_migrated": pages_migrated,
            **(counted(outcome.stats[0]["numa"], found["memory"], pages) if found else {})}, outcome.message


def counted(numa, memory, pages):
    """The columns that come from the statistics of the run and from the guest's JSON. `memory`: lines by [node of the
    CPU][node of the memory]."""
    held = numa["placement"]["state"]["bytes_by_node"]
    wanted = [weight / sum(pages.weights) for weight in pages.weights] or uniform(len(held), pages.nodes)
    off = max(abs(have / sum(held) - share) for have, share in zip(held, wanted))
    return {"mib_by_node": " ".join(f"{have / 2**20:.1f}" for have in held), "shares_off": off,
            "lines_by_node": " ".join(str(sum(memory[node][m] for node in pages.nodes)) for m in range(len(memory)))}


# --- Results -----------------------------------------------------------------------------------

def results(plan, records):
    groups = [group(plan, records, *key) for key in plan.groups()]
    return {"groups": groups, "claims": [claim(f"{title(one)}: BWAP over {placement}", gain(one, placement), paper)
                                         for one in groups if not one["long"] for placement, paper in PAPER.items()]}


def title(group):
    count = len(group["nodes"])
    return (f"{count} worker node{'s' * (count != 1)}" + ", beside another program" * group["beside"]
            + ", long runs" * group["long"])


def gain(group, placement):
    """The gain of BWAP over a placement at its best proximity."""
    best = best_row([row for row in group["rows"] if row["placement"] == placement], placement, "seconds")
    return best and best["gain_of_bwap"]


def group(plan, records, nodes, beside, long):
    runs = list(plan.placements(nodes, beside, long))
    rows = [{"placement": placement, "proximity": proximity, "run": run.key[1],
             "seconds": spread(records.of(run).values()), "shares_off": spread(records.of(run, "shares_off").values()),
             "pages_migrated": spread(records.of(run, "pages_migrated").values()) if run.autonuma else None}
            for placement, proximity, run in runs]
    best = best_row(rows, BWAP, "seconds")
    tuned = next((run for row, (_, _, run) in zip(rows, runs) if row is best), None)
    for row, (_, _, run) in zip(rows, runs):
        row["gain_of_bwap"] = tuned and ratio(records, run, tuned, "wall_seconds")
    return {"nodes": list(nodes), "beside": beside, "long": long,
            "workers": sum(plan.cpus(nodes)[node] for node in nodes),
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
            if not run.autonuma and max(records.of(run, "shares_off").values(), default=0) > SHARES_OFF_MAX]
    if late:
        found.append("Pages are not placed as intended (the share of a node in the pages of the states is more than "
                     f"{100 * SHARES_OFF_MAX:g} percentage points off): {'; '.join(late)}.")
    idle = [run.key[1] for run in plan.variants()
            if run.autonuma and min(records.of(run, "pages_migrated").values(), default=1) == 0]
    if idle:
        found.append(f"The kernel moved no page, so AutoNUMA had no effect: {'; '.join(idle)}.")
    return found
