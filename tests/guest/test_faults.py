#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""If the machine refuses a resource, the run ends with the right digest, and reports the missing
feature once. The cases are: one core by affinity or cpuset, only memory of another node, limited
address space, strict overcommit, no locked memory, a full node, and system calls that a container
forbids. The policy of numactl does not apply to workers. Only --place strict ends on a full node:
the kernel kills the program."""

import errno
import re
import signal
import sys

import guest
from programs import CHECKOUT, Programs

programs = Programs()

MODEL = ["phold", "--lps", 1024, "--state", 4096, "--touch", 64, "--lps-per-group", 16,
         "--remote", 0.5, "--until", 200]
LARGE_MODEL = ["phold", "--lps", 16384, "--state", 4096, "--touch", 64, "--lps-per-group", 64,
               "--remote", 0.5, "--until", 12]
KILLED = 128 + signal.SIGKILL
# Groups and their pages move all the time, so that every refusal occurs.
BUSY = ["--rebind", 0.2, "--check-rebind", 0.5, "--pagemigd", "2@0.1"]


def cpuset(name, cpus, mems):
    """A shell line that puts its shell into a cgroup with these cores and memory nodes."""
    group = f"/sys/fs/cgroup/{name}"
    return (f"mkdir -p {group} && echo {cpus} >{group}/cpuset.cpus && "
            f"echo {mems} >{group}/cpuset.mems && echo 0 >{group}/cgroup.procs")


def refused(call, error):
    return {"through": [sys.executable, CHECKOUT / "tests/support/refuse.py", f"{call}={error}"]}


# Notices that one worker causes with the options BUSY; they are not faults of the machine.
IDLE = ["--rebind 0.2: has no effect with one worker", "--check-rebind 0.5: has no effect with one worker"]

# name: (text of the notice, or None if no feature is lost; arguments of Batch.add). On n2, cores 0
# and 1 are on node 0, and cores 2 and 3 are on node 1.
CASES = {
    "nothing": (None, {}),
    "one_core_by_affinity": (None, {"through": ["taskset", "-c", "3"]}),
    "four_workers_on_one_core": (None, {"through": ["taskset", "-c", "3"],
                                        "extra": ["--engine", "timewarp", "--workers", 4]}),
    "one_core_by_cpuset": (None, {"before": cpuset("one", "3", "1")}),
    # The nearest node with allowed memory becomes the home of all groups.
    "memory_elsewhere": (None, {"before": cpuset("far", "2-3", "0")}),
    "memory_elsewhere_strict": (None, {"before": cpuset("far", "2-3", "0"), "extra": ["--place", "strict"]}),
    "no_locked_memory": (None, {"before": "ulimit -l 0"}),
    "address_space": ("address space", {"before": "ulimit -v 3000000"}),
    "move_pages_eperm": ("not permit moving pages.*permitted", refused("move_pages", errno.EPERM)),
    "move_pages_enosys": ("not permit moving pages.*implement", refused("move_pages", errno.ENOSYS)),
    "move_pages_enomem": ("not permit moving pages.*memory", refused("move_pages", errno.ENOMEM)),
    "move_pages_enodev": ("not permit moving pages.*device", refused("move_pages", errno.ENODEV)),
    "memory_policies": ("not be bound", refused("set_mempolicy", errno.EPERM)),
    "affinity": ("pinned|bound to", refused("sched_setaffinity", errno.EPERM)),
    "huge_pages": ("huge pages",
                   refused("madvise", errno.EINVAL) | {"extra": ["--huge-pages", "on"]}),
}


def add(batch, name, model=MODEL, extra=(), **how):
    batch.add(name, *model, *BUSY, *extra, **how)


batch = guest.Batch(programs, "n2")
batch.shell("echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control")
batch.add("sequential", *MODEL, "--engine", "sequential")
for name, (_, how) in CASES.items():
    add(batch, name, **how)

# No page moves, so the policies of the workers decide where pages are.
UNDER_NUMACTL = {"numactl": [], "numactl_strict": ["--place", "strict"], "numactl_libc": ["--memory", "libc"]}
for name, extra in UNDER_NUMACTL.items():
    batch.add(name, *MODEL, *(["--pagemigd", "off"] if "libc" not in name else []), "--rebind", "off", *extra,
              through=["numactl", "--preferred=0"])

batch.shell("echo 2 >/proc/sys/vm/overcommit_memory")
add(batch, "overcommit")
batch.shell("echo 0 >/proc/sys/vm/overcommit_memory")

batch.shell("echo 1 >/proc/sys/kernel/numa_balancing")
add(batch, "balancing")
batch.shell("echo 0 >/proc/sys/kernel/numa_balancing")

# A file whose pages prefer node 1 takes all memory of this node that the kernel gives to programs.
# The kernel keeps a reserve of about 40 MiB: LPs that should be on the node must need more.
batch.add("sequential_large", *LARGE_MODEL, "--engine", "sequential")
batch.shell("mkdir /tmp/hog && mount -t tmpfs -o size=2G,mpol=prefer:1 hog /tmp/hog")
# File pages that the kernel can reclaim would make room for moved pages. They are dropped first.
for part in range(3):
    batch.shell("echo 3 >/proc/sys/vm/drop_caches")
    batch.shell("free=$(awk '/MemFree/ {print $4}' /sys/devices/system/node/node1/meminfo)")
    batch.shell(f"head -c ${{free}}K /dev/zero >/tmp/hog/file-{part}")
add(batch, "node_full", model=LARGE_MODEL)
add(batch, "node_full_strict", model=LARGE_MODEL, extra=["--place", "strict"])

results = batch.run()
# The kernel does not count memory that is only reserved: no feature is lost under strict
# overcommit.
CASES |= {"overcommit": (None, {}), "balancing": ("kernel also moves pages", {}),
          "node_full": ("node 1 has no room", {})}

for name, (wanted, _) in CASES.items():
    result = results[name]
    guest.expect_ended(programs, name, result)
    digest = results["sequential_large" if name == "node_full" else "sequential"].stats["digest"]
    programs.expect(result.stats.get("digest") == digest, f"{name}: digest")
    if wanted is None:
        idle = IDLE if result.stats.get("workers") == 1 else []
        programs.expect(result.notices == idle, f"{name}: no other notice than {idle}: {result.notices}")
    else:
        programs.expect(len(result.notices) == 1 and re.search(wanted, result.notices[0]),
                        f"{name}: one notice that contains '{wanted}': {result.notices}")

for name, workers, nodes in [("nothing", 4, 2), ("one_core_by_affinity", 1, 1),
                             ("one_core_by_cpuset", 1, 1), ("memory_elsewhere", 2, 1),
                             ("memory_elsewhere_strict", 2, 1)]:
    seen = (results[name].stats.get("workers"), results[name].numa.get("nodes"))
    programs.expect(seen == (workers, nodes), f"{name}: {seen[0]} workers, {seen[1]} nodes")
programs.expect(results["nothing"].numa.get("pages_moved", 0) > 0,
                "pages move if no call is refused")
programs.expect(results["node_full"].numa.get("pages_no_room", 0) > 0,
                f"node_full: {results['node_full'].numa.get('pages_no_room')} pages without room")
for name in UNDER_NUMACTL:
    guest.expect_ended(programs, name, results[name])
    remote = results[name].numa.get("remote_page_share")
    programs.expect(remote is not None and (remote > 0.4 if name == "numactl_libc" else remote < 0.01),
                    f"{name}: {remote} of the pages are remote")
programs.expect(results["node_full_strict"].exit_code == KILLED,
                f"node_full_strict: exit code {results['node_full_strict'].exit_code}")
programs.leave()
