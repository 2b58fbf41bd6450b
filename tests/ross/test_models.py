#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models written for ROSS have the same digest and the same result on every engine, for any number
of workers and ranks and any rollback method. Errors of these models end like errors of numawarp's
own models.

usage: test_models.py FOLDER-OF-PROGRAMS"""

import re
import subprocess

from programs import MPI_ENVIRONMENT
from refusals import Refusals

# Options with which workers get far ahead of each other.
TORN = ("--workers", "2", "--window", "off", "--lps-per-group", "1")


class RossModels(Refusals):
    def check(self):
        for program, configurations in (
                ("ross_bank", (("--synch=2", "--workers", "2"),
                               ("--synch=3", *TORN),
                               ("--synch=3", *TORN, "--rollback", "snapshot"),
                               ("--synch=6", "--workers", "1"))),
                ("ross_shelves", (("--synch=2", "--workers", "2"),
                                  ("--synch=3", *TORN),
                                  ("--synch=3", *TORN, "--rollback", "snapshot"),
                                  ("--synch=3", "--workers", "2", "--check-rollback", "0.2", "--memory", "libc"),
                                  ("--synch=6", "--workers", "1"))),
                ("ross_turns", (("--synch=3", *TORN),
                                ("--synch=3", *TORN, "--rollback", "snapshot"),
                                ("--synch=3", "--workers", "2", "--check-rollback", "0.2"))),
                ("ross_pinger", (("--synch=3", *TORN), ("--engine", "timewarp", "--workers", "1")))):
            wanted = self.outcome(program, "--synch=1")
            for words in configurations:
                got = self.outcome(program, *words)
                self.expect(got == wanted, f"{program} {' '.join(words)}: {got}, wanted {wanted}")
        self.expect(self.outcome("ross_turns", "--synch=1")[1].endswith(", 0 out of turn"), "events are executed in order")
        self.check_rollbacks()
        self.check_commits()
        self.check_workers()
        self.check_dealing()
        self.check_ranks()
        self.check_mpi_of_the_model()
        self.check_one_rank()
        self.check_help()
        self.check_draws_before()
        self.check_words()
        self.check_refusals()
        self.check_rules()
        self.check_rules_of_differences()
        self.check_models()

    def check_models(self):
        """--check-model reports nothing for models that keep the rules. It reports a variable that
        several workers would change in a data race."""
        for program in ("ross_bank", "ross_pinger", "ross_shelves"):
            done = self.run(program, "--end=20", "--check-model=2000")
            self.expect(done.returncode == 0 and not done.stderr and "BROKEN" not in done.stdout,
                        f"{program}: --check-model is silent: {done.stdout.splitlines()[-1:]}{done.stderr}")
        done = self.run("ross_bank", "--end=20", "--misuse=11", "--check-model=2000")
        self.expect(done.returncode == 3 and "the handler changes `misuse_handled`" in done.stdout,
                    f"the message names a counter of the program: {done.stdout}")

    def outcome(self, program, *words, launcher=(), **environment):
        """Digest and last line of a run to time 100."""
        stats = self.work / "stats.json"
        done = subprocess.run([*launcher, self.bin / program, "--end=100", "--stats", stats, *words],
                              capture_output=True, text=True, timeout=120, cwd=self.work,
                              env={**MPI_ENVIRONMENT, **environment})
        if done.returncode != 0:
            return f"exit code {done.returncode}: {done.stderr}"
        digest = re.search(r"digest +([0-9a-f]{32})", done.stdout)
        return digest and digest.group(1), done.stdout.splitlines()[-1]

    def check_rollbacks(self):
        rollbacks = 0
        for program in ("ross_bank", "ross_pinger", "ross_shelves", "ross_turns"):
            rollbacks += self.statistics_of(program, "--end=50", *TORN)["rollbacks"]
        self.expect(rollbacks > 0, f"{rollbacks} rollbacks")

    def check_commits(self):
        """Commit handlers receive the message as the event handler left it, and are called once per
        event."""
        counted = {self.outcome("ross_bank", "--count-commits", "--engine", "timewarp", "--workers", "1", *words)
                   for words in (("--synch=1",), ("--check-rollback", "0.5"),
                                 ("--check-rollback", "0.5", "--rollback", "snapshot"))}
        self.expect(len(counted) == 1 and not str(counted).endswith("commits 0')}"),
                    f"with commits counted: {counted}")

    def check_workers(self):
        """One worker is the default, because a process of ROSS has one thread; more are started on
        request."""
        for words, workers in (((), 1), (("--engine", "timewarp", "--workers", "2"), 2)):
            got = len(self.statistics_of("ross_bank", "--end=10", *words)["workers_detail"])
            self.expect(got == workers, f"{words}: {got} workers")

    def check_dealing(self):
        """Each of two workers has LPs of each type. Two thirds of the events belong to the tellers,
        the first half of the LPs."""
        workers = self.statistics_of("ross_bank", "--end=50", "--tellers=16", "--clerks=16",
                                     "--engine", "timewarp", "--workers", "2",
                                     "--rebind", "off")["workers_detail"]
        committed = [worker["committed_events"] for worker in workers]
        self.expect(min(committed) > 0.4 * sum(committed), f"events of the workers: {committed}")

    def check_ranks(self):
        launcher = ("mpirun", "--oversubscribe", "-n", "2")
        for program, *words in (("ross_bank",), ("ross_shelves",), ("ross_turns", "--placed")):
            wanted = self.outcome(program, "--synch=1")
            got = self.outcome(program, "--engine", "timewarp", "--workers", "1", *words, launcher=launcher)
            self.expect(got == wanted, f"{program}, 2 ranks: {got}, wanted {wanted}")

    def check_mpi_of_the_model(self):
        """A model may initialize MPI itself."""
        wanted = self.outcome("ross_turns", "--synch=1")
        for launcher in ((), ("mpirun", "--oversubscribe", "-n", "2")):
            got = self.outcome("ross_turns", launcher=launcher, TURNS_STARTS_MPI="1")
            self.expect(got == wanted, f"MPI_Init() by the model, {launcher}: {got}, wanted {wanted}")

    def check_one_rank(self):
        """An error on one rank is reported by that rank."""
        done = subprocess.run(["mpirun", "--oversubscribe", "-n", "2", self.bin / "ross_turns", "--misuse=3"],
                              capture_output=True, text=True, timeout=120, cwd=self.work, env=MPI_ENVIRONMENT)
        lines = re.findall("^numawarp: .*", done.stderr, re.MULTILINE)
        self.expect(done.returncode == 2 and len(lines) == 1 and "only this one" in lines[0],
                    f"one rank: {done.returncode} {done.stderr}")

    def check_help(self):
        """main() does not continue after --help."""
        done = self.run("ross_turns", "--help")
        self.expect(done.returncode == 0 and "--workshops" in done.stdout and "out of turn" not in done.stdout,
                    f"--help: {done.returncode} {done.stdout[-200:]}")

    def check_draws_before(self):
        """Random numbers that main() draws are missing in the run, on every engine."""
        wanted = self.outcome("ross_bank", "--synch=1", "--draw-before")
        self.expect(wanted != self.outcome("ross_bank", "--synch=1") and len(wanted) == 2, f"drawn before: {wanted}")
        got = self.outcome("ross_bank", "--draw-before", "--synch=3", *TORN)
        self.expect(got == wanted, f"drawn before: {got}, wanted {wanted}")

    def check_words(self):
        """Options with a value may be abbreviated. Words after "--", and words from the first one
        that is not an option, are left in argv."""
        wanted = self.outcome("ross_bank", "--synch=1", "--tellers=16")
        got = self.outcome("ross_bank", "--sync=1", "--tel=16", "--rollback", "snapshot")
        self.expect(got == wanted, f"shortened: {got}, wanted {wanted}")
        for words in (("--", "first", "second"), ("--quiet", "first", "second"), ("--workers", "1", "first", "second")):
            got = self.outcome("ross_bank", "--synch=1", "--label=none", *words)[1]
            self.expect(got.startswith("first of 2:"), f"{words}: {got}")

    def check_refusals(self):
        for fragments, *words in (
                (["--tellers=-1", "whole number"], "--tellers=-1"),
                (["--end=soon", "a number"], "--end=soon"),
                (["--synch=9", "from 1 to 6"], "--synch=9"),
                (["--label", "a string"], "--label"),
                (["--count-commits=1", "without a value"], "--count-commits=1"),
                (["--tellerz", "unknown option"], "--tellerz=3"),
                (["--rng-seed1", "all four"], "--rng-seed1=5"),
                (["--args-file=none", "cannot be read"], "--args-file=none"),
                (["--args-file=/", "cannot be read"], "--args-file=/"),
                (["--: unknown option"], "--=5"),
                (["tw_define_lps", "at least one LP"], "--tellers=0", "--clerks=0"),
                (["KPs (--nkp)", "at most"], "--nkp=4000000000"),
                (["g_tw_nRNG_per_lp", "at least 1"], "--misuse=30"),
                (["g_tw_lp_typemap(31) is 7", "has 2 types"], "--misuse=31"),
                (["tw_define_lps()", "once"], "--misuse=32")):
            self.refused(2, fragments, "ross_bank", *words)

    def check_rules(self):
        for kind, priority in ((1, "1.5"), (2, "0.12345")):
            self.refused(3, [f"tw_event_new_user_prio(): priority {priority}", "allowed: from 0 to 1"], "ross_turns",
                         f"--misuse={kind}")
        for kind, fragment in ((1, "delay"), (2, "there is no LP 32"), (3, "the model says so: 42"),
                               (4, "suspended itself with error 7"), (5, "created and not sent"),
                               (6, "tw_getlp(32)"), (7, "message larger than declared"),
                               (8, "message larger than declared"), (9, "was already sent"),
                               (10, "message larger than declared"),
                               (12, "tw_end(): allowed: outside of handlers"),
                               (13, "tw_lp_settype(): allowed: outside of handlers"),
                               (14, "tw_lp_suspend(): allowed: for the LP"),
                               (15, "first use of MPI: allowed: outside of handlers"),
                               (16, "now; allowed: the original value"),
                               (17, "g_tw_ts_end is 7 now; allowed: its value at the call of tw_run(), 10"),
                               (33, "an event for an LP whose type has no event function"),
                               (20, "on_commit(): tw_event_new()"), (21, "on_commit(): "),
                               (22, "in on_end(): tw_lp_suspend(): allowed: for the LP")):
            for engine in (("--synch=1",), ("--synch=2", "--workers", "2"), ("--synch=3", *TORN),
                           ("--synch=3", *TORN, "--rollback", "snapshot")):
                self.refused(3, [fragment], "ross_bank", f"--misuse={kind}", "--end=10", *engine, "--quiet")

    def check_rules_of_differences(self):
        for kind, fragment in ((1, "tw_snapshot_delta(): allowed: in an event handler, once after tw_snapshot()"),
                               (2, "tw_snapshot(lp, 989): allowed: at most the size of the LP's state, 988"),
                               (3, "tw_snapshot_delta(lp, 987): allowed: the size that tw_snapshot() received, 988"),
                               (4, "tw_snapshot_restore(): allowed: in a reverse handler"),
                               (5, "tw_snapshot(): allowed: for the LP whose handler is running")):
            for engine in (("--synch=1",), ("--synch=3", *TORN)):
                self.refused(3, [fragment], "ross_shelves", f"--misuse={kind}", *engine, "--quiet")
        for kind, fragment in ((6, "tw_snapshot_restore(lp, 980): allowed: the size that tw_snapshot() received, 988"),
                               (7, "allowed: for an event whose handler called tw_snapshot_delta()")):
            self.refused(3, [fragment], "ross_shelves", f"--misuse={kind}", "--synch=6", "--workers", "1", "--quiet")


if __name__ == "__main__":
    test = RossModels()
    test.check()
    test.leave()
