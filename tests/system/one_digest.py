#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model has the same digest and the same output files for every engine, rollback method, binding,
grouping and storage. The models are traffic on 512 objects with both values of --cars, and pcs with
each of its rollback methods. Nothing is lost: in every row, cars in = cars out + cars inside, and
calls begun = calls ended + active calls."""

import csv

from programs import Programs

programs = Programs()

# The rollback methods of pcs.
ways = [["--rollback", "copy"], ["--rollback", "copy", "--state-saving-interval", 4],
        ["--rollback", "snapshot"], ["--rollback", "reverse"], ["--state", "containers"]]
# traffic with a block of memory for each car.
separate = [["--cars", "separate"], ["--cars", "separate", "--workers", 4]]


def one_table(model, table, options, variants):
    """Runs all variants. Returns the rows of the table, which is equal for all variants."""
    reference = None
    rolled_back = 0
    for n, variant in enumerate(variants):
        folder = programs.work / f"{model}{n}"
        run = programs.statistics_of(model,
                                     "--engine", "timewarp", "--workers", 2, *options, "--output", folder, *variant)
        rolled_back += run["rolled_back_events"]
        rows = (folder / f"{table}.csv").read_bytes()
        name = " ".join(map(str, [model, *variant]))
        if reference is None:
            reference = (run["digest"], run["committed_events"], rows)
            continue
        programs.expect(run["digest"] == reference[0] and run["committed_events"] == reference[1],
                        f"{name}: digest {run['digest']}")
        programs.expect(rows == reference[2], f"{name}: the same {table}.csv")
        if "--check-rollback" in variant:
            programs.expect(run["forced_rollbacks"] > 0,
                            f"{name}: {run['forced_rollbacks']} events were rolled back immediately")
        elif variant in [*ways, *separate]:
            programs.expect(run["rolled_back_events"] > 0,
                            f"{name}: {run['rolled_back_events']} events were rolled back")
    programs.expect(rolled_back > 0, f"{model}: {rolled_back} events were rolled back")
    return list(csv.DictReader(reference[2].decode().splitlines()))


roads = one_table("traffic", "roads", ["--objects", 512, "--until", 3700], [
    ["--engine", "sequential"],
    ["--engine", "conservative"],
    ["--engine", "auto"],
    [],
    ["--engine", "timewarp", "--workers", 1],
    ["--engine", "timewarp", "--workers", 8],
    ["--memory", "libc"],
    ["--lps-per-group", 1],
    ["--rollback", "snapshot", "--state-saving-interval", 1],
    ["--rollback", "snapshot", "--state-saving-interval", "auto"],
    ["--window", "off"],
    ["--window", 2],
    ["--gvt-interval", 0.1],
    ["--huge-pages", "on"],
    ["--pin", "off"],
    ["--check-rollback", 0.01],
    ["--cars", "separate", "--engine", "sequential"],
    *separate,
    ["--cars", "separate", "--check-rollback", 0.01],
])
columns = [c for c in roads[0] if c in ("cars_in", "cars_out", "inside")]
programs.expect(len(columns) == 3 and len(roads) >= 2 * 512, f"{len(roads)} rows with {columns}")
unbalanced = [r for r in roads if int(r["cars_in"]) != int(r["cars_out"]) + int(r["inside"])]
programs.expect(not unbalanced, "cars in = cars out + cars inside in every row")

# Portables move often and channels are few, so every kind of event happens to a call.
rows = one_table(
    "pcs", "cells", ["--width", 12, "--height", 12, "--move-mean", 200, "--until", 900],
    [["--engine", "sequential"], ["--engine", "sequential", "--state", "containers"],
     ["--engine", "timewarp", "--workers", 1], ["--engine", "timewarp", "--workers", 4, "--lps-per-group", 1],
     *ways, *([*way, "--check-rollback", 0.2] for way in ways)])
cells = [{name: float(value) for name, value in row.items()} for row in rows]


def total(name):
    return sum(cell[name] for cell in cells)


for name in ["connected", "blocked", "busy_lines", "completed", "hand_offs_in", "dropped"]:
    programs.expect(total(name) > 100, f"pcs: {name}: {total(name):.0f}")
programs.expect(all(cell["connected"] + cell["hand_offs_in"]
                    == cell["completed"] + cell["hand_offs_out"] + cell["in_use"]
                    and cell["portables"] == 25 + cell["moves_in"] - cell["moves_out"]
                    for cell in cells),
                "pcs: calls and portables that arrived = those that left + those present, in every cell")
programs.expect(total("portables") == 25 * len(cells)
                and total("hand_offs_out") == total("hand_offs_in") + total("dropped"),
                "pcs: no portable is lost between two cells")

programs.leave()
