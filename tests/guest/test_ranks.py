#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests one rank per NUMA node, started by jobs/lib/launch.py. Each rank is bound to its own node
and has its memory on this node, and the digest is that of the sequential engine.

The test uses three topologies: four nodes that Open MPI finds, nodes of different sizes, and a
topology with a node that has only memory, for which mpirun's definition of a node is wrong. With
--memory libc and all memory from the first node, the same measurement shows remote pages, so the
test can fail."""

import sys
from collections import Counter

import guest
import topology
from programs import CHECKOUT, Programs

programs = Programs()

LAUNCH = [sys.executable, CHECKOUT / "jobs/lib/launch.py"]
MODEL = ["phold", "--lps", 4096, "--state", 4096, "--touch", 64, "--lps-per-group", 16,
         "--remote", 0.3, "--until", 10]
LOCAL = 0.01


def check(name):
    nodes = [node for node in topology.parse(name).nodes if node.cpus > 0]
    batch = guest.Batch(programs, name, "ranks")
    batch.add("sequential", *MODEL, "--engine", "sequential")
    batch.add("conservative", *MODEL, "--engine", "conservative", through=[*LAUNCH, "numa"])
    batch.add("bound", *MODEL, "--engine", "timewarp", through=[*LAUNCH, "numa"])
    batch.add("astray", *MODEL, "--engine", "timewarp", "--memory", "libc",
              through=[*LAUNCH, "numa", "numactl", "--preferred=0"])
    results = batch.run()
    for what in results:
        guest.expect_ended(programs, f"{name}, {what}", results[what])
        programs.expect(results[what].stats.get("digest")
                        == results["sequential"].stats.get("digest"),
                        f"{name}, {what}: digest {results[what].stats.get('digest')}")

    bound = results["bound"]
    programs.expect(bound.stats.get("ranks") == len(nodes)
                    and bound.stats.get("workers") == min(node.cpus for node in nodes),
                    f"{name}: {bound.stats.get('ranks')} ranks with {bound.stats.get('workers')} "
                    "workers")
    places = Counter(worker.get("node") for worker in bound.stats.get("workers_detail", []))
    programs.expect(len(places) == len(nodes) and len(set(places.values())) == 1,
                    f"{name}: workers by node {dict(places)}")
    share = bound.numa.get("remote_page_share")
    programs.expect(share is not None and share <= LOCAL,
                    f"{name}: {share} of the pages are remote")
    astray = results["astray"].numa.get("remote_page_share")
    programs.expect(astray is not None and astray > 10 * LOCAL,
                    f"{name}: with memory from the first node {astray} of the pages are remote")


for preset in ("n4", "2:1G,4:1G", "tier"):
    check(preset)
programs.leave()
