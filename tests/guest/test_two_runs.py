#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that two runs with --place asymsched, which are started together on one machine with four nodes, do not use
the same CPUs. Both begin on nodes 0 and 1. Each run notices that another program uses its CPUs, and only one run moves
at a time. So one run leaves, and both runs then have their own nodes. Beside a program on nodes 2 and 3, a run stays."""

import json
import re
import shlex

import guest
from programs import Programs

programs = Programs()
LINKS = [[0 if a == b else 9000 if {a, b} in ({0, 1}, {2, 3}) else 3000 for b in range(4)] for a in range(4)]
MODEL = ["phold", "--lps", 1024, "--lps-per-group", 16, "--remote", 0.5, "--until", 1e9, "--workers", 2,
         "--place", "asymsched"]
SECONDS, BESIDE_SECONDS = 30, 10  # moves follow within three periods of one second

batch = guest.Batch(programs, "1:512M,1:512M,1:512M,1:512M")
machine = batch.folder / "machine.json"
machine.write_text(json.dumps({"bw": LINKS}))
second = [programs.bin / MODEL[0], *MODEL[1:], "--machine", machine, "--quiet", "--stats", batch.folder / "second.json"]
batch.shell(f"timeout --preserve-status --signal=INT {SECONDS} {shlex.join(map(str, second))} 2>second.err &")
batch.add("first", *MODEL, "--machine", machine, seconds=SECONDS)
batch.shell("wait")
batch.shell("busy=; for cpu in 2 3; do taskset -c $cpu sh -c 'while :; do :; done' & busy=\"$busy $!\"; done")
batch.add("beside", *MODEL, "--machine", machine, seconds=BESIDE_SECONDS)
batch.shell("kill $busy")
results = batch.run("--timeout", 900)

first, beside = results["first"], results["beside"]
guest.expect_ended(programs, "first", first, exit_code=130)
stats = [first.stats, json.loads((batch.folder / "second.json").read_text())]
nodes = [{worker["node"] for worker in one.get("workers_detail", [])} for one in stats]
placed = [one.get("numa", {}).get("placed", "") for one in stats]
programs.expect(sorted(map(sorted, nodes)) == [[0, 1], [2, 3]], f"the runs end on different nodes: {nodes}; {placed}")
programs.expect(sum("from nodes 0 1 to 2 3" in text and "2 workers shared their CPUs" in text for text in placed) == 1,
                "one run has moved, because it shared its CPUs")
found = beside.numa.get("placed", "")
programs.expect(re.search(r"^heaviest link [^;]*; other programs use nodes 2 3; on nodes 0 1;", found) is not None,
                f"beside a program on nodes 2 and 3: {found}")
programs.leave()
