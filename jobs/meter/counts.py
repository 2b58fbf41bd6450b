"""What the plug-in has written, and sums over it."""

from collections import namedtuple
from pathlib import Path

LOOP = ["execute", "roll back", "commit", "mail", "GVT"]  # of events
PHASES = ["none", "set-up", *LOOP, "wind-up"]
KINDS = ["other heap", "state", "events", "history", "snapshots", "mail", "pending set", "other engine",
         "stack", "code and constants"]

# Accesses of a CPU of `cpu_node` to pages on `node`; what of them no cache up to a level had; and what none of
# the node's had: `passed`, what a CPU of another node wrote last and has in its caches, and `memory`, all else.
Access = namedtuple("Access", "cpu cpu_node phase kind node store accesses l1 l2 l3 memory passed")
TlbMisses = namedtuple("TlbMisses", "cpu phase kind first walks huge_accesses")
Instructions = namedtuple("Instructions", "cpu phase count")


class Counts:
    def __init__(self, fields):
        self.api = fields["api"]
        self.committed = fields["committed_events"] or None
        self.instructions = [Instructions(*row) for row in fields["instructions"]]
        self.accesses = [Access(*row) for row in fields["accesses"]]
        self.tlb = [TlbMisses(*row) for row in fields["tlb"]]

    def fields(self):
        """As JSON has them."""
        return {"api": self.api, "committed_events": self.committed, "instructions_columns": Instructions._fields,
                "instructions": self.instructions,
                "accesses_columns": Access._fields, "accesses": self.accesses,
                "tlb_columns": TlbMisses._fields, "tlb": self.tlb}

    def nodes(self):
        return 1 + max((max(row.node, row.cpu_node) for row in self.accesses), default=0)

    def sum(self, column, **where):
        """Of one column of accesses, over the rows whose fields are as wanted."""
        return _sum(self.accesses, column, where)

    def sum_tlb(self, column, **where):
        return _sum(self.tlb, column, where)

    def sum_instructions(self, **where):
        return _sum(self.instructions, "count", where)

    def sum_local(self, column, **where):
        """Of accesses to pages on the CPU's own node."""
        return _sum([row for row in self.accesses if row.node == row.cpu_node], column, where)

    def local_share(self, column="memory", **where):
        """Of what goes to memory; None where nothing does."""
        total = self.sum(column, **where)
        return self.sum_local(column, **where) / total if total else None

    def matrix(self, column="memory", **where):
        """[node of the CPU][node of the page]."""
        nodes = range(self.nodes())
        return [[self.sum(column, cpu_node=c, node=m, **where) for m in nodes] for c in nodes]

    def of_loop(self):
        """Without set-up and wind-up, if there are phases at all."""
        if not any(row.phase in LOOP for row in self.instructions):
            return self
        fields = self.fields()
        for name in ("instructions", "accesses", "tlb"):
            fields[name] = [row for row in getattr(self, name) if row.phase in LOOP]
        return Counts(fields)


def _sum(rows, column, where):
    return sum(getattr(row, column) for row in rows
               if all(getattr(row, name) == value for name, value in where.items()))


def read(file, node_of_cpu, levels):
    """Counts of the plug-in's file; `levels`: how many caches the model has."""
    fields = {"api": 0, "committed_events": 0, "instructions": [], "accesses": [], "tlb": []}
    for line in Path(file).read_text().splitlines():
        name, *numbers = line.split()
        numbers = list(map(int, numbers))
        if name == "version":
            fields["api"] = numbers[0]
        elif name == "committed":
            fields["committed_events"] = numbers[0]
        elif name == "instructions":
            fields["instructions"].append([numbers[0], PHASES[numbers[1]], numbers[2]])
        elif name == "tlb":
            cpu, phase, kind, *rest = numbers
            fields["tlb"].append([cpu, PHASES[phase], KINDS[kind], *rest])
        elif name == "access":
            cpu, phase, kind, node, store, accesses, *misses, passed = numbers
            fields["accesses"].append([cpu, node_of_cpu[cpu], PHASES[phase], KINDS[kind], node,
                                       bool(store), accesses, *misses, misses[levels - 1] - passed, passed])
    return Counts(fields)
