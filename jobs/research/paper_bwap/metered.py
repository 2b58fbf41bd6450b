# SPDX-License-Identifier: Apache-2.0
"""./jobs/run paper-bwap --meter: the paper's placements in a guest with several nodes, where the
meter counts the accesses of each node's CPUs to each node's memory. The model is memory-bound:
PHOLD with states of 4 KiB, which each event changes completely.

Emulated memory has the same latency on all nodes, so a run could not tune its proximity. Therefore
each proximity is a separate run, and the result of a tuner is the best of these runs. A run is
evaluated by bounds, in nanoseconds per access to memory:
  wait      each access waits for the previous one (CPU time)
  pair      only the busiest pair of nodes takes time (wall time): the paper's model
  memory    only the busiest node's memory takes time, with the bandwidth of its fastest link
A real machine is between these bounds, because it prefetches. The bounds are per access and not per
event: the number of accesses per event does not depend on the placement of pages, but on the number
of snapshots that wait for GVT, and therefore on the load of the host."""

import dataclasses
import json
import tempfile
from pathlib import Path

import topology
from lib.series.runner import common_row, rounds
from model import best_set, filled, speeds
from placements import ALL, BWAP, EVEN, WORKERS, best_row, counts_of, cut, shares
from research.meter import series
from research.meter.counts import Counts, together
from research.meter.estimate import LINE_BYTES, Memory
from research.meter.presets import MACHINES
from research.series.command import Refused
from research.series.summary import spread, warnings_about_runs

COLUMNS = ["machine", "nodes", "placement", "proximity", "local_an_event", "remote_an_event",
           "shares_off", "pages_moved", *series.COLUMNS, "matrix_an_event"]
CACHES = "opteron6272"  # of one of the two published machines
STATE_BYTES = 4096
# 16 MiB of state per worker; the last cache level of a node has 6 MiB.
LPS_A_WORKER = 4096
# The end time of a run with workers on all cores. Runs with fewer workers are longer, so that all
# runs have the same number of events: about 65,000 on n8.
UNTIL = 2
# During this share of the events, pages move to their nodes. The results are counted afterwards.
SETTLING_SHARE = 0.5
PERIOD_SECONDS = 0.5
PROXIMITIES = (0, 0.5, 1)
# 8 MiB of state for each worker. With states that fit into the caches, only snapshots would go to
# memory, and the number of snapshots depends on the speed of the host.
QUICK = {"lps": 2048, "until": 3, "counts": [2], "proximities": [0]}

LOCAL = "first touch (local)"
SHARES_OFF_MAX = 0.05


@dataclasses.dataclass(frozen=True)
class Placed:
    """One placement for workers on all cores of some nodes."""

    machine: str
    nodes: tuple
    placement: str
    proximity: float | None = None

    @property
    def key(self):
        at = "" if self.proximity is None or self.placement not in (EVEN, BWAP) else f" at {self.proximity:g}"
        return (f"{len(self.nodes)} worker nodes",
                f"{self.machine}, nodes {' '.join(map(str, self.nodes))}: {self.placement}{at}")

    def shares(self, bw):
        """The intended share of the pages on each node; None if pages are on their worker's
        node."""
        return None if self.placement == LOCAL else shares(bw, self.nodes, self.placement, self.proximity)

    def arguments(self, bw, folder):
        """The options of phold for this placement."""
        if self.placement == LOCAL:
            return ["--place", "local"]
        if self.placement == ALL:
            return ["--place", "interleave"]
        file = folder / "machine.json"
        even = [[1] * len(bw)] * len(bw)
        file.write_text(json.dumps({"bw": bw if self.placement == BWAP else even}))
        return ["--place", "weighted", "--machine", file, "--proximity", self.proximity]


