#!/usr/bin/env python3
"""jobs/slurm/long-run.sbatch: a run that is stopped again and again ends with the digest and the output
of one that is not. It is stopped by the signal that comes before the time limit, by one to the ranks
alone, by a more urgent job, and by scancel, after which it is submitted again.

A job that goes back into the queue waits there for two minutes, by which SLURM makes sure that it is
gone from everywhere; here it is told to start in some seconds. (In the same second it would fail: hosts
refuse a job that they have just been told to end.)"""

from checkout import SHARED_CORES, Checkout
from hosts import HostRanks
from slurm import Slurm, need_slurm

from ranks import skip

need_slurm()
ranks = HostRanks()
expect = ranks.expect
if "--checkpoint DIR" not in ranks.run("traffic", "--help").stdout:
    skip("this build has no --checkpoint")

MODEL = ["traffic", "--objects", 1024, "--until", 8000]
RANKS = 3


class LongRun:
    """A job of long-run.sbatch on all hosts, over when the `with` block is. Its name is the run's."""

    def __init__(self, slurm, checkout, name):
        self._slurm = slurm
        self._checkout = checkout
        self._name = name
        self._launch = slurm.start(checkout.folder, "sbatch", "--wait", f"--nodes={RANKS}",
                                   f"--job-name={name}", "jobs/slurm/long-run.sbatch", *MODEL,
                                   *SHARED_CORES)

    def __enter__(self):
        self._launch.__enter__()
        self._launch.wait_for(lambda: "Submitted" in self._launch.stdout())
        self.number = int(self._launch.stdout().split()[3])
        return self

    def __exit__(self, *error):
        if error[0] is not None:
            print(self._checkout.log(f"{self._name}-{self.number}"))
        self._launch.__exit__(*error)

    def under_way(self):
        self._launch.wait_until_under_way(RANKS)

    def expect_requeued(self, what, times):
        """Then starts it again."""
        job = self._slurm.wait_for_job(self.number, "PENDING")
        expect((job["JobState"], job["Restarts"]) == ("PENDING", str(times)),
               f"{what}: {job['JobState']}, {job['Restarts']} times before")
        self._slurm.run("/", "scontrol", "update", f"JobId={self.number}", "StartTime=now+3")

    def expect_end(self, what, state):
        job = self._slurm.wait_for_job(self.number, timeout=300)
        expect(job["JobState"] == state, f"{what}: {job['JobState']} {job['ExitCode']}")


reference = ranks.statistics_of(*MODEL, "--engine", "sequential", "--output",
                                ranks.work / "sequential")


def expect_reference(checkout, name):
    run = checkout.statistics(name)
    expect((run.get("digest"), run.get("committed_events"))
           == (reference["digest"], reference["committed_events"]),
           f"{name}: digest {run.get('digest')} of {run.get('committed_events')} events")
    rows = checkout.folder / "results" / name / "roads.csv"
    expect(rows.exists()
           and rows.read_text() == (ranks.work / "sequential/roads.csv").read_text(),
           f"{name}: the same roads.csv")


with ranks.hosts as hosts, Slurm(hosts) as slurm:
    checkout = Checkout(ranks, slurm)
    with LongRun(slurm, checkout, "stopped") as job:
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
    went_on = checkout.log(f"stopped-{job.number}").count("results in results/stopped --restart ")
    expect(went_on == 3, f"it went on from a checkpoint {went_on} times")
    expect_reference(checkout, "stopped")

    with LongRun(slurm, checkout, "cancelled") as job:
        job.under_way()
        slurm.run("/", "scancel", job.number)
        job.expect_end("scancel", "CANCELLED")
    for what, said in [("submitted again", "--restart"), ("and again", "finished before")]:
        with LongRun(slurm, checkout, "cancelled") as job:
            job.expect_end(what, "COMPLETED")
        log = checkout.log(f"cancelled-{job.number}")
        expect(said in log, f"{what}: it says {said!r}")
    expect_reference(checkout, "cancelled")

ranks.leave()
