# SPDX-License-Identifier: Apache-2.0
"""Estimates the time of the counted run on a machine with several nodes, in nanoseconds per event.

The time of a CPU is the time of its instructions plus the latencies of all misses. Each miss waits
for the previous one, without overlap and prefetching, so the time is an upper bound for the cost of
memory. The latency of another node's memory is the latency of own memory times distance / 10, where
the distance is from the firmware's table (10: the node itself). --machine replaces these latencies.

Contention: the transfer of lines between a pair of nodes takes at least the time (bytes of the
lines) / (bandwidth of the pair). The transfer of lines from one node's memory takes at least the
time (bytes of the lines) / (largest bandwidth with which any node reads from this memory). This
second bound is used only if the bandwidth of the node to its own memory is known. If the longest
transfer takes more time than the busiest CPU, the estimate is multiplied by the ratio of these two
times.
"""

from dataclasses import dataclass

from lib import machine_file
from lib.machine_file import BadMachine
from lib.number_text import plain

LINE_BYTES = 64


def _matrix(rows, name, nodes, zero_on_diagonal):
    if not isinstance(rows, list) or len(rows) != nodes or any(
            not isinstance(row, list) or len(row) != nodes for row in rows):
        shape = f"{len(rows)} rows" if isinstance(rows, list) else "no rows"
        raise BadMachine(f"{name} has {shape}; allowed: {nodes} rows of {nodes} numbers, like the topology")
    for c, row in enumerate(rows):
        for m, value in enumerate(row):
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not (0 < value < float("inf") or (value == 0 and c == m and zero_on_diagonal)):
                raise BadMachine(f"{name}[{c}][{m}] is {value!r}; allowed: above 0"
                                 + (" (0 on the diagonal: unknown)" if zero_on_diagonal else ""))
    return rows


def read_memory(text, nodes):
    """The Memory in FILE, or in FILE#NAME if FILE contains several machines. Raises BadMachine."""
    _, machine = machine_file.read(text)
    if not isinstance(machine, dict) or "bw" not in machine:
        raise BadMachine("`bw` is missing; allowed: JSON with rows `bw`, or FILE#NAME of a machine with such rows")
    latency = machine.get("latency_ns")
    return Memory(_matrix(machine["bw"], "bw", nodes, True),
                  latency and _matrix(latency, "latency_ns", nodes, False))


@dataclass(frozen=True)
class Memory:
    # Both are [node of the CPU][node of the page].
    bandwidth: list | None = None  # MB/s; 0 on the diagonal: unknown
    latency: list | None = None  # ns
    distances: list | None = None

    def completed(self, distances, nodes):
        distances = distances or [[10 if c == m else 20 for m in range(nodes)] for c in range(nodes)]
        return Memory(self.bandwidth, self.latency, distances)

    def latency_ns(self, cpu_node, node, machine):
        if self.latency:
            return self.latency[cpu_node][node]
        return machine.memory_ns * self.distances[cpu_node][node] / 10


class Estimate:
    """The estimate for the event loop."""

    def __init__(self, counts, machine, memory):
        loop = counts.of_loop()
        self._committed = counts.committed
        self._memory = memory
        # CPU -> part of its time -> ns.
        times = {}

        def add(cpu, what, ns):
            times.setdefault(cpu, dict.fromkeys(("instructions", "caches", "memory", "TLB"), 0))[what] += ns

        for row in loop.instructions:
            add(row.cpu, "instructions", row.count * machine.instruction_ns)
        for row in loop.tlb:
            add(row.cpu, "TLB", row.walks * machine.walk_ns)
        for row in loop.accesses:
            missed = [row.l1, row.l2, row.l3][:len(machine.caches)]
            hits = [before - after for before, after in zip(missed, missed[1:])]
            add(row.cpu, "caches", sum(n * ns for n, ns in zip(hits, machine.hit_ns[1:])))
            add(row.cpu, "memory", (row.memory + row.passed)
                * memory.latency_ns(row.cpu_node, row.node, machine))
        self._parts = {what: sum(of_cpu[what] for of_cpu in times.values())
                       for what in next(iter(times.values()), {})}
        busiest_ns = max((sum(of_cpu.values()) for of_cpu in times.values()), default=0)
        self._transfer_ns, where = self._longest_transfer(loop)
        is_stretched = 0 < busiest_ns < self._transfer_ns
        self._stretch, self._where = (self._transfer_ns / busiest_ns, where) if is_stretched else (1, None)

    def _longest_transfer(self, loop):
        """(nanoseconds, name of the pair or node) of the longest transfer."""
        bandwidth = self._memory.bandwidth
        if not bandwidth:
            return 0, None
        nodes = range(len(bandwidth))
        moved = [[LINE_BYTES * (loop.sum("memory", cpu_node=c, node=m) + loop.sum("passed", cpu_node=c, node=m))
                  for m in nodes] for c in nodes]
        # 1 MB/s is 1 byte per microsecond.
        times = {f"node {c} to node {m}": 1000 * moved[c][m] / bandwidth[c][m]
                 for c in nodes for m in nodes if bandwidth[c][m]}
        if len(nodes) > 1:
            times |= {f"all nodes to node {m}": 1000 * sum(moved[c][m] for c in nodes)
                      / max(bandwidth[c][m] for c in nodes) for m in nodes if bandwidth[m][m]}
        where = max(times, key=times.get, default=None)
        return times.get(where, 0), where

    @property
    def ns(self):
        """CPU time: per event if the number of events is known, else the total."""
        return self._stretch * sum(self._parts.values()) / (self._committed or 1)

    @property
    def transfer_ns(self):
        """The wall time of the longest transfer (of a pair of nodes, or of one node), if nothing
        else took time: per event if the number of events is known, else the total."""
        return self._transfer_ns / (self._committed or 1)

    def fields(self):
        return {"ns": self.ns, "is_per_event": bool(self._committed), "stretch": self._stretch,
                "stretched_by": self._where, "transfer_ns": self.transfer_ns,
                "parts_ns": {what: ns / (self._committed or 1) for what, ns in self._parts.items()}}

    def lines(self):
        parts = ", ".join(f"{what} {plain(round(ns / (self._committed or 1), 1))}"
                          for what, ns in self._parts.items())
        unit = "CPU time per event" if self._committed else "CPU time"
        yield f"estimate, not measured: {plain(round(self.ns, 1))} ns of {unit} ({parts}" \
            + (f"; stretched {self._stretch:.2f} times by the bandwidth from {self._where}"
               if self._where else "") + ")"

    def line_against(self, other):
        return f"estimate, not measured: {other.ns / self.ns:.3f} times as fast as --against " \
               f"({plain(round(other.ns, 1))} ns)"
