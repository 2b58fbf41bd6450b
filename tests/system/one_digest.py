#!/usr/bin/env python3
"""Traffic on 1024 objects: one digest and one set of output files, whoever runs it and however it is
rolled back, bound, grouped and stored. And cars in = cars out + cars inside, in every row."""

import csv

from programs import Programs

programs = Programs()

variants = [
    ["--engine", "sequential"],
    ["--engine", "conservative"],
    [],
    ["--workers", 1],
    ["--workers", 8],
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
]

reference = None
rolled_back = 0
for n, variant in enumerate(variants):
    folder = programs.work / f"run{n}"
    run = programs.statistics_of("traffic", "--objects", 1024, "--workers", 2, "--until", 3700,
                                 "--output", folder, *variant)
    rolled_back += run["rolled_back_events"]
    table = (folder / "roads.csv").read_bytes()
    name = " ".join(map(str, variant)) or "timewarp"
    if reference is None:
        reference = (run["digest"], run["committed_events"], table)
        continue
    programs.expect(run["digest"] == reference[0] and run["committed_events"] == reference[1],
                    f"{name}: digest {run['digest']}")
    programs.expect(table == reference[2], f"{name}: the same roads.csv")
programs.expect(rolled_back > 0, f"{rolled_back} events were rolled back on the way")

rows = list(csv.DictReader(reference[2].decode().splitlines()))
columns = [c for c in rows[0] if c in ("cars_in", "cars_out", "inside")]
programs.expect(len(columns) == 3 and len(rows) >= 2 * 1024, f"{len(rows)} rows with {columns}")
unbalanced = [r for r in rows if int(r["cars_in"]) != int(r["cars_out"]) + int(r["inside"])]
programs.expect(not unbalanced, "cars in = cars out + cars inside in every row")

programs.leave()
