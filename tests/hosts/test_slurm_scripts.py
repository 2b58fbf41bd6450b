#!/usr/bin/env python3
"""The scripts of jobs/slurm, submitted as a user does it: each job ends COMPLETED, and what it leaves in
results/ has the digest of a sequential run. What goes wrong makes a job FAILED.

Nothing is changed in the scripts for these hosts. SLURM does not bind here, since all have the same
cores; tests/guest/test_slurm_binding.py shows that."""

import shutil

from checkout import SHARED_CORES, Checkout
from hosts import HostRanks
from slurm import Slurm, need_slurm

from ranks import MODELS

need_slurm()
ranks = HostRanks()
TRAFFIC = ["build/bin/traffic", *MODELS["traffic"], *SHARED_CORES]
# (how it is called here, script, words for sbatch, hosts)
JOBS = [("a NUMA node", "numa-node", [], 1),
        ("a machine", "node", [], 1),
        ("two machines", "nodes", [], 2),
        ("three machines", "nodes", ["--nodes=3"], 3)]
# The lines of sweep.sbatch, and a fifth that it does not have.
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


def mute_srun(folder):
    """The srun of a SLURM without PMIx: a folder for PATH."""
    folder.mkdir()
    srun = folder / "srun"
    srun.write_text('#!/bin/sh\ncase "$*" in\n    --mpi=list) echo pmi2 ;;\n    *--mpi=pmix*) exit 1 ;;\n'
                    f'    *) exec {shutil.which("srun")} "$@" ;;\nesac\n')
    srun.chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


reference = ranks.statistics_of("traffic", *MODELS["traffic"], "--engine", "sequential")

with ranks.hosts as hosts, Slurm(hosts) as slurm:
    checkout = Checkout(ranks, slurm)
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

    number = checkout.sbatch("jobs/slurm/sweep.sbatch", "phold", *PHOLD, *SHARED_CORES)
    for task, options in enumerate(SWEEP, 1):
        job = slurm.wait_for_job(f"{number}_{task}")
        expect_completed(f"task {task}", job, checkout.log(f"sweep-{number}-{task}"))
        expect_results(f"task {task}", checkout.statistics(f"sweep-{number}-{task}"), 1,
                       ranks.statistics_of("phold", *PHOLD, *options, "--engine", "sequential"))
    collect = checkout.log(f"sweep-{number}-1").splitlines()[0].partition("of all tasks: ")[2]
    slurm.run(checkout.folder, "sh", "-c", collect)
    ranks.expect((checkout.folder / f"results/sweep-{number}.html").exists(), collect)

    for name, words, code, said in [
            ("a line that is not there", ["--array=5", "jobs/slurm/sweep.sbatch"], "2:0",
             "legal: 1-4"),
            ("a wrong option", ["jobs/slurm/node.sbatch", "phold", "--until", "soon"], "2:0",
             "--until soon"),
            ("no such program", ["jobs/slurm/node.sbatch", "fold-p"], "2:0",
             "fold-p: No such file")]:
        number = checkout.sbatch("--output=wrong-%j.out", *words)
        job = slurm.wait_for_job(number)
        log = checkout.log(f"wrong-{number}")
        ranks.expect(job["JobState"] == "FAILED" and job["ExitCode"] == code and said in log,
                     f"{name}: {job['JobState']} {job['ExitCode']}: {log.strip()[-200:]}")

ranks.leave()
