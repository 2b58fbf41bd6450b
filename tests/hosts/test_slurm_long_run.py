#!/usr/bin/env python3
"""jobs/slurm/long-run.sbatch: a run that is stopped again and again ends with the digest and the output
of one that is not. It is stopped by the signal that comes before the time limit, by one to the ranks
alone, by a more urgent job, and by scancel, after which it is submitted again."""

from checkout import Checkout
from hosts import HostRanks
from long_run import RANKS, LongRun, Reference
from slurm import Slurm, need_slurm

from ranks import skip

need_slurm()
ranks = HostRanks()
expect = ranks.expect
if "--checkpoint DIR" not in ranks.run("traffic", "--help").stdout:
    skip("this build has no --checkpoint")

MODEL = ["traffic", "--objects", 1024, "--until", 8000]

reference = Reference(ranks, MODEL)

with ranks.hosts as hosts, Slurm(hosts) as slurm:
    checkout = Checkout(ranks, slurm)
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

ranks.leave()
