# SPDX-License-Identifier: Apache-2.0
"""The page of `--report`: where accesses to memory go, between nodes, by kind and by phase."""

import shlex

from lib.number_text import count, percent, plain
from report_page.charts import figure, matrix, rows
from report_page.page import document
from report_page.sections import grid, section, tiles

from .counts import KINDS, PHASES

LEGEND = [("s0", "own node"), ("s1", "other node"), ("s3", "passed: last written by another node")]


def page_of(counts, estimate, command, topology, caches):
    loop = counts.of_loop()
    scale = 1 / counts.committed if counts.committed else 1
    each = "per committed event" if counts.committed else "in total"

    def value(number):
        return plain(round(number, 3)) if counts.committed else count(number)

    def cells(column):
        return [[round(number * scale, 3) for number in row] for row in loop.matrix(column)]

    def bars(run, field, names):
        shown = []
        for name in names:
            where = {field: name}
            memory, passed = run.sum("memory", **where), run.sum("passed", **where)
            if memory + passed:
                local = run.sum_local("memory", **where)
                shown.append((name, [(style, what, number * scale) for (style, what), number in
                                     zip(LEGEND, (local, memory - local, passed))]))
        return shown

    def of_bars(title, run, field, names, note=""):
        return figure(title, rows(bars(run, field, names), title, value=value), legend=LEGEND, note=note)

    facts = [("local share", percent(loop.local_share())),
             (f"to memory, {each}", value(loop.sum("memory") * scale)),
             ("passed between nodes", value(loop.sum("passed") * scale)),
             ("L1 misses", value(loop.sum("l1") * scale)),
             ("walks of page tables", value(loop.sum_tlb("walks") * scale)),
             ("instructions", value(loop.sum_instructions() * scale)),
             ("estimate, not measured", f"{plain(round(estimate.ns))} ns")]
    body = tiles(*facts) + section(
        "nodes", "Between nodes",
        grid(figure(f"accesses to memory, {each}", matrix(cells("memory"), "accesses to memory", "CPU on node",
                                                          "page on node")),
             figure(f"passed, {each}", matrix(cells("passed"), "passed", "CPU on node", "page on node"),
                    note="No cache of the node has the line, but a cache of the node that wrote it last has it. The line "
                         "comes from this cache, independently of the node of the page."))) + section(
        "kinds", "By purpose and phase",
        grid(of_bars(f"by kind of memory, {each} of the event loop", loop, "kind", KINDS),
             of_bars(f"by phase, {each}", counts, "phase", PHASES,
                     "“none”: before and after the run, and other programs.")))
    return document(f"{topology}: {shlex.join(command)}", "numawarp meter",
                    f'<p class="note">Counted in an emulated machine, with a model of the caches of {caches}.'
                    f"</p>{body}")
