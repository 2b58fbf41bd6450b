# SPDX-License-Identifier: Apache-2.0
"""The cores of this machine that this process may use, with their NUMA nodes and sockets.
jobs/lib/launch.py distributes them to ranks. The data is read from /sys, because this needs no
package, and the output of hwloc's commands is not a stable interface."""

import os
from dataclasses import dataclass
from pathlib import Path

SYSTEM = Path("/sys/devices/system")


@dataclass(frozen=True)
class Core:
    cpus: tuple  # the core's hardware threads that this process may use
    node: int
    socket: int


@dataclass(frozen=True)
class Machine:
    cores: tuple  # ordered by node, then by CPU
    # Whether mpirun and this module count the same nodes and cores. mpirun counts those of the
    # whole machine, including CPUs outside its affinity and nodes without cores.
    regular: bool

    def parts(self, by):
        """The CPUs of each "node" or "socket" that has cores, in order of their numbers."""
        parts = {}
        for core in self.cores:
            parts.setdefault(getattr(core, by), []).extend(core.cpus)
        return [sorted(parts[number]) for number in sorted(parts)]

    def shares(self, count):
        """The CPUs of each of `count` ranks. All ranks get the same number of neighboring cores.
        Requires: at least `count` cores."""
        each = len(self.cores) // count
        return [sorted(cpu for core in self.cores[i * each:(i + 1) * each] for cpu in core.cpus)
                for i in range(count)]


def numbers(text):
    """The numbers of a list as the kernel writes it, "0-3,8"."""
    found = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def list_text(cpus):
    """The inverse of numbers(): [0, 1, 2, 5] is "0-2,5"."""
    runs = []
    for cpu in cpus:
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def this_machine(system=SYSTEM, allowed=None):
    def text(path):
        try:
            return (system / path).read_text()
        except OSError:
            return ""  # a kernel without NUMA, a container without /sys

    allowed = set(os.sched_getaffinity(0)) if allowed is None else set(allowed)
    nodes = {}
    bare_nodes = False
    for number in numbers(text("node/online")):
        cpus = numbers(text(f"node/node{number}/cpulist"))
        bare_nodes = bare_nodes or not cpus
        nodes.update(dict.fromkeys(cpus, number))
    cores = {}
    for cpu in allowed:
        topology = f"cpu/cpu{cpu}/topology"
        siblings = numbers(text(f"{topology}/thread_siblings_list")) or [cpu]
        socket = max(0, int(text(f"{topology}/physical_package_id") or 0))
        core = Core(tuple(sorted(allowed.intersection(siblings))), nodes.get(cpu, 0), socket)
        cores[core.cpus] = core
    online = set(numbers(text("cpu/online"))) or allowed
    return Machine(tuple(sorted(cores.values(), key=lambda core: (core.node, core.cpus))),
                   regular=allowed == online and not bare_nodes)
