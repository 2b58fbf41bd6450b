#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests ranks on a machine with two sockets and two NUMA nodes on each socket. Each rank has workers
on all cores that it is bound to, the pages of state are on the node of their worker, and the digest is
that of the sequential engine.

The ranks are started by jobs/lib/launch.py, and by mpirun with options that a user may choose: one
rank on each socket, and two ranks that share a socket. With --memory libc and all memory from the
first node, the same measurement shows remote pages, so the test can fail."""

import sys

import guest
import topology
from programs import CHECKOUT, Programs

sys.path.insert(0, str(CHECKOUT / "jobs/lib"))
from launch import find_launcher  # noqa: E402

programs = Programs()

MACHINE = topology.parse("n4", sockets="2")
NODE_OF_CORE = [number for number, node in enumerate(MACHINE.nodes) for _ in range(node.cpus)]
SOCKET_OF_CORE = [node * MACHINE.sockets // len(MACHINE.nodes) for node in NODE_OF_CORE]
CORES = [[core for core, socket in enumerate(SOCKET_OF_CORE) if socket == number] for number in range(MACHINE.sockets)]

LAUNCH = [sys.executable, CHECKOUT / "jobs/lib/launch.py"]
SOCKET = "package" if find_launcher({}).major >= 5 else "socket"  # as Open MPI names a socket
MPIRUN = ["mpirun", "--allow-run-as-root", "--map-by", SOCKET]
MODEL = ["phold", "--lps", 4096, "--state", 4096, "--touch", 64, "--lps-per-group", 16,
         "--remote", 0.3, "--until", 10]
TIME_WARP = [*MODEL, "--engine", "timewarp", "--rebind", "off"]
LOCAL = 0.01

# The cores of the workers, by rank.
WANTED = {
    "launched": CORES,
    "conservative": CORES,
    "bound": CORES,
    # mpirun cannot bind ranks to these cores, so launch.py binds the ranks by taskset.
    "part": [[0, 1, 2], [4, 5, 6]],
    # mpirun maps ranks to sockets in turns. Ranks that are bound to the same cores divide them.
    "shared": [[0, 1], [4, 5], [2, 3], [6, 7]],
    "nodes": [[0, 1], [2, 3], [4, 5], [6, 7]],
    "astray": CORES,
}


def run():
    """The core, node and socket of each core, as lscpu prints them in the guest; {name: Result}"""
    batch = guest.Batch(programs, "n4", "sockets")
    batch.shell("lscpu --parse=CPU,NODE,SOCKET >lscpu")
    batch.add("sequential", *MODEL, "--engine", "sequential")
    batch.add("launched", *TIME_WARP, through=[*LAUNCH, "socket"])
    batch.add("conservative", *MODEL, "--engine", "conservative", through=[*LAUNCH, "socket"])
    batch.add("part", *TIME_WARP, through=["taskset", "-c", "0-2,4-6", *LAUNCH, "socket"])
    batch.add("nodes", *TIME_WARP, through=[*LAUNCH, "numa"])
    batch.add("bound", *TIME_WARP, through=[*MPIRUN, "--bind-to", SOCKET, "-np", 2])
    batch.add("shared", *TIME_WARP, through=[*MPIRUN, "--bind-to", SOCKET, "-np", 4])
    batch.add("mapped", *TIME_WARP, through=[*MPIRUN, "-np", 2])
    batch.add("astray", *TIME_WARP, "--memory", "libc", through=[*LAUNCH, "socket", "numactl", "--preferred=0"])
    results = batch.run("--sockets", MACHINE.sockets, "--timeout", 900)
    lscpu = batch.folder / "lscpu"
    lines = lscpu.read_text().splitlines() if lscpu.exists() else []
    return [tuple(map(int, line.split(","))) for line in lines if not line.startswith("#")], results


def check_workers(name, stats):
    workers = stats.get("workers_detail", [])
    cores = [[worker["core"] for worker in workers if worker["rank"] == rank] for rank in range(stats.get("ranks", 0))]
    if name == "mapped":
        # Without --bind-to, the binding depends on the version of Open MPI: the socket, or one of
        # its cores.
        right = len(cores) == len(CORES) and all(own and set(own) <= set(of_socket)
                                                 for own, of_socket in zip(cores, CORES))
    else:
        right = cores == WANTED[name]
    programs.expect(right, f"{name}: cores of the workers, by rank: {cores}")
    programs.expect(all(worker["node"] == NODE_OF_CORE[worker["core"]] for worker in workers),
                    f"{name}: nodes of the workers: {[worker['node'] for worker in workers]}")


def check_pages(name, numa):
    """Mail is not checked. It is first touched by its sender, on any node."""
    if name == "astray":
        share = numa.get("remote_page_share")
        programs.expect(share is not None and share > 10 * LOCAL,
                        f"{name}: with memory from the first node {share} of the pages are remote")
        return
    for kind in ("state", "engine"):
        share = ((numa.get("placement") or {}).get(kind) or {}).get("remote_share")
        programs.expect(share is not None and share <= LOCAL, f"{name}: {share} of {kind} is remote")


seen, results = run()
programs.expect(seen == list(zip(range(len(NODE_OF_CORE)), NODE_OF_CORE, SOCKET_OF_CORE)),
                f"(core, node, socket) in the guest: {seen}")
for name, result in results.items():
    guest.expect_ended(programs, name, result)
    programs.expect(result.stats.get("digest") == results["sequential"].stats.get("digest"),
                    f"{name}: digest {result.stats.get('digest')}")
    if name != "sequential":
        check_workers(name, result.stats)
        check_pages(name, result.numa)
programs.leave()