@dataclasses.dataclass
class MeterPlan:
    topology: str
    machines: dict  # name -> source, and bw of the nodes of the topology
    counts: list  # numbers of worker nodes
    proximities: list
    lps: int  # per worker
    until: float
    seed: int
    runs: int
    quick: bool
    machine: dict

    def node_cpus(self):
        return [node.cpus for node in topology.parse(self.topology).nodes]

    def workers(self, variant):
        return sum(self.node_cpus()[node] for node in variant.nodes)

    def until_of(self, variant):
        return self.until * sum(self.node_cpus()) / self.workers(variant)

    def cpus(self, variant):
        """The CPUs of the worker nodes, in the format of taskset."""
        owners = [node for node, cpus in enumerate(self.node_cpus()) for _ in range(cpus)]
        return ",".join(str(cpu) for cpu, node in enumerate(owners) if node in variant.nodes)

    def variants(self):
        return [variant for name, machine in self.machines.items() for count in self.counts
                for variant in self._of(name, best_set(machine["bw"], count))]

    def _of(self, machine, nodes):
        yield Placed(machine, nodes, LOCAL)
        yield Placed(machine, nodes, WORKERS, 1)
        yield Placed(machine, nodes, ALL, 0)
        has_others = len(nodes) < len(self.machines[machine]["bw"])
        proximities = self.proximities if has_others else [0]
        yield from (Placed(machine, nodes, EVEN, proximity) for proximity in proximities if 0 < proximity < 1)
        yield from (Placed(machine, nodes, BWAP, proximity) for proximity in proximities)

    def schedule(self):
        return rounds(self.variants(), self.runs, self.seed)


def new_plan(options, machine):
    nodes = topology.parse(options.meter).nodes
    if len(nodes) < 2 or any(node.cpus == 0 for node in nodes):
        raise Refused(f"--meter {options.meter}; allowed: two nodes or more, each with cores")
    machines = cut(options.machine, len(nodes), "--meter")
    quick = QUICK if options.quick else {}
    if options.quick:
        machines = dict(list(machines.items())[:1])
    return MeterPlan(topology=options.meter, machines=machines, counts=quick.get("counts", counts_of(len(nodes))),
                     proximities=list(quick.get("proximities", PROXIMITIES)), lps=quick.get("lps", LPS_A_WORKER),
                     until=quick.get("until", UNTIL), seed=1 if options.seed is None else options.seed,
                     runs=options.runs or 1, quick=options.quick, machine=machine)


def run_once(phold, plan, variant, run, on_tick):
    """(the row for runs.csv, the message if the run failed)."""
    bw, workers = plan.machines[variant.machine]["bw"], plan.workers(variant)
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        command = ["taskset", "-c", plan.cpus(variant), phold, "--lps", plan.lps * workers, "--state", STATE_BYTES,
                   "--touch", STATE_BYTES, "--remote", 0.25, "--window", 1, "--until", plan.until_of(variant),
                   "--seed", plan.seed, "--workers", workers, "--rebind", "off", "--pagemigd", f"{workers}@0.25",
                   *variant.arguments(bw, Path(folder))]
        outcome, found = series.run_metered(phold.parent, plan.topology, command,
                                            ["--caches", CACHES, "--period", PERIOD_SECONDS], folder, on_tick)
    return {**common_row(plan, variant, run, outcome, workers, plan.until_of(variant)),
            "machine": variant.machine, "nodes": " ".join(map(str, variant.nodes)), "placement": variant.placement,
            "proximity": variant.proximity, "pages_moved": outcome.stats[0].get("numa", {}).get("pages_moved", ""),
            **(counted(found, bw, variant) if found else {})}, outcome.message


def settled(periods):
    """The sum of the periods that begin after SETTLING_SHARE of the events; the last period if
    there is no such period."""
    total, before = sum(one.committed or 0 for one in periods), 0
    for i, one in enumerate(periods):
        if before >= SETTLING_SHARE * total:
            return together(periods[i:])
        before += one.committed or 0
    return periods[-1]


def counted(found, bw, variant):
    """The columns that come from the meter's JSON."""
    counts = settled([Counts(fields) for fields in found["periods"]])
    columns = series.counted(found, counts)
    loop, known = counts.of_loop(), counts.committed
    if not known:
        return columns
    local = loop.sum_local("memory")
    nodes = range(len(bw))
    matrix = [[round(loop.sum("memory", cpu_node=c, node=m) / known, 4) for m in nodes] for c in nodes]
    return {**columns, "local_an_event": local / known, "remote_an_event": (loop.sum("memory") - local) / known,
            "shares_off": shares_off(loop, variant.shares(bw)), "matrix_an_event": json.dumps(matrix)}


