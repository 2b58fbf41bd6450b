# SPDX-License-Identifier: Apache-2.0
"""Parts of the metered and the timed series: the placements that spread pages over nodes, the numbers of worker nodes,
and the machines."""

from model import at_proximity, canonical, uniform
from research.series.command import Refused

WORKERS, ALL, EVEN, BWAP = "uniform workers", "uniform all", "without canonical tuner", "BWAP"


def shares(bw, nodes, placement, proximity):
    """The intended share of the pages on each node if the workers are on `nodes`."""
    everywhere = canonical(bw, nodes) if placement == BWAP else uniform(len(bw), range(len(bw)))
    return at_proximity(everywhere, nodes, proximity)


def counts_of(nodes):
    """The powers of two up to `nodes`, and `nodes`."""
    return sorted({min(1 << bit, nodes) for bit in range(nodes.bit_length() + 1)})


def cut(machines, nodes, option):
    """The machines, reduced to their first `nodes` nodes. `option` has selected the number of nodes."""
    found = {}
    for name, machine in machines.items():
        bw, source = machine["bw"], machine.get("source") or "your machine"
        if len(bw) < nodes:
            raise Refused(f"--machine: {name} has {len(bw)} nodes; allowed with this {option}: {nodes} or more")
        if len(bw) > nodes:
            source += f"; of its {len(bw)} nodes the first {nodes}"
        matrices = {key: machine[key] for key in ("bw", "latency_ns") if key in machine}
        found[name] = machine | {"source": source} | {
            key: [row[:nodes] for row in rows[:nodes]] for key, rows in matrices.items()}
    return found


def best_row(rows, placement, column):
    """The row with the smallest median of `column` among the proximities at which a tuner may end; None if there is no
    value."""
    tried = (WORKERS, ALL, EVEN) if placement == EVEN else (placement,)
    return min((row for row in rows if row["placement"] in tried and row[column]),
               key=lambda row: row[column]["median"], default=None)
