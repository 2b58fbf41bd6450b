#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests jobs/slurm/long-run.sbatch: a run that is stopped several times ends with the digest and
the output of an uninterrupted run. The run is stopped by the signal before the time limit, by a
signal to the ranks alone, by the death of a rank, by a more urgent job, and by scancel. After
scancel, the job is submitted again.

usage: test_slurm_long_run.py FOLDER-OF-PROGRAMS [time-limit]

time-limit: tests only a run that needs more time than its job may have. SLURM itself sends the
signal, within the minute before the time of --signal. This takes a few minutes, because SLURM
counts in minutes."""

import os
import signal
import sys

from checkout import Checkout
from hosts import SHARED_CORES, HostRanks
from slurm import Slurm, need_slurm

need_slurm()
ranks = HostRanks()
expect = ranks.expect

AT_LIMIT = "time-limit" in sys.argv
MODEL = ["traffic", "--objects", 1024, "--until", 140_000 if AT_LIMIT else 8000]
STARTS_MAX = 20  # a busy machine needs more starts
RANKS = 3


class LongRun:
    """A job of long-run.sbatch on all hosts, for the duration of the `with` block. The run has
    the name of the job.

    SLURM keeps a job that returns to the queue there for two minutes, so that the job has certainly
    ended on all hosts. This test orders the job to start after some seconds. (A start within the
    same second would fail: hosts refuse a job that they have just been ordered to end.)

    options: options of sbatch.
    """

    def __init__(self, name, *options):
        self._name = name
        self._launch = slurm.start(checkout.folder, "sbatch", "--wait", f"--nodes={RANKS}",
                                   f"--job-name={name}", *options, "jobs/slurm/long-run.sbatch",
                                   *MODEL, *SHARED_CORES)

    def __enter__(self):
        self._launch.__enter__()
        self._launch.wait_for(lambda: "Submitted" in self._launch.stdout())
        self.number = int(self._launch.stdout().split()[3])
        return self

    def __exit__(self, *error):
        if error[0] is not None:
            print(self.log())
        self._launch.__exit__(*error)

    def log(self):
        return checkout.log(f"{self._name}-{self.number}")

    def under_way(self):
        self._launch.wait_until_under_way(RANKS)

    def kill_rank(self):
        """Kills a rank, and waits until new ranks are running."""
        killed = self._launch.pids()
        os.kill(killed[RANKS - 1], signal.SIGKILL)
        self._launch.wait_for(lambda: "a rank has died (exit code 137)" in self.log())
        self._launch.wait_for(lambda: not set(killed.values()) & set(self._launch.pids().values()))
        self.under_way()

    def wait_until_requeued(self):
        """Waits until the job is back in the queue or over, and returns the job."""
        return slurm.wait_for_job(self.number, "PENDING", timeout=300)

    def start_again(self):
        slurm.run("/", "scontrol", "update", f"JobId={self.number}", "StartTime=now+3")

    def expect_requeued(self, what, times):
        """Checks that the job is back in the queue, and starts it again."""
        job = self.wait_until_requeued()
        expect((job["JobState"], job["Restarts"]) == ("PENDING", str(times)),
               f"{what}: {job['JobState']}, {job['Restarts']} times before")
        self.start_again()

    def expect_end(self, what, state):
        job = slurm.wait_for_job(self.number, timeout=300)
        expect(job["JobState"] == state, f"{what}: {job['JobState']} {job['ExitCode']}")


def expect_reference(name):
    """Checks that the run has the result of an uninterrupted run."""
    run = checkout.statistics(name)
    expect((run.get("digest"), run.get("committed_events"))
           == (reference["digest"], reference["committed_events"]),
           f"{name}: digest {run.get('digest')} of {run.get('committed_events')} events")
    rows = checkout.folder / "results" / name / "roads.csv"
    expect(rows.exists() and rows.read_text() == (output / "roads.csv").read_text(),
           f"{name}: the same roads.csv")


def check_time_limit():
    with LongRun("limited", "--time=2", "--signal=B:USR1@30") as job:
        for times in range(1, STARTS_MAX):
            job.under_way()
            if job.wait_until_requeued()["JobState"] != "PENDING":
                break
            print(f"back in the queue for the {times}. time", flush=True)
            job.start_again()
        job.expect_end("time limits", "COMPLETED")
    log = job.log()
    expect("requeued, to continue" in log and "results in results/limited --restart" in log
           and "DUE TO TIME LIMIT" not in log, f"the run continued from a checkpoint: {log}")
    expect_reference("limited")


def check_stops():
    with LongRun("stopped") as job:
        job.under_way()
        slurm.run("/", "scancel", "--batch", "--signal=USR1", job.number)
        job.expect_requeued("near the time limit", 1)
        job.under_way()
        slurm.run("/", "scancel", "--signal=USR1", job.number)
        job.expect_requeued("a signal to the ranks", 2)
        job.under_way()
        job.kill_rank()
        slurm.run("/", "srun", "--partition=urgent", f"--nodes={RANKS}", "true")
        job.expect_requeued("preempted", 3)
        job.expect_end("not stopped again", "COMPLETED")
    went_on = job.log().count("results in results/stopped --restart ")
    expect(went_on == 3, f"the run continued from a checkpoint {went_on} times")
    expect("a rank has died (exit code 137); started again" in job.log(), "the run continued after a rank was killed")
    expect_reference("stopped")

    with LongRun("canceled") as job:
        job.under_way()
        slurm.run("/", "scancel", job.number)
        job.expect_end("scancel", "CANCELLED")
    for what, said in [("submitted again", "--restart"), ("and again", "already finished")]:
        with LongRun("canceled") as job:
            job.expect_end(what, "COMPLETED")
        log = job.log()
        expect(said in log, f"{what}: the log contains {said!r}")
    expect_reference("canceled")


output = ranks.work / "sequential"
# With time-limit, this run takes three minutes on a quiet machine.
reference = ranks.statistics_of(*MODEL, "--engine", "sequential", "--output", output, timeout=900)
with ranks.hosts as hosts, Slurm(hosts) as slurm:
    checkout = Checkout(ranks, slurm)
    (check_time_limit if AT_LIMIT else check_stops)()
ranks.leave()
