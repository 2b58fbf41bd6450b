#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests --place on a machine with four nodes, whose different links are described by a file. Pages
have the shares of the weights, also after groups were rebound. Workers on badly connected nodes
move to well connected nodes within three periods, with their pages. The digest is that of the
sequential engine."""

import errno
import json
import re
import sys

import guest
from programs import CHECKOUT, Programs

programs = Programs()

MODEL = ["phold", "--lps", 1024, "--state", 4096, "--touch", 4096, "--lps-per-group", 16, "--remote", 0.5]
LONG = [*MODEL, "--until", 1e9, "--pagemigd", "1@0.25"]
# Two workers begin on nodes 0 and 1; nodes 0 and 2 have the best links.
LINKS = [[0, 3000, 9000, 1000], [3000, 0, 2000, 8000], [9000, 1000, 0, 1000], [1000, 8000, 1000, 0]]
SECONDS = 6
REFUSED_SECONDS = 3  # asymsched decides after one second
AUTO_SECONDS = 15  # three measurements, and moves of pages
# Text that answers of a run contain (run_until.py).
ARRIVED = "state 0.[0-5] % remote.*engine 0.[0-5] % remote.*from nodes 0 1 to"
DECIDED = "mail.*(local|weighted): with weighted pages on all nodes"
# (--place, the system call that the kernel refuses, texts of the notices)
REFUSED = [("weighted", "move_pages", ["not permit moving pages"]),
           ("asymsched", "move_pages", ["not permit moving pages"]),
           ("asymsched", "sched_setaffinity", ["workers could not be bound to cores", "workers stay on their CPUs"])]
# Weights that the test sets in a kernel from version 6.9 on. They equal the weights that numawarp
# computes from the links for workers on nodes 0 and 1. No other run of this test has these weights.
KERNELS_WEIGHTS = [3, 3, 2, 1]
SEARCH_SECONDS = 45  # until proximity has been found, in seven steps and perhaps one reversed step


def expect_shares(what, result, expected, tolerance=0.01):
    shares = guest.shares_of(result)
    programs.expect(len(shares) == len(expected) == len(LINKS)
                    and all(abs(a - b) <= tolerance for a, b in zip(shares, expected, strict=True)),
                    f"{what}: {[f'{share:.3f}' for share in shares]} of the state are on the nodes; expected: "
                    f"{[f'{share:.3f}' for share in expected]}")


batch = guest.Batch(programs, "n4")
machine = batch.folder / "machine.json"
machine.write_text(json.dumps({"bw": LINKS}))
with_links = ["--machine", machine, "--workers", 2]
batch.add("sequential", *MODEL, "--until", 30, "--engine", "sequential")
for place in ("interleave", "weighted", "asymsched"):
    batch.add(f"{place}-whole", *MODEL, "--until", 30, "--workers", 2, "--place", place)
batch.add("interleave", *LONG, "--place", "interleave", "--workers", 2, through=guest.interrupted(SECONDS))
batch.add("weighted", *LONG, "--place", "weighted", *with_links, "--rebind", 3, "--check-rebind", 0.5,
          through=guest.interrupted(SEARCH_SECONDS, until="spread"))
batch.add("asymsched", *LONG, "--place", "asymsched", *with_links,
          through=guest.interrupted(SECONDS, until=ARRIVED))
# The cgroup of these runs loses CPUs 0 to 3, and thus nodes 0 and 1.
group = "/sys/fs/cgroup/shrinking"
batch.shell(f"mkdir {group}; echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control; echo 0-7 >{group}/cpuset.cpus")
take_away = f"echo 4-7 >{group}/cpuset.cpus"
for place in ("local", "asymsched"):
    batch.shell(f"echo 0-7 >{group}/cpuset.cpus")
    batch.add(f"{place}-shrunk", *LONG, "--place", place, "--workers", 2,
              *(["--machine", machine] if place == "asymsched" else []),
              through=["sh", "-c", f'echo $$ >{group}/cgroup.procs; exec "$@"', "sh", *guest.interrupted(SECONDS, take_away, until="local")])
batch.add("auto", *LONG, "--place", "auto", *with_links, through=guest.interrupted(AUTO_SECONDS, until=DECIDED))
batch.add("auto-full", *MODEL, "--until", 30, "--place", "auto", "--machine", machine, "--workers", 4)
for place, call, _ in REFUSED:
    batch.add(f"{place}-without-{call}", *LONG, "--place", place, *with_links,
              through=[sys.executable, CHECKOUT / "tests/support/refuse.py", f"{call}={errno.EPERM}",
                       *guest.interrupted(REFUSED_SECONDS)])
# This run is not interrupted: it must reach its end.
batch.add("refused-whole", *MODEL, "--until", 30, "--place", "weighted", "--workers", 2, "--pagemigd", "1@0.25",
          through=[sys.executable, CHECKOUT / "tests/support/refuse.py", f"move_pages={errno.EPERM}"])
kernels = "/sys/kernel/mm/mempolicy/weighted_interleave"
for node, weight in enumerate(KERNELS_WEIGHTS):
    batch.shell(f"[ ! -d {kernels} ] || echo {weight} >{kernels}/node{node}")
batch.shell(f"[ ! -d {kernels} ] || echo yes >kernels-weights")
batch.add("kernels-weights", *MODEL[:-4], "--lps-per-group", 256, "--until", 5, "--place", "weighted", *with_links,
          "--pagemigd", "off", "--proximity", 0)
results = batch.run("--timeout", 900)

sequential = results["sequential"]
guest.expect_ended(programs, "sequential", sequential)
for name in ("interleave", "weighted", "asymsched"):
    to_the_end = results[f"{name}-whole"]
    guest.expect_ended(programs, f"{name} to the end", to_the_end)
    programs.expect(to_the_end.stats.get("digest") == sequential.stats.get("digest"),
                    f"{name}: digest {to_the_end.stats.get('digest')}")
    guest.expect_ended(programs, name, results[name], exit_code=130)
    programs.expect(results[name].numa.get("place") == name and not results[name].notices,
                    f"{name}: the placement mode is reported without notices: {results[name].notices}")

# The kernel interleaves by page numbers. So of the 22 pages of a group, the first two nodes have 6
# pages each, and the other nodes have 5.
expect_shares("interleave", results["interleave"], [0.25] * 4, tolerance=1 / 40)
weighted = results["weighted"]
wanted = [float(share) / 100
          for share in re.findall(r"([\d.]+) %", weighted.numa.get("placed", ""))]
expect_shares(f"weighted, {weighted.numa.get('placed')}", weighted, wanted)
programs.expect("has not ended" not in weighted.numa.get("placed", ""), "weighted: the search has ended")
programs.expect(weighted.numa.get("groups_moved", 0) > 0, "weighted: groups were rebound")

moved = results["asymsched"]
placed = moved.numa.get("placed", "")
found = re.match(r"at [\d.]+ s, period (\d+), from nodes 0 1 to (\d) (\d)", placed)
programs.expect(found is not None and int(found[1]) <= 3, f"asymsched: moves within 3 periods: {placed}")
programs.expect(found is not None and (found[2], found[3]) == ("0", "2"), "asymsched: workers move to the best nodes")
programs.expect(sorted(worker["node"] for worker in moved.stats.get("workers_detail", [])) == [0, 2],
                "asymsched: the workers are on the chosen nodes")
for kind in ("state", "engine"):
    remote = ((moved.numa.get("placement") or {}).get(kind) or {}).get("remote_share")
    programs.expect(remote is not None and remote < 0.01, f"asymsched: {remote} of {kind} is remote")

# The guest has no miss counters, and all its memory is equally fast. So the trial may choose either
# placement. The pages must be placed as the trial has chosen.
tried = results["auto"]
guest.expect_ended(programs, "auto", tried, exit_code=130)
guest.expect_ended(programs, "auto, workers on all nodes", results["auto-full"])
placed = tried.numa.get("placed", "")
found = re.match(r"(local|weighted): with weighted pages on all nodes, (\d\.\d+) times as many events", placed)
programs.expect(found is not None and (found[1] == "local" or float(found[2]) > 1.02), f"auto: {placed}")
share = tried.numa.get("remote_page_share") or 0
programs.expect(found is not None and (share < 0.05 if found[1] == "local" else share > 0.05),
                f"auto: {share} of the pages are remote")
programs.expect(results["auto-full"].numa.get("placed") == "local: workers have all nodes"
                and results["auto-full"].stats.get("digest") == sequential.stats.get("digest"),
                f"auto, workers on all nodes: {results['auto-full'].numa.get('placed')}")

for place, call, told in REFUSED:
    what = f"{place} without {call}"
    result = results[f"{place}-without-{call}"]
    guest.expect_ended(programs, what, result, exit_code=130)
    programs.expect(len(result.notices) == len(told)
                    and all(words in notice for words, notice in zip(told, result.notices, strict=True)),
                    f"{what}: notices {result.notices}")
    nodes = sorted(worker["node"] for worker in result.stats.get("workers_detail", []))
    placed = result.numa.get("placed", "")
    programs.expect(nodes == [0, 1], f"{what}: workers stay on nodes {nodes}: {placed}")
    programs.expect(placed.endswith("; refused by the kernel: workers stayed") == (call == "sched_setaffinity"),
                    f"{what}: the report of moves shows whether the moves were refused")

whole = results["refused-whole"]
guest.expect_ended(programs, "weighted to its end without move_pages", whole)
programs.expect(whole.stats.get("digest") == sequential.stats.get("digest"),
                f"weighted without move_pages: digest {whole.stats.get('digest')}")

# No pages are moved: they are allocated according to the kernel's weights.
kernels = results["kernels-weights"]
guest.expect_ended(programs, "the kernel's weights", kernels)
if (batch.folder / "kernels-weights").exists():
    expect_shares("the kernel's weights", kernels, [weight / sum(KERNELS_WEIGHTS) for weight in KERNELS_WEIGHTS])
else:
    print("this kernel has no weights")

for place in ("local", "asymsched"):
    shrunk = results[f"{place}-shrunk"]
    guest.expect_ended(programs, f"{place}, CPUs taken away", shrunk, exit_code=130)
    programs.expect(shrunk.notices == ["4 of 8 CPUs were taken from the process while it ran: 0 1 2 3; its workers "
                                       "continued on the others"], f"{place}, CPUs taken away: notices {shrunk.notices}")
    workers = [(worker["node"], worker["core"]) for worker in shrunk.stats.get("workers_detail", [])]
    programs.expect(len(set(workers)) == 2 and all(core >= 4 for _, core in workers),
                    f"{place}, CPUs taken away: workers on (node, core) {workers}, {shrunk.numa.get('placed')}")
    share = shrunk.numa.get("remote_page_share")
    programs.expect(share is not None and share < 0.05, f"{place}, CPUs taken away: {share} of the pages are remote")
programs.leave()
