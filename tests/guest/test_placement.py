#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""After the start, the pages of every group are on the node of the group's worker. The arguments
name the topologies: 1, 2, 4 and 8 nodes, one topology whose distances differ in the two directions,
and one topology with a node that has only memory.

First touch must place the LPs' state and the engine's memory of a group correctly without the
daemon. Mail is first touched by its sender, on any node. The daemon moves such pages, and the test
waits until they have moved (run_until.py).

With --memory libc the engine places no pages, and the same measurement must find more than 10 %
remote pages."""

import sys

import guest
import topology
from programs import Programs

programs = Programs()

# 256 groups of at least 16 pages of state; half of the events go to an LP chosen from all LPs.
MODEL = ["phold", "--lps", 4096, "--state", 4096, "--touch", 64, "--lps-per-group", 16,
         "--remote", 0.5, "--rebind", "off"]
LOCAL = 0.01


def remote_of(result, kind):
    return ((result.numa.get("placement") or {}).get(kind) or {}).get("remote_share")


def default(count):
    """The distances that the kernel assumes if the machine defines none."""
    return [[10 if i == j else 20 for j in range(count)] for i in range(count)]


def seen(result):
    """Cores and distances of each node of the machine."""
    return [(node["cores"], node["distances"]) for node in result.numa.get("topology", [])]


def check(name):
    machine = topology.parse(name)
    nodes = machine.nodes
    workers = sum(node.cpus for node in nodes)
    batch = guest.Batch(programs, name)
    batch.add("sequential", *MODEL, "--until", 10, "--engine", "sequential")
    batch.add("conservative", *MODEL, "--until", 10, "--engine", "conservative")
    batch.add("touched", *MODEL, "--until", 10, "--pagemigd", "off")
    batch.add("libc", *MODEL, "--until", 10, "--memory", "libc", "--pagemigd", "off")
    if len(nodes) > 1:
        batch.add("daemon", *MODEL, "--until", 1e9, "--pagemigd", "1@0.25",
                  through=guest.interrupted(0, until="local"))
    results = batch.run()
    touched, libc = results["touched"], results["libc"]

    for key in ("sequential", "conservative", "touched", "libc"):
        guest.expect_ended(programs, f"{name}, {key}", results[key])
        digest = results[key].stats.get("digest")
        programs.expect(digest == results["sequential"].stats.get("digest"),
                        f"{name}, {key}: digest {digest}")
    programs.expect(touched.stats.get("workers") == workers
                    and touched.numa.get("nodes") == sum(node.cpus > 0 for node in nodes),
                    f"{name}: {workers} workers on all nodes with cores")
    programs.expect(seen(touched) == [(node.cpus, distances) for node, distances
                                      in zip(nodes, machine.distances or default(len(nodes)))],
                    f"{name}: cores and distances {seen(touched)}")
    if len(nodes) == 1:
        return
    for key in ("conservative", "touched"):
        for kind in ("state", "engine"):
            remote = remote_of(results[key], kind)
            programs.expect(remote is not None and remote <= LOCAL,
                            f"{name}, {key}: first touch leaves {remote} of {kind} remote")
    daemon = results["daemon"]
    guest.expect_ended(programs, f"{name}, daemon", daemon, exit_code=130)
    for kind in ("state", "engine", "mail"):
        remote = remote_of(daemon, kind)
        programs.expect(remote is not None and remote <= LOCAL,
                        f"{name}: with the daemon {remote} of {kind} is remote")
    programs.expect(touched.numa.get("pages_shared") == 0, f"{name}: no page belongs to two groups")
    programs.expect(not touched.notices, f"{name}: notices {touched.notices}")
    share = libc.numa.get("remote_page_share")
    programs.expect(share is not None and share > 10 * LOCAL,
                    f"{name}: with --memory libc {share} of the pages are remote")


for preset in sys.argv[2:] or ["n4"]:
    check(preset)
programs.leave()
