# SPDX-License-Identifier: Apache-2.0
"""The counts that the plug-in has written, and sums over them."""

from collections import namedtuple
from pathlib import Path

LOOP = ["execute", "roll back", "commit", "mail", "GVT"]  # the phases of the event loop
WORK = LOOP[:3]  # in the other phases of the loop workers also wait
PHASES = ["none", "set-up", *LOOP, "wind-up"]
KINDS = ["other heap", "state", "events", "history", "snapshots", "mail", "pending set", "other engine",
         "stack", "code and constants"]

# accesses: of a CPU on `cpu_node` to pages on `node`. l1, l2, l3: the accesses that missed in all
# caches of the CPU up to this level, private and shared. The accesses that missed in all levels are
# divided into two counts. passed: a CPU of another node wrote the line last and has the line in its
# caches. memory: all others.
Access = namedtuple("Access", "cpu cpu_node phase kind node store accesses l1 l2 l3 memory passed")
TlbMisses = namedtuple("TlbMisses", "cpu phase kind first walks huge_accesses")
Instructions = namedtuple("Instructions", "cpu phase count")
# name -> (type of a row, number of key columns); the other columns are counts.
TABLES = {"instructions": (Instructions, 2), "accesses": (Access, 6), "tlb": (TlbMisses, 3)}


class Counts:
    def __init__(self, fields):
        self.api = fields["api"]
        self.committed = fields["committed_events"] or None
        self.groups_moved = fields.get("groups_moved", 0)
        self.instructions = [Instructions(*row) for row in fields["instructions"]]
        self.accesses = [Access(*row) for row in fields["accesses"]]
        self.tlb = [TlbMisses(*row) for row in fields["tlb"]]

    def fields(self):
        """The fields of the JSON file."""
        return {"api": self.api, "committed_events": self.committed, "groups_moved": self.groups_moved,
                "instructions_columns": Instructions._fields, "instructions": self.instructions,
                "accesses_columns": Access._fields, "accesses": self.accesses,
                "tlb_columns": TlbMisses._fields, "tlb": self.tlb}

    def nodes(self):
        return 1 + max((max(row.node, row.cpu_node) for row in self.accesses), default=0)

    def sum(self, column, **where):
        """The sum of a column of accesses over the rows with these values of fields."""
        return _sum(self.accesses, column, where)

    def sum_tlb(self, column, **where):
        return _sum(self.tlb, column, where)

    def sum_instructions(self, **where):
        return _sum(self.instructions, "count", where)

    def sum_local(self, column, **where):
        """sum() over accesses to pages on the CPU's own node."""
        return _sum([row for row in self.accesses if row.node == row.cpu_node], column, where)

    def local_share(self, column="memory", **where):
        """The local share of `column`; None if its sum is 0."""
        total = self.sum(column, **where)
        return self.sum_local(column, **where) / total if total else None

    def matrix(self, column="memory", **where):
        """The sums of a column: [node of the CPU][node of the page]."""
        nodes = range(self.nodes())
        return [[self.sum(column, cpu_node=c, node=m, **where) for m in nodes] for c in nodes]

    def of_loop(self):
        """The counts of the event loop; all counts if the program has no phases."""
        return self.of_phases(LOOP) if any(row.phase in LOOP for row in self.instructions) else self

    def of_phases(self, phases):
        fields = self.fields()
        for name in TABLES:
            fields[name] = [row for row in getattr(self, name) if row.phase in phases]
        return Counts(fields)


def _sum(rows, column, where):
    return sum(getattr(row, column) for row in rows
               if all(getattr(row, name) == value for name, value in where.items()))


def together(counts):
    """The sum of several Counts of periods of one run."""
    fields = {"api": max((one.api for one in counts), default=0),
              "committed_events": sum(one.committed or 0 for one in counts),
              "groups_moved": sum(one.groups_moved for one in counts)}
    for name, (_, keys) in TABLES.items():
        sums = {}
        for row in (row for one in counts for row in getattr(one, name)):
            key, numbers = row[:keys], row[keys:]
            sums[key] = [a + b for a, b in zip(sums.get(key, [0] * len(numbers)), numbers)]
        fields[name] = [[*key, *numbers] for key, numbers in sums.items()]
    return Counts(fields)


def since_moved(periods):
    """The sum of the periods after the first one in which groups changed their worker; None if
    there are no such periods."""
    moved = next((i for i, one in enumerate(periods) if one.groups_moved), len(periods))
    return together(periods[moved + 1:]) if moved + 1 < len(periods) else None


def read(file, node_of_cpu, levels):
    """The periods in the plug-in's file, each as Counts. `levels`: number of caches in the
    model."""
    api, periods = 0, []
    for line in Path(file).read_text().splitlines():
        name, *numbers = line.split()
        numbers = list(map(int, numbers))
        if name == "version":
            api = numbers[0]
        elif name == "period":
            number, committed, moved = numbers
            if number == len(periods):
                periods.append({"api": api, "committed_events": 0, "groups_moved": 0,
                                **{table: [] for table in TABLES}})
            fields = periods[number]
            fields["committed_events"] += committed
            fields["groups_moved"] += moved
        elif name == "instructions":
            fields["instructions"].append([numbers[0], PHASES[numbers[1]], numbers[2]])
        elif name == "tlb":
            cpu, phase, kind, *rest = numbers
            fields["tlb"].append([cpu, PHASES[phase], KINDS[kind], *rest])
        elif name == "access":
            cpu, phase, kind, node, store, accesses, *misses, passed = numbers
            fields["accesses"].append([cpu, node_of_cpu[cpu], PHASES[phase], KINDS[kind], node,
                                       bool(store), accesses, *misses, misses[levels - 1] - passed, passed])
    return [Counts(fields) for fields in periods]
