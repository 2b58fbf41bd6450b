"""What the tests of jobs/slurm/long-run.sbatch share: such a job, and what it must come to.

A job that goes back into the queue waits there for two minutes, by which SLURM makes sure that it is
gone from everywhere; here it is told to start in some seconds. (In the same second it would fail: hosts
refuse a job that they have just been told to end.)"""

from hosts import SHARED_CORES

RANKS = 3


class LongRun:
    """A job of long-run.sbatch on all hosts, over when the `with` block is. Its name is the run's.

    expect: as Programs has it.
    model: the command line of the model.
    options: of sbatch.
    """

    def __init__(self, slurm, checkout, expect, name, model, *options):
        self._slurm = slurm
        self._checkout = checkout
        self._expect = expect
        self._name = name
        self._launch = slurm.start(checkout.folder, "sbatch", "--wait", f"--nodes={RANKS}",
                                   f"--job-name={name}", *options, "jobs/slurm/long-run.sbatch",
                                   *model, *SHARED_CORES)

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
        return self._checkout.log(f"{self._name}-{self.number}")

    def under_way(self):
        self._launch.wait_until_under_way(RANKS)

    def wait_until_requeued(self):
        """The job as SLURM shows it when it is back in the queue, or over."""
        return self._slurm.wait_for_job(self.number, "PENDING", timeout=300)

    def start_again(self):
        self._slurm.run("/", "scontrol", "update", f"JobId={self.number}", "StartTime=now+3")

    def expect_requeued(self, what, times):
        """Then starts it again."""
        job = self.wait_until_requeued()
        self._expect((job["JobState"], job["Restarts"]) == ("PENDING", str(times)),
                     f"{what}: {job['JobState']}, {job['Restarts']} times before")
        self.start_again()

    def expect_end(self, what, state):
        job = self._slurm.wait_for_job(self.number, timeout=300)
        self._expect(job["JobState"] == state, f"{what}: {job['JobState']} {job['ExitCode']}")


class Reference:
    """The model in one piece: what a run that was stopped on the way must come to.

    ranks: a HostRanks.
    """

    def __init__(self, ranks, model):
        self._ranks = ranks
        self._output = ranks.work / "sequential"
        self._statistics = ranks.statistics_of(*model, "--engine", "sequential", "--output",
                                               self._output)

    def expect(self, checkout, name):
        run = checkout.statistics(name)
        self._ranks.expect((run.get("digest"), run.get("committed_events"))
                           == (self._statistics["digest"], self._statistics["committed_events"]),
                           f"{name}: digest {run.get('digest')} of {run.get('committed_events')} events")
        rows = checkout.folder / "results" / name / "roads.csv"
        self._ranks.expect(rows.exists()
                           and rows.read_text() == (self._output / "roads.csv").read_text(),
                           f"{name}: the same roads.csv")