def shares_off(loop, wanted):
    """The largest difference between a node's share in the accesses to states and the intended
    share of its pages. None if pages are on their worker's node."""
    by_node = [loop.sum("memory", kind="state", node=node) for node in range(len(wanted or []))]
    return max(abs(count / sum(by_node) - share) for count, share in zip(by_node, wanted)) if any(by_node) else None


# --- Results -----------------------------------------------------------------------------------

SHOWN = ("local_share", "local_an_event", "remote_an_event", "passed_an_event", "shares_off")
BOUNDS = ("wait_ns", "pair_ns", "memory_ns")


def bounds(matrix, bw, distances):
    """The BOUNDS for `matrix`, the accesses to memory by node of the CPU and node of the page."""
    nodes, total, bw = range(len(bw)), sum(map(sum, matrix)), filled(bw)
    share = [[value / total for value in row] for row in matrix]
    near = Memory().completed(distances, len(bw))
    pairs = [(c, m) for c in nodes for m in nodes]
    line_ns = 1000 * LINE_BYTES  # at 1 MB/s
    return {"wait_ns": sum(share[c][m] * near.latency_ns(c, m, MACHINES[CACHES]) for c, m in pairs),
            "pair_ns": max(line_ns * share[c][m] / bw[c][m] for c, m in pairs),
            "memory_ns": max(line_ns * sum(row[m] for row in share) / max(row[m] for row in bw) for m in nodes)}


def results(plan, records):
    return {"machines": {name: {"source": machine["source"], "bw": machine["bw"],
                                "worker_nodes": [of_nodes(plan, records, name, best_set(machine["bw"], count))
                                                 for count in plan.counts]}
                         for name, machine in plan.machines.items()}}


def of_nodes(plan, records, machine, nodes):
    bw, distances = plan.machines[machine]["bw"], topology.parse(plan.topology).distances
    rows = []
    for variant in plan.variants():
        if (variant.machine, variant.nodes) != (machine, nodes):
            continue
        matrices = matrices_of(records, variant)
        of_runs = [bounds(matrix, bw, distances) for matrix in matrices]
        rows.append({"placement": variant.placement, "proximity": variant.proximity,
                     **{column: spread(records.of(variant, column).values()) for column in SHOWN},
                     **{bound: spread(of_run[bound] for of_run in of_runs) for bound in BOUNDS},
                     "matrix_an_event": matrices[0] if matrices else None})
    predicted = speeds(bw, nodes)
    predicted[LOCAL] = predicted["local"]
    found = {bound: {placement: best_of(rows, placement, bound) for placement in (LOCAL, WORKERS, ALL, EVEN, BWAP)}
             for bound in BOUNDS}
    return {"nodes": list(nodes), "workers": plan.workers(Placed(machine, nodes, LOCAL)), "rows": rows,
            "predicted_mb_s": {placement: predicted[placement] for placement in found["wait_ns"]}, **found}


def best_of(rows, placement, bound):
    """The smallest bound over the proximities at which a tuner may end, and this proximity. None if
    nothing was counted."""
    best = best_row(rows, placement, bound)
    return best and {"ns": best[bound]["median"], "proximity": best["proximity"]}


def matrices_of(records, variant):
    """The matrices of all runs that have one."""
    return [json.loads(row["matrix_an_event"]) for row in records.good()
            if (row["workload"], row["variant"]) == variant.key and row["matrix_an_event"]]


def warnings(plan, records):
    found = [series.EMULATED, *warnings_about_runs(plan, records)]
    off = {variant.key[1]: max(records.of(variant, "shares_off").values(), default=0) for variant in plan.variants()}
    late = [name for name, by in off.items() if by > SHARES_OFF_MAX]
    if late:
        found.append("Pages were not yet placed as intended (the share of accesses to the states on a node is more than "
                     f"{100 * SHARES_OFF_MAX:g} percentage points off): {'; '.join(late)}.")
    return found
