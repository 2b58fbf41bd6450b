#!/usr/bin/env python3
"""jobs/slurm/long-run.sbatch: a run that needs more time than its job may have. SLURM itself sends the
signal (some time within the minute before --signal says), the job goes back into the queue, and the run
ends with the digest and the output of one in one piece. A few minutes: SLURM counts in minutes."""

from checkout import Checkout
from hosts import HostRanks
from long_run import LongRun, Reference
from slurm import Slurm, need_slurm

need_slurm()
ranks = HostRanks()
MODEL = ["traffic", "--objects", 1024, "--until", 100_000]
STARTS_MAX = 6

reference = Reference(ranks, MODEL)

with ranks.hosts as hosts, Slurm(hosts) as slurm:
    checkout = Checkout(ranks, slurm)
    with LongRun(slurm, checkout, ranks.expect, "limited", MODEL, "--time=2",
                 "--signal=B:USR1@30") as job:
        for times in range(1, STARTS_MAX):
            job.under_way()
            if job.wait_until_requeued()["JobState"] != "PENDING":
                break
            print(f"back in the queue for the {times}. time", flush=True)
            job.start_again()
        job.expect_end("time limits", "COMPLETED")
    log = job.log()
    ranks.expect("back into the queue" in log and "results in results/limited --restart" in log
                 and "DUE TO TIME LIMIT" not in log, f"it went on from a checkpoint: {log}")
    reference.expect(checkout, "limited")

ranks.leave()
