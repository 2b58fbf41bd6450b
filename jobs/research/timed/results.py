# SPDX-License-Identifier: Apache-2.0
"""The figures that the plug-in of the modeled guest has written."""

from dataclasses import asdict, dataclass, field
from pathlib import Path

from lib.number_text import count


@dataclass
class Cpu:
    number: int
    node: int
    seconds: float  # modeled time at the end of the guest
    accesses: int
    walks: int  # through the page table
    upgrades: int  # stores to lines that other CPUs may hold
    waited_seconds: float  # for room in memories and links
    allowances: int
    overruns: int  # blocks that a CPU executed although it had to wait
    memory: list = field(default_factory=list)  # lines from the memory of each node
    passed: list = field(default_factory=list)  # lines from the caches of each node
    loop: dict = field(default_factory=dict)  # the counts of the event loop; empty: no event loop ran on this CPU


@dataclass
class Results:
    begin_seconds: float  # modeled time at the start of the command
    end_seconds: float
    cpus: list

    def matrix(self, what):
        """Lines by [node of the CPU][node that supplied the line]."""
        nodes = len(self.cpus[0].memory)
        return [[sum(getattr(cpu, what)[m] for cpu in self.cpus if cpu.node == c) for m in range(nodes)]
                for c in range(nodes)]

    def event_loop(self):
        """The counts of the event loop on all CPUs: instructions, loads, stores, and misses of the first and of
        the last cache level and of the TLB. Empty if the program had no event loop."""
        loops = [cpu.loop for cpu in self.cpus if cpu.loop]
        return {name: sum(loop[name] for loop in loops) for name in loops[0]} if loops else {}

    def fields(self):
        return asdict(self) | {"memory": self.matrix("memory"), "passed": self.matrix("passed"),
                               "event_loop": self.event_loop()}

    def lines(self):
        memory, passed = self.matrix("memory"), self.matrix("passed")
        total = sum(map(sum, memory))
        local = sum(memory[node][node] for node in range(len(memory)))
        yield f"modeled: time from the start of the command to the end of the guest {self.end_seconds - self.begin_seconds:.6f} s"
        yield (f"modeled: lines from memory {count(total)}, {100 * local / total if total else 0:.1f} % local; from caches of "
               f"CPUs that wrote them {count(sum(map(sum, passed)))}; walks {count(sum(cpu.walks for cpu in self.cpus))}")
        yield f"modeled: waits for room in memories and links {sum(cpu.waited_seconds for cpu in self.cpus):.6f} s of all CPUs"


def read(file):
    begin, end, cpus = 0, 0, []
    for line in Path(file).read_text().splitlines():
        name, *words = line.split()
        if name == "begin":
            begin, end = int(words[0]), int(words[2])
        elif name == "cpu":
            values = dict(zip(words[1::2], map(int, words[2::2])))
            cpus.append(Cpu(int(words[0]), values["node"], values["time"] / 1e12, values["accesses"], values["walks"],
                            values["upgrades"], values["waited"] / 1e12, values["allowances"], values["overruns"]))
        elif name == "loop":
            cpus[int(words[0])].loop = dict(zip(words[1::2], map(int, words[2::2])))
        else:
            setattr(cpus[int(words[0])], name, list(map(int, words[1:])))
    return Results(begin / 1e12, end / 1e12, cpus)
