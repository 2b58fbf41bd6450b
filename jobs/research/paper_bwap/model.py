# SPDX-License-Identifier: Apache-2.0
"""The speed at which memory is read from all nodes at once, by the model with which
"Bandwidth-Aware Page Placement in NUMA Systems" (Gureya et al., IPDPS 2020) tunes its canonical
weights.

A worker reads its pages from all nodes at the same time. From each node, it reads the share of the
pages that is on this node. The speed of a worker is the minimum of bandwidth / share, and the speed
of a run is that of its slowest worker:

    speed = min over workers w and nodes m of bw[w][m] / share[m]        (MB/s per worker)

So the best share of node m is proportional to min over w of bw[w][m]. The model ignores that
workers share links and memories: each bandwidth is that of a single reader."""

from itertools import combinations
from statistics import median

# The step of the DWP tuner: a tenth of all pages, as in numa/decide/dwp_search.hpp.
STEP = 0.1


def filled(bw):
    """Replaces an unknown bandwidth on the diagonal (0) by that of the node's fastest link."""
    return [[value if value > 0 else max(row) for value in row] for row in bw]


def speed(bw, workers, shares):
    return min(bw[w][m] / share for w in workers for m, share in enumerate(shares) if share > 0)


def local_speed(bw, workers):
    """The speed if each worker's pages are on its own node, so that each page has one reader."""
    return min(bw[w][w] for w in workers)


def uniform(nodes, on):
    return [1 / len(on) if m in on else 0 for m in range(nodes)]


def canonical(bw, workers):
    """The canonical weights. `bw`: as in the machine file; 0 is left out, as in
    numa/decide/page_weights.hpp."""
    lowest = [min((bw[w][m] for w in workers if bw[w][m] > 0), default=max(bw[m])) for m in range(len(bw))]
    return [value / sum(lowest) for value in lowest]


def at_proximity(shares, workers, dwp):
    """The shares after a part `dwp` of the other nodes' pages has moved to the workers' nodes."""
    own = sum(shares[w] for w in workers)
    return [share * ((own + dwp * (1 - own)) / own if m in workers else 1 - dwp)
            for m, share in enumerate(shares)]


def tuned(bw, workers, shares):
    """(speed, -proximity) at the best step of proximity. Among steps with equal speeds, the one
    with the lowest proximity is the best."""
    moved = 1 - sum(shares[w] for w in workers)
    steps = [0.0]
    while moved > 1e-9 and steps[-1] < 1:
        steps.append(min(1.0, steps[-1] + STEP / moved))
    return max((speed(bw, workers, at_proximity(shares, workers, dwp)), -dwp) for dwp in steps)


def speeds(machine, workers):
    """The speed of each placement, and the proximity at which each tuner ends."""
    bw, nodes = filled(machine), len(machine)
    everywhere = uniform(nodes, range(nodes))
    without, without_at = tuned(bw, workers, everywhere)
    bwap, bwap_at = tuned(bw, workers, canonical(machine, workers))
    return {"first touch": speed(bw, workers, uniform(nodes, workers[:1])),
            "uniform workers": speed(bw, workers, uniform(nodes, workers)),
            "uniform all": speed(bw, workers, everywhere),
            "without canonical tuner": without, "BWAP": bwap, "local": local_speed(bw, workers),
            "proximity without canonical tuner": -without_at, "proximity of BWAP": -bwap_at}


PLACEMENTS = ("first touch", "uniform workers", "uniform all", "without canonical tuner", "BWAP", "local")


def spread(values):
    values = sorted(values)
    return {"median": median(values), "least": values[0], "most": values[-1]}


def best_set(machine, count):
    """The `count` nodes with the largest sum of bandwidths between them, as in AsymSched."""
    return max(combinations(range(len(machine)), count),
               key=lambda nodes: (sum(machine[a][b] for a in nodes for b in nodes if a != b),
                                  [-node for node in nodes]))


def table(machine):
    """For each number of worker nodes: spreads over all sets of nodes, and the best_set()."""
    rows = []
    for count in range(1, len(machine) + 1):
        of_sets = [speeds(machine, nodes) for nodes in combinations(range(len(machine)), count)]
        best = best_set(machine, count)
        rows.append({
            "worker_nodes": count, "sets": len(of_sets),
            "mb_s": {name: spread(found[name] for found in of_sets) for name in of_sets[0]
                     if name in PLACEMENTS},
            "gain_of_bwap": {name: spread(found["BWAP"] / found[name] for found in of_sets)
                             for name in PLACEMENTS if name != "BWAP"},
            "best_connected": {"nodes": list(best), **speeds(machine, best)}})
    return rows
