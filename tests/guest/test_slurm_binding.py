#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the scripts of jobs/slurm on four NUMA nodes, under a SLURM that binds tasks to cores and
memory. srun gives each rank the cores and the memory of one node: a script prints these resources,
which it reads from the kernel. numawarp's ranks have a worker on each of these cores, and no page
on another node.

The test also covers a SLURM whose configuration describes the machine as two sockets of two nodes
each, as on many clusters, and mpirun under a SLURM without PMIx."""

import json
import shlex
import sys
from collections import Counter

import guest
import topology
from checkouts import make_checkout
from programs import CHECKOUT, Programs

sys.path.insert(0, str(CHECKOUT / "tests/hosts"))
from checkout import mute_srun  # noqa: E402
from slurm import need_slurm  # noqa: E402

need_slurm()
programs = Programs()

MODEL = ["phold", "--lps", 4096, "--state", 4096, "--touch", 64, "--lps-per-group", 16,
         "--remote", 0.3, "--until", 10]
NODES = topology.parse("n4").nodes
LOCAL = 0.01
# Prints the resources that the task may use, from the kernel and numactl.
SHOW = '''#!/bin/sh
echo "task $SLURM_PROCID: $(numactl --show | tr '\\n' ' ')"
'''


def checkout(name):
    """A checkout with the additional script that the jobs below run."""
    folder = make_checkout(programs, name)
    (folder / "show").write_text(SHOW)
    (folder / "show").chmod(0o755)
    return folder


def run(folder, cores_of_a_socket, jobs):
    """Runs jobs one after the other. Each has its --job-name, and leaves a log and results under
    this name."""
    words = [shlex.join(map(str, ["--output=%x.out", *job])) for job in jobs]
    options = ["--rw", folder, "--ro", programs.bin, "--ro", CHECKOUT,
               "--env", "OMPI_ALLOW_RUN_AS_ROOT=1", "--env", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
               # Under SLURM, mpirun does not find the only network interface.
               "--env", "OMPI_MCA_oob_tcp_if_include=lo"]
    done = guest.run("n4", sys.executable, CHECKOUT / "tests/guest/slurm_job.py", cores_of_a_socket, *words,
                     options=options, folder=folder)
    programs.expect(done.returncode == 0, f"{len(jobs)} jobs: exit code {done.returncode}")
    if done.returncode != 0:
        print(done.stdout[-4000:], done.stderr[-2000:])


def log(folder, name):
    file = folder / f"{name}.out"
    return file.read_text() if file.exists() else ""


def expect_shown(name, text, tasks):
    """Checks that each task has the cores of one node and is bound to the memory of this node, and
    that each task has a different node."""
    places = []
    for line in filter(lambda line: line.startswith("task "), text.splitlines()):
        words = line.split()
        cpus = words[words.index("physcpubind:") + 1:words.index("cpubind:")]
        memory = words[words.index("membind:") + 1:]
        places.append((sorted(map(int, cpus)), [int(word) for word in memory if word.isdigit()][:1],
                       "bind" in words))
    first = [sum(node.cpus for node in NODES[:number]) for number in range(len(NODES))]
    wanted = [([first[i] + cpu for cpu in range(NODES[i].cpus)], [i], True) for i in range(tasks)]
    programs.expect(sorted(places) == wanted, f"{name}: {tasks} tasks on {sorted(places)}")


def expect_local(folder, name, ranks):
    found = list(folder.glob(f"results/{name}*/stats.json"))
    run = json.loads(found[0].read_text()) if found else {}
    places = {(worker.get("rank", 0), worker["node"]) for worker in run.get("workers_detail", [])}
    cores = Counter(worker["core"] for worker in run.get("workers_detail", []))
    programs.expect(run.get("digest") == reference["digest"]
                    and run["ranks"] == len(places) == len({node for _, node in places}) == ranks
                    and len(cores) == 2 * ranks,
                    f"{name}: (rank, node) {sorted(places)}, cores {sorted(cores)}, digest "
                    f"{run.get('digest')}")
    share = run.get("numa", {}).get("remote_page_share")
    programs.expect(share is not None and share <= LOCAL, f"{name}: {share} of the pages are remote")


reference = programs.statistics_of(*MODEL, "--engine", "sequential")

four = checkout("four-sockets")
mute = f"--export=ALL,PATH={mute_srun(four / 'mute')}"
run(four, 2, [
    ["--job-name=show-node", "jobs/slurm/node.sbatch", "./show"],
    ["--job-name=show-one", "jobs/slurm/numa-node.sbatch", "./show"],
    ["--job-name=node", "jobs/slurm/node.sbatch", *MODEL],
    ["--job-name=long", "jobs/slurm/long-run.sbatch", *MODEL],
    ["--job-name=mpirun", "--nodes=1", mute, "jobs/slurm/nodes.sbatch", *MODEL],
])
expect_shown("a machine", log(four, "show-node"), 4)
expect_shown("a NUMA node", log(four, "show-one"), 1)
for name, ranks in [("node", 4), ("long", 4), ("mpirun", 4)]:
    expect_local(four, name, ranks)

two = checkout("two-sockets")
run(two, 4, [
    ["--job-name=show-nodes", "--nodes=1", "jobs/slurm/nodes.sbatch", "./show"],
    ["--job-name=nodes", "--nodes=1", "jobs/slurm/nodes.sbatch", *MODEL],
])
expect_shown("two sockets", log(two, "show-nodes"), 4)
expect_local(two, "nodes", 4)
programs.leave()
