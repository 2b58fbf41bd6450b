# SPDX-License-Identifier: Apache-2.0
"""Counts as tables on the terminal."""

from lib.number_text import NONE, count, percent, plain

from .counts import KINDS, PHASES


def lines_of(counts):
    """The matrix of nodes and the table of kinds, both for the event loop, and the table of phases.
    Numbers are per committed event if the program has marked the number of events."""
    loop = counts.of_loop()
    scale = 1 / counts.committed if counts.committed else 1

    def figure(number):
        return plain(round(number * scale, 2)) if counts.committed else count(number)

    if counts.api == 1:
        yield "QEMU before 9.0 cannot read registers; kinds of memory and the number of events are unknown"
    unit = "per committed event" if counts.committed else "in total"
    nodes = range(loop.nodes())
    yield f"accesses to memory, {unit}, by node of the CPU (rows) and of the page (columns)"
    yield from columns([["", *(f"node {m}" for m in nodes)],
                        *([f"node {c}", *map(figure, row)] for c, row in enumerate(loop.matrix()))])
    yield f"local: {percent(loop.local_share())}; passed: {figure(loop.sum('passed'))} more, from " \
          "caches of other nodes that wrote the line last"
    yield ""
    head = ["loads", "stores", "L1 misses", "L2 misses", "memory", "local", "passed", "TLB misses", "walks"]
    for run, field, names in ((loop, "kind", KINDS), (counts, "phase", PHASES)):
        rows = [[f"{field}, {unit}", *head]]
        for name in [*names, None]:
            where = {field: name} if name else {}
            if not run.sum("accesses", **where):
                continue
            rows.append([name or "all", *(figure(run.sum("accesses", store=store, **where))
                                          for store in (False, True)),
                         *(figure(run.sum(level, **where)) for level in ("l1", "l2", "memory")),
                         percent(run.local_share(**where)), figure(run.sum("passed", **where)),
                         *(figure(run.sum_tlb(level, **where)) for level in ("first", "walks"))])
        yield from columns(rows)
        yield ""
    yield f"instructions, {unit}: {figure(loop.sum_instructions())}" \
        + (f"; committed events: {count(counts.committed)}" if counts.committed else "")


def lines_of_periods(periods, seconds):
    """The table of the event loop over time."""
    per_event = any(one.committed for one in periods)

    def figure(one, number):
        if per_event:
            return plain(round(number / one.committed, 2)) if one.committed else NONE
        return count(number)

    yield from columns([
        ["period, " + ("per committed event" if per_event else "in total"), "events", "groups moved", "memory",
         "local", "passed"],
        *([f"{i * seconds:g} to {(i + 1) * seconds:g} s", count(one.committed or 0), count(one.groups_moved),
           figure(one, one.sum("memory")), percent(one.local_share()), figure(one, one.sum("passed"))]
          for i, one in enumerate(run.of_loop() for run in periods))])
    yield ""


def columns(rows):
    """Lines in which the first column is aligned to the left and the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        yield "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width)
                                                    for cell, width in zip(row[1:], widths[1:]))])
