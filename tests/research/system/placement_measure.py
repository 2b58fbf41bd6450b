#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `placement measure`, which ./jobs/run machine calls: it writes this machine's tables where
runs find them."""

import json
import os
import sys

from programs import CHECKOUT, Programs

sys.path.insert(0, str(CHECKOUT / "jobs"))
from research.meter.estimate import read_memory  # noqa: E402

programs = Programs()
os.environ["XDG_CACHE_HOME"] = str(programs.work / "cache")

done = programs.run("placement", "measure")
programs.expect(done.returncode == 0, f"the program measures: {done.stderr}")
files = list((programs.work / "cache/numawarp").iterdir())
programs.expect(len(files) == 1 and done.stdout.endswith(f"machine  {files[0]}\n"), "the program prints the file name")
machine = json.loads(files[0].read_text())
nodes = len(machine["nodes"])
programs.expect(all(node["name"].startswith("NUMANode L#") and node["memory_bytes"] > 0
                    for node in machine["nodes"]), "nodes have hwloc's names")
for name in ["bw", "bw_busy", "latency_ns"]:
    programs.expect([len(row) for row in machine[name]] == [nodes] * nodes
                    and all(row[c] > 0 for c, row in enumerate(machine[name])), f"{name} is a complete table")

memory = read_memory(str(files[0]), nodes)
programs.expect((memory.bandwidth, memory.latency) == (machine["bw"], machine["latency_ns"]),
                "the meter's estimate reads the bandwidths from the file")

named = programs.work / "here.json"
programs.expect(programs.run("placement", "measure", named).returncode == 0
                and json.loads(named.read_text())["nodes"] == machine["nodes"], "the name of the file may be given")
programs.expect(programs.run("placement", "measure", programs.work / "nowhere/here.json").returncode == 4,
                "a missing folder is an error of the machine")
for name in ["XDG_CACHE_HOME", "HOME"]:
    os.environ.pop(name, None)
homeless = programs.run("placement", "measure")
programs.expect(homeless.returncode == 2 and "allowed: placement measure FILE" in homeless.stderr,
                f"without a home folder, the file must be named: {homeless.stderr}")

programs.leave()
