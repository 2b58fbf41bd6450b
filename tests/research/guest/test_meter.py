#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the meter's counts with known counts. A CPU of one node walks through memory of another
node. Each step is one access, and one miss of the modeled caches or one walk of the page tables.
Lines that two CPUs load and store to in turn miss once each time. For programs of numawarp, the
meter shows that memory is local where it should be, and it shows the accesses in each phase.

usage: test_meter.py PROGRAMS [all]     all: with every machine's caches, and other walks"""

import sys

from programs import CHECKOUT, Programs

sys.path.insert(0, str(CHECKOUT / "jobs"))
from research.qemu.call import UNAVAILABLE, called  # noqa: E402
from research.meter.counts import KINDS, LOOP  # noqa: E402

TOLERANCE = 0.01

# Numbers of lines and pages that exceed every modeled cache and TLB, and a number that every cache
# holds.
LINES_MANY, LINES_FEW, PAGES_MANY, ROUNDS = 200_000, 100, 3000, 5

programs = Programs()


def meter(topology, name, *words, caches="opteron6128", options=()):
    """(JSON, terminal output) of a command."""
    counts, done = called("meter", programs.bin, topology, words, ["--caches", caches, *options])
    if done.returncode == UNAVAILABLE:
        print(done.stderr, end="")
        sys.exit(UNAVAILABLE)
    programs.expect(done.returncode == 0, f"{name}: exit code {done.returncode}{done.stderr if done.returncode else str()}")
    return counts, done.stderr


def rows(counts, table, **where):
    """The rows of a table that have these values, as dicts."""
    named = [dict(zip(counts[f"{table}_columns"], row)) for row in counts[table]]
    return [row for row in named if all(row[key] == value for key, value in where.items())]


def near(found, wanted):
    return abs(found - wanted) <= TOLERANCE * wanted


def check_walks(topology, walks, caches):
    """walks: (CPU, its node, node of the memory, walk, steps of a round on a CPU)."""
    words = [word for cpu, _, node, kind, count in walks for word in (cpu, node, kind, count, ROUNDS)]
    counts, _ = meter(topology, f"walks-{topology}-{caches}", programs.bin / "meter_walks", *words,
                      caches=caches)
    if counts is None:
        return
    for phase, (cpu, cpu_node, node, walk, count) in zip(LOOP, walks):
        what = f"{topology}, {caches}, {walk} from CPU {cpu} through {count} on node {node}"
        # Without registers (QEMU before 9) the kinds are unknown, and a few other accesses are
        # counted.
        kind = {"kind": "state"} if counts["api"] > 1 else {}
        found = rows(counts, "accesses", phase=phase, **kind)
        if walk.startswith("rewrite"):
            check_rewriting(what, found, count, 0 if kind else TOLERANCE)
            continue
        loads = sum(row["accesses"] for row in found if (row["cpu_node"], row["node"]) == (cpu_node, node))
        steps = count * ROUNDS
        programs.expect(near(loads, steps), f"{what}: {loads} accesses to the table, {steps} steps")
        programs.expect(near(sum(row["accesses"] for row in found), steps),
                        f"{what}: {sum(row['accesses'] for row in found)} accesses in the phase")
        memory = sum(row["memory"] for row in found)
        if count == LINES_FEW:
            programs.expect(memory <= 2 * count, f"{what}: {memory} of {steps} accesses miss; expected: all are cached")
        elif walk in ("chase", "wide"):
            programs.expect(near(memory, steps), f"{what}: {memory} misses, {steps} steps")
        else:
            walked = sum(row["walks"] for row in rows(counts, "tlb", phase=phase, **kind))
            programs.expect(near(walked, steps), f"{what}: {walked} walks of page tables, {steps} steps")


