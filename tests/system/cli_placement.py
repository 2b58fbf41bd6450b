#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the output about nodes: the table of the topology, the share of remote pages, and the
answer to SIGUSR2. hwloc describes a machine with several nodes here (HWLOC_SYNTHETIC), so that no
thread can be bound and no page can be moved. The run must continue, report this, and have the
digest of a sequential run. Tests that need real nodes are in tests/guest."""

import os
import signal
import subprocess

from processes import line_of, wait_until_computing
from programs import Programs

programs = Programs()
model = ["--lps", "256", "--until", "20"]
expected = programs.statistics_of("phold", "--engine", "sequential", *model)["digest"]

here = programs.statistics_of("phold", *model)["numa"]
programs.expect(here["nodes"] >= 1 and len(here["topology"]) >= here["nodes"], "there is a topology")
programs.expect(sum(node["cores"] for node in here["topology"]) >= 1, "the topology has a core")
if len(here["topology"]) == 1:
    programs.expect(here["remote_page_share"] is None and here["pagemigd"]["threads"] == 0,
                    "on one node the kernel is not queried, and there is no daemon")

asked = programs.statistics_of("phold", *model, "--pagemigd", "2@0.01")["numa"]
programs.expect(asked["pagemigd"]["threads"] == 2 or asked["placement"] is None,
                "a requested daemon is started, unless the kernel moves no pages")
if asked["placement"]:
    programs.expect(asked["pages_shared"] == 0, "no page belongs to two groups")
    programs.expect(asked["placement"]["state"]["resident_bytes"] > 0, "state pages are counted")

kinds = programs.statistics_of("phold", *model, "--keep-safe-events", "on")["memory"]["by_kind"]
programs.expect(kinds["state"] > 0 and kinds["history"] > 0, f"memory is reported by kind: {kinds}")

# From here on: three nodes, one of them without CPUs.
os.environ["HWLOC_SYNTHETIC"] = "[numa(memory=16GB)] package:2 [numa(memory=8GB)] core:1 pu:1"
for memory in ["numa", "libc"]:
    result = programs.statistics_of("phold", *model, "--memory", memory, "--engine", "timewarp", "--workers", "2")
    programs.expect(result["digest"] == expected, f"{memory}: the digest is that of the sequential engine")
    numa = result["numa"]
    programs.expect(numa["nodes"] == 2 and len(numa["topology"]) == 3,
                    f"{memory}: three nodes, two of them with CPUs")
    if len(here["topology"]) == 1 and numa["placement"]:
        programs.expect(numa["remote_page_share"] > 0,
                        f"{memory}: pages of missing nodes count as remote: "
                        f"{numa['remote_page_share']}")
    # The history contains the end of the run, however short the run was.
    programs.expect([sample["remote_page_share"] for sample in numa["placement_history"]][-1:]
                    == ([numa["remote_page_share"]] if numa["placement"] else []),
                    f"{memory}: the last sample of the history is from the end: {numa['placement_history'][-1:]}")

done = programs.run("phold", *model, "--engine", "timewarp", "--workers", "2")
programs.expect("distances" in done.stdout and "MiB on" in done.stdout,
                "the report has the tables of nodes and placement")

run = subprocess.Popen([programs.bin / "phold", "--lps", "256", "--until", "1e12", "--engine", "timewarp", "--workers", "2"],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
wait_until_computing(run)
run.send_signal(signal.SIGUSR2)
errors = line_of(run.stderr)
run.send_signal(signal.SIGINT)
errors += run.communicate(timeout=60)[1]
programs.expect(run.returncode == 130, f"SIGUSR2 does not end the run: {run.returncode}")
programs.expect(errors.startswith("numawarp: placement: ") and errors.count("\n") == 1,
                f"SIGUSR2 causes one line: {errors!r}")

programs.leave()
