# SPDX-License-Identifier: Apache-2.0
"""Machines with several nodes, for the modeled guest.

Each machine has caches from meter/presets.py, latencies and bandwidths of pairs of nodes, the
bandwidth of each memory, and for each figure its source or `assumed`. The matrices are
[node of the CPU][node of the memory], in nanoseconds and MB/s.
"""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path

from lib import machine_file
from research.meter.estimate import Memory, read_memory
from research.meter.presets import MACHINES as CORES

# The tables of the papers AsymSched and BWAP. They have no latencies, and some of them no bandwidth of own memory.
TABLES = Path(__file__).resolve().parents[1] / "paper_bwap/machines.json"
USUAL = "opteron6272_8n"  # has all FIGURES
FIGURES = ("cores", "own_mb_s", "caches", "instruction_ns", "overlap", "assumed")
PAPER_TABLES = {"opteron6272": USUAL, "opteron-bwap": "opteron_8n", "xeon-e5-2660v4": "xeon_e5_2660v4_4n"}


@dataclass(frozen=True)
class Machine:
    cores: str  # name in meter/presets.py
    latency_ns: list
    link: list  # MB/s of a pair of nodes; 0: no limit of its own
    bandwidth: list  # MB/s of each memory; 0: no limit
    sources: str


def _matrix(nodes, local, of_pair):
    return [[local if c == m else of_pair(c, m) for m in range(nodes)] for c in range(nodes)]


def _twisted_ladder(c, m):
    """Hops between two of the eight nodes of a machine with four Opteron packages: each package has two
    dies, and each die is linked to the die at the same position in each other package."""
    return 1 if c // 2 == m // 2 or c % 2 == m % 2 else 2


def _presets():
    opteron = _matrix(8, 0, _twisted_ladder)
    yield "opteron6128", Machine(
        "opteron6128", _matrix(8, 60, lambda c, m: 60 + 36 * opteron[c][m]),
        _matrix(8, 0, lambda c, m: 6000 // opteron[c][m]), [12_800] * 8,
        "the machine of NUMA Time Warp, 8 nodes x 4 cores. Topology: P. Conway et al., IEEE Micro 30(2), 2010. "
        "Latencies and bandwidths: assumed, with the ratios of distances of 10, 16 and 22 and half a HyperTransport "
        "link of 16 bits for two hops")
    yield "origin2000", Machine(
        "origin2000-timed", _matrix(8, 310, lambda c, m: 540 if c // 2 == m // 2 else 757),
        _matrix(8, 0, lambda c, m: 0), [670] * 8,
        "the machine of the paper about state saving, 8 nodes x 2 processors, two nodes at each router. J. Laudon, "
        "D. Lenoski, The SGI Origin: a ccNUMA highly scalable server (ISCA 1997): 310 ns to own memory, 540 ns to the "
        "node at the same router, a mean of 726 ns to all other nodes (757 ns beyond the router gives this mean). "
        "Bandwidth of a memory: 670 MB/s, assumed; links: no limit")
    yield "epyc", Machine(
        "epyc7003", _matrix(8, 96, lambda c, m: 112 if c // 4 == m // 4 else 192),
        _matrix(8, 0, lambda c, m: 0 if c // 4 == m // 4 else 18_000), [38_000] * 8,
        "two sockets of four nodes each (NPS4). Latencies and bandwidths: assumed, rounded from figures that are "
        "usual for AMD EPYC 7003")
    yield "ampere", Machine(
        "altra", _matrix(2, 95, lambda c, m: 190), _matrix(2, 0, lambda c, m: 35_000), [150_000] * 2,
        "two sockets, one node each. All figures: assumed, for a machine like Ampere Altra")
    yield "flat", Machine(
        "opteron6128", _matrix(4, 60, lambda c, m: 60), _matrix(4, 0, lambda c, m: 0), [0] * 4,
        "a control without distances: every node reads every memory equally fast")
    for name, table in PAPER_TABLES.items():
        found = completed(json.loads(TABLES.read_text())[table])
        own = CORES[found["caches"]].memory_ns
        yield name, Machine(
            found["caches"], found.get("latency_ns") or _matrix(len(found["bw"]), own, lambda c, m: 2 * own),
            *_links_and_memories(found["bw"]), f"{found['source']}. Assumed: {found['assumed']}")


def completed(machine):
    """`machine` of a machine file, with all FIGURES, and with the bandwidth of own memory in `bw`."""
    usual = json.loads(TABLES.read_text())[USUAL]
    found = {name: usual[name] for name in FIGURES} | machine
    return found | {"bw": [[rate or found["own_mb_s"] for rate in row] for row in found["bw"]]}


def _links_and_memories(bandwidth):
    return ([[0 if c == m else rate for m, rate in enumerate(row)] for c, row in enumerate(bandwidth)],
            [row[node] for node, row in enumerate(bandwidth)])


MACHINES = dict(_presets())


def of_topology(topology, cores):
    """The machine that the distances of a topology describe: the latency of own memory times distance
    / 10, and no limit of bandwidth."""
    nodes = len(topology.nodes)
    memory = Memory().completed(topology.distances, nodes)
    latency = [[memory.latency_ns(c, m, CORES[cores]) for m in range(nodes)] for c in range(nodes)]
    return Machine(cores, latency, _matrix(nodes, 0, lambda c, m: 0), [0] * nodes,
                   "latencies: own memory times distance / 10; bandwidths: no limit")


def with_distances(topology, machine):
    """The topology whose distances are proportional to the latencies of the machine."""
    def distance(c, m):
        return 10 if c == m else min(254, max(11, round(10 * machine.latency_ns[c][m] / machine.latency_ns[c][c])))

    nodes = range(len(topology.nodes))
    return dataclasses.replace(topology, distances=[[distance(c, m) for m in nodes] for c in nodes])


def read(text, topology, cores):
    """The machine NAME, or the machine in FILE or FILE#NAME, as ./jobs/run machine writes it. Raises
    BadMachine."""
    nodes = len(topology.nodes)
    if text in MACHINES:
        found = MACHINES[text]
        if len(found.bandwidth) != nodes:
            raise machine_file.BadMachine(f"{text} has {len(found.bandwidth)} nodes; allowed: a machine with {nodes} "
                                          "nodes, like the topology")
        return found
    memory = read_memory(text, nodes).completed(topology.distances, nodes)
    for name, rows, low, high in (("latency_ns", memory.latency, 1, 1e5), ("bw", memory.bandwidth, 1, 1e7)):
        for value in (value for row in rows or [] for value in row):
            if value != 0 and not low <= value <= high:
                raise machine_file.BadMachine(f"{name} contains {value!r}; allowed: {low:g} to {high:g}")
    latency = [[memory.latency_ns(c, m, CORES[cores]) for m in range(nodes)] for c in range(nodes)]
    return Machine(cores, latency, *_links_and_memories(memory.bandwidth), f"bandwidths: {text}; latencies: " + (
        text if memory.latency else "own memory times distance / 10"))
