# SPDX-License-Identifier: Apache-2.0
"""The machine that a guest simulates: its NUMA nodes, their cores, memory, distances and sockets.

A topology is a name from PRESETS or a list of nodes `CPUS:MEM,...`; qemu_arguments() converts it to
QEMU's options. Distances are the firmware's table (SLIT): row = from, column = to, 10 = the node
itself. Emulated memory is equally fast everywhere, so no latency can be measured here.
"""

import itertools
import re
from dataclasses import dataclass

NODE = re.compile(r"(\d+):(\d+)([MG])")
MIB = {"M": 1, "G": 1024}


@dataclass(frozen=True)
class Node:
    cpus: int  # 0: a node with memory only
    mib: int


@dataclass(frozen=True)
class Topology:
    nodes: list[Node]
    distances: list[list[int]] | None  # None: 10 to itself, 20 to all others (the kernel's default)
    sockets: int | None = None  # None: as many as possible


# name: (nodes, distances). Each topology needs at most 2.5 GiB of the host's memory, and uses only
# pages that are touched.
PRESETS = {
    "n1": ("2:1G", None),
    "n2": ("2:768M,2:768M", "10,21;21,10"),
    "n4": ("2:512M,2:512M,2:512M,2:512M",
           "10,16,22,28;16,10,16,22;22,16,10,16;28,22,16,10"),
    # Distances there and back differ, so a program that confuses rows and columns is detected.
    "n4a": ("2:512M,2:512M,2:512M,2:512M",
            "10,16,22,28;17,10,16,22;23,17,10,16;29,23,17,10"),
    "n8": (",".join(["1:320M"] * 8), None),
    # Two sockets and a node without cores, like persistent or CXL memory.
    "tier": ("2:512M,2:512M,0:1G", "10,21,30;21,10,40;30,40,10"),
}


def parse_distances(text, count):
    try:
        rows = [[int(value) for value in row.split(",")] for row in text.split(";")]
    except ValueError:
        rows = []
    if len(rows) != count or any(len(row) != count for row in rows):
        raise ValueError(f"distances '{text}'; allowed: {count} rows of {count} numbers, as "
                         "'10,20;20,10'")
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            if not (value == 10 if i == j else 10 < value < 255):
                raise ValueError(f"distance {value} from node {i} to node {j}; allowed: 10 on the "
                                 "diagonal and 11 to 254 elsewhere")
    return rows


def possible_sockets(nodes):
    """The numbers of sockets that divide the nodes, in their order, into parts with equal numbers of
    cores. QEMU has no syntax for unequal sockets."""
    ends = list(itertools.accumulate(node.cpus for node in nodes))
    return [count for count in range(1, len(nodes) + 1)
            if all(ends[-1] * i % count == 0 and ends[-1] * i // count in ends for i in range(1, count))]


def parse_sockets(text, nodes):
    allowed = [str(count) for count in possible_sockets(nodes)]
    if text not in allowed:
        raise ValueError(f"sockets '{text}'; allowed: {', '.join(allowed)}, because a node is on one socket, and all "
                         "sockets have the same number of cores")
    return int(text)


def parse(text, distances=None, sockets=None):
    """The topology of a preset's name or a list of nodes; `distances` replaces the distances of the
    preset, and `sockets` replaces its number of sockets. The arguments are texts.

    Raises ValueError, whose text names the allowed values.
    """
    nodes_text, preset_distances = PRESETS.get(text, (text, None))
    nodes = []
    for item in nodes_text.split(","):
        match = NODE.fullmatch(item)
        if not match:
            raise ValueError(f"topology '{text}'; allowed: {', '.join(PRESETS)}, or nodes "
                             "CPUS:MEM,... with MEM as 512M or 1G")
        nodes.append(Node(int(match[1]), int(match[2]) * MIB[match[3]]))
    if nodes[0].cpus == 0:
        raise ValueError(f"topology '{text}': the first node must have cores, to boot from")
    if any(node.mib == 0 for node in nodes):
        raise ValueError(f"topology '{text}': every node needs memory")
    distances = distances or preset_distances
    return Topology(nodes, parse_distances(distances, len(nodes)) if distances else None,
                    parse_sockets(sockets, nodes) if sockets is not None else None)


def qemu_arguments(topology):
    nodes = topology.nodes
    cpus = sum(node.cpus for node in nodes)
    # The kernel assumes that the cores of a socket share a cache. If a socket has several nodes, the
    # kernel prints a warning about this cache while it starts, and ignores the cache.
    sockets = topology.sockets or max(possible_sockets(nodes))
    arguments = ["-m", f"{sum(node.mib for node in nodes)}M",
                 "-smp", f"{cpus},sockets={sockets},cores={cpus // sockets},threads=1"]

    first_cpu = 0
    for i, node in enumerate(nodes):
        arguments += ["-object", f"memory-backend-memfd,id=memory{i},size={node.mib}M,share=on"]
        described = f"node,nodeid={i},memdev=memory{i}"
        if node.cpus:
            described += f",cpus={first_cpu}-{first_cpu + node.cpus - 1}"
            first_cpu += node.cpus
        arguments += ["-numa", described]
    for i, row in enumerate(topology.distances or []):
        for j, value in enumerate(row):
            arguments += ["-numa", f"dist,src={i},dst={j},val={value}"]
    return arguments
