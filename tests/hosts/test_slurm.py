#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the scripts of jobs/slurm, submitted as by a user, and a user's own command line in a job.
Each job ends COMPLETED, and its results have the digest of a sequential run. An error makes a job
FAILED. An error on one rank ends all ranks under srun, as under mpirun.

The scripts are not changed for these hosts. SLURM does not bind here, because all hosts share the
cores; tests/guest/test_slurm_binding.py tests binding."""

import json
import os
import shlex
import signal
import sys
import time

from checkout import Checkout, mute_srun
from hosts import SHARED_CORES, HostRanks
from programs import CHECKOUT, python_with
from slurm import Slurm, need_slurm

from ranks import MODELS, skip

need_slurm()
ranks = HostRanks()
SECONDS_TO_END = 10
THREE = ["--nodes=3", "--ntasks=3", "--cpus-per-task=2"]
TRAFFIC = ["build/bin/traffic", *MODELS["traffic"], *SHARED_CORES]
# (name in this test, script, words for sbatch, hosts)
JOBS = [("a NUMA node", "numa-node", [], 1),
        ("a machine", "node", [], 1),
        ("two machines", "nodes", [], 2),
        ("three machines", "nodes", ["--nodes=3"], 3)]
# The lines of sweep.sbatch, in its order.
SWEEP = [["--remote", 0.01], ["--remote", 0.1], ["--remote", 0.1, "--lookahead", 0.5],
         ["--remote", 0.5]]
PHOLD = ["--lps", 256, "--until", 20]


def expect_completed(name, job, log):
    ranks.expect(job["JobState"] == "COMPLETED", f"{name}: {job['JobState']} {job['ExitCode']}")
    if job["JobState"] != "COMPLETED":
        print(log)


def expect_results(name, run, wanted_ranks, reference):
    ranks.expect((run.get("ranks"), run.get("digest")) == (wanted_ranks, reference["digest"]),
                 f"{name}: {run.get('ranks')} ranks, digest {run.get('digest')}")


def check_scripts():
    for name, script, words, wanted_ranks in JOBS:
        number = checkout.submit(script, *words, *TRAFFIC)
        job = slurm.wait_for_job(number)
        expect_completed(name, job, checkout.log(f"{script}-{number}"))
        expect_results(name, checkout.statistics(f"{script}-{number}"), wanted_ranks, reference)

    number = checkout.sbatch("jobs/slurm/nodes.sbatch", *TRAFFIC,
                             through=["env", f"PATH={mute_srun(ranks.work / 'mute')}"])
    job = slurm.wait_for_job(number)
    expect_completed("by mpirun", job, checkout.log(f"nodes-{number}"))
    expect_results("by mpirun", checkout.statistics(f"nodes-{number}"), 2, reference)


def check_sweep():
    number = checkout.sbatch("jobs/slurm/sweep.sbatch", "phold", *PHOLD, *SHARED_CORES)
    for task, options in enumerate(SWEEP, 1):
        job = slurm.wait_for_job(f"{number}_{task}")
        expect_completed(f"task {task}", job, checkout.log(f"sweep-{number}-{task}"))
        expect_results(f"task {task}", checkout.statistics(f"sweep-{number}-{task}"), 1,
                       ranks.statistics_of("phold", *PHOLD, *options, "--engine", "sequential"))
    collect = checkout.log(f"sweep-{number}-1").splitlines()[0].partition("of all tasks: ")[2]
    slurm.run(checkout.folder, "sh", "-c", collect)
    ranks.expect((checkout.folder / f"results/sweep-{number}.html").exists(), collect)


def check_replicate():
    """Tests an array whose tasks share the runs of a series. The tables of the series equal those
    of a series on one machine."""
    words = ["bank", "--runs", 13, "--banks", 20, "--until", 300, "--vary", "counters=1,2"]
    number = checkout.sbatch("--array=1-3", "jobs/slurm/replicate.sbatch", *words)
    for task in (1, 2, 3):
        job = slurm.wait_for_job(f"{number}_{task}")
        expect_completed(f"runs of task {task}", job, checkout.log(f"replicate-{number}-{task}"))
    series = checkout.folder / "results/replicate-bank"
    made = {file.name: file.read_bytes() for file in (series / "runs").iterdir()}
    ranks.expect(len(made) == 2 * 13 and not (series / "intervals.csv").exists(),
                 f"three tasks have executed {len(made)} runs, and written no tables")
    for folder in ([], ["--output", "results/alone"]):
        slurm.run(checkout.folder, python_with("matplotlib, scipy"), "jobs/replicate", *map(str, words), *folder)
    ranks.expect({file.name: file.read_bytes() for file in (series / "runs").iterdir()} == made,
                 "the task that writes the tables repeats no runs")
    alone = checkout.folder / "results/alone"
    tables = sorted(path.name for path in alone.glob("*.csv"))
    ranks.expect(tables == ["differences.csv", "intervals.csv", "runs.csv"]
                 and all((series / name).read_bytes() == (alone / name).read_bytes() for name in tables),
                 f"the tables of the array equal those of a single machine: {tables}")


def check_own_line():
    """The line that ./jobs/run builds in a job."""
    stats = ranks.work / "own.json"
    line = [sys.executable, CHECKOUT / "jobs/lib/launch.py", "3", *TRAFFIC, "--quiet", "--stats", stats]
    number = checkout.sbatch(*THREE, "--output=own.out", "--wrap", shlex.join(map(str, line)))
    expect_completed("a line of one's own", slurm.wait_for_job(number), checkout.log("own"))
    run = json.loads(stats.read_text()) if stats.exists() else {}
    expect_results("a line of one's own", run, 3, reference)


def check_wrong_jobs():
    for name, words, code, said in [
            ("a line that does not exist", ["--array=5", "jobs/slurm/sweep.sbatch"], "2:0",
             "allowed: 1-4"),
            ("a wrong option", ["jobs/slurm/node.sbatch", "phold", "--until", "soon"], "2:0",
             "--until soon"),
            ("no such program", ["jobs/slurm/node.sbatch", "fold-p"], "2:0",
             "fold-p: No such file")]:
        number = checkout.sbatch("--output=wrong-%j.out", *words)
        job = slurm.wait_for_job(number)
        log = checkout.log(f"wrong-{number}")
        ranks.expect(job["JobState"] == "FAILED" and job["ExitCode"] == code and said in log,
                     f"{name}: {job['JobState']} {job['ExitCode']}: {log.strip()[-200:]}")


def check_failing_ranks():
    srun = ["srun", "--mpi=pmix", "--kill-on-bad-exit", *THREE]
    with slurm.start(ranks.work, *srun, ranks.bin / "rule_breaker", "--workers", 1,
                     "--lps-per-group", 1, "--breach", "past") as launch:
        ended = launch.wait()
    ranks.expect(ended.exit_code == 3 and len(ended.ours) == 1 and "LP 1 at time 3" in ended.ours[0]
                 and ended.ours[0].startswith("numawarp: rank 0: "),
                 f"a broken rule: exit code {ended.exit_code}: {ended.ours}")

    with slurm.start(ranks.work, *srun, ranks.bin / "phold", "--until", 1e12, *SHARED_CORES) as launch:
        launch.wait_until_under_way(3)
        began = time.monotonic()
        os.kill(launch.pids()[1], signal.SIGKILL)
        ended = launch.wait()
        took = time.monotonic() - began
    ranks.expect(ended.exit_code != 0 and took < SECONDS_TO_END
                 and "n2: task 1: Killed" in ended.stderr,
                 f"a killed rank: exit code {ended.exit_code} after {took:.1f} s, srun names the rank")


reference = ranks.statistics_of("traffic", *MODELS["traffic"], "--engine", "sequential")
with ranks.hosts as hosts, Slurm(hosts) as slurm:
    if "pmix" not in slurm.run("/", "sh", "-c", "srun --mpi=list 2>&1"):
        skip("this SLURM does not support PMIx")
    checkout = Checkout(ranks, slurm)
    check_scripts()
    check_sweep()
    check_replicate()
    check_own_line()
    check_wrong_jobs()
    check_failing_ranks()
ranks.leave()