def check_rewriting(what, found, count, tolerance):
    """Except for the first time, each CPU finds the lines in the caches of the other CPU, which is
    on another node."""
    steps = 2 * ROUNDS * count
    wanted = {(False, "accesses"): steps, (False, "passed"): steps - count, (False, "memory"): 0,
              (True, "accesses"): steps, (True, "l1"): 0}
    for (store, column), number in wanted.items():
        counted = sum(row[column] for row in found if row["store"] == store)
        programs.expect(abs(counted - number) <= tolerance * steps,
                        f"{what}: {column} of {'stores' if store else 'loads'}: {counted}, should be {number}")


PHOLD = ["phold", "--lps", 1024, "--events-per-lp", 16, "--remote", 0.25, "--state", 1024, "--until", 4, "--window", 1]


def local_share(found):
    memory = sum(row["memory"] for row in found)
    return sum(row["memory"] for row in found if row["node"] == row["cpu_node"]) / memory


def check_program(topology, model, memory, *options):
    """The local share of the memory accesses in the event loop; 0 if nothing was counted."""
    what = f"{model[0]}-{topology}-{memory}"
    counts, said = meter(topology, what, programs.bin / model[0], *model[1:], "--quiet",
                         "--engine", "timewarp", "--workers", 8,
                         "--memory", memory, *options, options=["--period", 0.5])
    if counts is None:
        return 0
    loop = [row for row in rows(counts, "accesses") if row["phase"] in LOOP]
    if counts["api"] == 1:
        return local_share(loop)
    kinds = {row["kind"] for row in loop}
    phases = {row["phase"] for row in rows(counts, "accesses")}
    programs.expect(kinds == set(KINDS), f"{what}: kinds {sorted(kinds)}")
    wanted = {"set-up", *LOOP, "wind-up"}
    programs.expect(phases >= wanted, f"{what}: phases {sorted(phases)}")
    events = programs.statistics_of(*model, "--engine", "sequential")["committed_events"]
    programs.expect(counts["committed_events"] == events,
                    f"{what}: {counts['committed_events']} events, {events} in a sequential run")
    programs.expect("estimate, not measured" in said, f"{what}: there is an estimate")
    sums = [sum(row["accesses"] for row in rows(one, "accesses")) for one in (counts, *counts["periods"])]
    programs.expect(len(sums) > 3 and sums[0] == sum(sums[1:])
                    and events == sum(one["committed_events"] or 0 for one in counts["periods"]),
                    f"{what}: the sums over {len(sums) - 1} periods equal the figures of the run")
    stack = [row for row in loop if row["kind"] == "stack"]
    programs.expect(sum(row["passed"] for row in stack) < 0.001 * sum(row["accesses"] for row in stack),
                    f"{what}: each stack belongs to its own thread")
    return local_share(loop)


SHORT = [(0, 0, 2, "chase", LINES_MANY), (3, 1, 1, "chase", LINES_MANY), (4, 2, 0, "pages", PAGES_MANY),
         (7, 3, 3, "chase", LINES_FEW), (1, 0, 2, "rewrite:6", LINES_FEW)]
check_walks("n4", SHORT, "opteron6128")
if "all" not in sys.argv[2:]:
    share = check_program("n4", PHOLD, "numa", "--rebind", "off")
    programs.expect(share >= 0.95, f"phold, n4: {share:.3f} of accesses to memory are local")
else:
    check_program("n8", PHOLD, "libc", "--rebind", "off")
    check_walks("n4", SHORT, "opteron6272")
    # Memory far below 2 GiB and memory beyond 4 GiB, where the second part of RAM begins.
    check_walks("n8", [(7, 7, 0, "chase", 2 * LINES_MANY), (0, 0, 7, "chase", 2 * LINES_MANY),
                       (3, 3, 5, "pages", PAGES_MANY), (5, 5, 3, "chase", LINES_FEW),
                       (6, 6, 1, "wide", 2 * LINES_MANY)], "xeon")
    # This machine has lines of 128 bytes in the second-level cache, and no third level.
    check_walks("1:1G,1:1G,1:1G", [(0, 0, 2, "pages", PAGES_MANY), (1, 1, 0, "pages", 2 * PAGES_MANY),
                                   (2, 2, 2, "chase", LINES_FEW)], "origin2000")
programs.leave()
