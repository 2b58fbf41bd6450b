#!/usr/bin/env python3
"""jobs/slurm/long-run.sbatch: a run that is stopped again and again ends with the digest and the output
of one that is not. It is stopped by the signal that comes before the time limit, by one to the ranks
alone, by a more urgent job, and by scancel, after which it is submitted again.

usage: test_slurm_long_run.py FOLDER-OF-PROGRAMS [time-limit]

time-limit  instead a run that needs more time than its job may have. SLURM itself sends the signal, some time
            within the minute before --signal says: a few minutes, since SLURM counts in minutes."""

import sys

from checkout import Checkout
from hosts import HostRanks
from long_run import RANKS, LongRun, Reference
from slurm import Slurm, need_slurm

need_slurm()
ranks = HostRanks()
expect = ranks.expect

AT_LIMIT = "time-limit" in sys.argv
MODEL = ["traffic", "--objects", 1024, "--until", 100_000 if AT_LIMIT else 8000]
STARTS_MAX = 6


def check_time_limit():
    with LongRun(slurm, checkout, expect, "limited", MODEL, "--time=2", "--signal=B:USR1@30") as job:
        for times in range(1, STARTS_MAX):
            job.under_way()
            if job.wait_until_requeued()["JobState"] != "PENDING":
                break
            print(f"back in the queue for the {times}. time", flush=True)
            job.start_again()
        job.expect_end("time limits", "COMPLETED")
    log = job.log()
    expect("back into the queue" in log and "results in results/limited --restart" in log
           and "DUE TO TIME LIMIT" not in log, f"it went on from a checkpoint: {log}")
    reference.expect(checkout, "limited")


def check_stops():
    with LongRun(slurm, checkout, expect, "stopped", MODEL) as job:
        job.under_way()
        slurm.run("/", "scancel", "--batch", "--signal=USR1", job.number)
        job.expect_requeued("near the time limit", 1)
        job.under_way()
        slurm.run("/", "scancel", "--signal=USR1", job.number)
        job.expect_requeued("a signal to the ranks", 2)
        job.under_way()
        slurm.run("/", "srun", "--partition=urgent", f"--nodes={RANKS}", "true")
        job.expect_requeued("preempted", 3)
        job.expect_end("nobody stops it", "COMPLETED")
    went_on = job.log().count("results in results/stopped --restart ")
    expect(went_on == 3, f"it went on from a checkpoint {went_on} times")
    reference.expect(checkout, "stopped")

    with LongRun(slurm, checkout, expect, "cancelled", MODEL) as job:
        job.under_way()
        slurm.run("/", "scancel", job.number)
        job.expect_end("scancel", "CANCELLED")
    for what, said in [("submitted again", "--restart"), ("and again", "finished before")]:
        with LongRun(slurm, checkout, expect, "cancelled", MODEL) as job:
            job.expect_end(what, "COMPLETED")
        log = job.log()
        expect(said in log, f"{what}: it says {said!r}")
    reference.expect(checkout, "cancelled")


reference = Reference(ranks, MODEL)
with ranks.hosts as hosts, Slurm(hosts) as slurm:
    checkout = Checkout(ranks, slurm)
    check_time_limit() if AT_LIMIT else check_stops()
ranks.leave()
