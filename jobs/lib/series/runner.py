# SPDX-License-Identifier: Apache-2.0
"""Makes the remaining runs of a plan, one at a time, and shows the remaining time."""

import contextlib
import datetime
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic

from lib import number_text
from lib.series.machine import ProgramFailed, last_line


class DigestConflict(Exception):
    pass


class Interrupted(Exception):
    def __init__(self, signal_number):
        super().__init__()
        self.exit_code = 128 + signal_number


def raise_on_signals():
    def interrupt(number, _frame):
        raise Interrupted(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)


class Eta:
    """Estimates the remaining time from the completed runs of the same variant, or, if there are
    none, of the same workload, or of all workloads."""

    def __init__(self, records):
        self._seconds = {}
        for row in records.good():
            self.learn((row["workload"], row["variant"]), float(row["run_seconds"]))

    def learn(self, key, seconds):
        for name in (key, key[0], None):
            self._seconds.setdefault(name, []).append(seconds)

    def text(self, keys):
        """The estimated time for runs with these keys; empty if no run is completed yet."""
        if None not in self._seconds:
            return ""
        known = (next(name for name in (key, key[0], None) if name in self._seconds)
                 for key in keys)
        left = sum(statistics.median(self._seconds[name]) for name in known)
        return f", {number_text.seconds(left)} left"


class Progress:
    """Shows one line on a terminal and updates it. Without a terminal, prints one line for each
    completed run."""

    def __init__(self):
        self._live = sys.stderr.isatty()

    def running(self, text):
        if self._live:
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    def over(self, text):
        if not self._live:
            print(text, file=sys.stderr, flush=True)

    def end(self):
        self.running("")


class Outcome:
    """The result of programs that belong together. code and message: of the first program that
    failed, else 0 and ""; stats: one entry per program, {} if it failed."""

    def __init__(self, results, seconds, load_before):
        self.stats = [stats for _, _, stats in results]
        self.seconds = seconds
        self.load_before = load_before
        self.code, self.message = next(((code, last_line(errors)) for code, errors, _ in results
                                        if code != 0), (0, ""))


class Running:
    """A program in its own session. So Ctrl-C reaches only this process, which then stops the
    program."""

    def __init__(self, command, stats_file):
        self._errors = tempfile.TemporaryFile(mode="w+")
        self._stats_file = stats_file
        self._program = subprocess.Popen([*map(str, command), "--quiet", "--stats", str(stats_file)],
                                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                         stderr=self._errors, start_new_session=True)

    def wait(self, seconds):
        """Waits up to `seconds`. Returns whether the program has ended."""
        try:
            self._program.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def stop(self):
        self._program.terminate()
        if not self.wait(30):
            self._program.kill()
            self._program.wait()

    def result(self):
        """(exit code, stderr, statistics). Requires: the program has ended."""
        code = self._program.returncode
        self._errors.seek(0)
        with self._errors:
            return (code, self._errors.read(),
                    json.loads(self._stats_file.read_text()) if code == 0 else {})


def run_programs(commands, on_tick, at_once=1, folder=None):
    """Runs the commands, `at_once` of them at a time, and returns their Outcome. `folder`: for
    their statistics (default: a temporary folder). Raises ProgramFailed if a program rejects its
    options, because the program would reject them in each run."""
    start, load = monotonic(), os.getloadavg()[0]
    waiting, running, results = list(enumerate(commands)), {}, {}
    with contextlib.nullcontext(folder) if folder else tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        try:
            while waiting or running:
                while waiting and len(running) < at_once:
                    number, command = waiting.pop(0)
                    running[number] = Running(command, Path(folder) / f"{number}.json")
                if not next(iter(running.values())).wait(0.2):
                    on_tick(monotonic() - start)
                for number in [number for number, one in running.items() if one.wait(0)]:
                    results[number] = running.pop(number).result()
        except BaseException:
            for program in running.values():
                program.stop()
            raise
    outcome = Outcome([results[number] for number in range(len(commands))], monotonic() - start, load)
    if outcome.code == 2:
        raise ProgramFailed(outcome.code, outcome.message)
    return outcome


def rounds(variants, runs, seed):
    """(run number, variant) of rounds that contain all variants. Each round has a different random
    order, so that a machine that becomes slower or hotter does not favor a variant."""
    for run in range(1, runs + 1):
        order = list(variants)
        random.Random(f"{seed}/{run}").shuffle(order)
        yield from ((run, variant) for variant in order)


def common_row(plan, variant, run, outcome, workers, until):
    """The values of COMMON_COLUMNS. Times and counts are those of the last program."""
    stats = outcome.stats[-1]
    return {"workload": variant.key[0], "variant": variant.key[1], "run": run, "until": until,
            "seed": plan.seed, "workers": workers, "exit_code": outcome.code,
            "run_seconds": f"{outcome.seconds:.3f}", "load_before": f"{outcome.load_before:.2f}",
            "ended": datetime.datetime.now().isoformat(timespec="seconds"),
            **{name: stats.get(name, "") for name in ["wall_seconds", "committed_events",
                                                      "efficiency", "rollbacks", "digest"]}}


def run_all(plan, records, run_once):
    """Makes the remaining runs of the plan and adds them to `records`. A failed run is reported and
    recorded as failed. run_once(variant, run, on_tick) returns the row for runs.csv, and a message
    if the run failed. Raises DigestConflict when two runs of a workload have different digests."""
    runs = len(list(plan.schedule()))
    missing = records.missing(plan)
    done = runs - len(missing)
    eta, progress = Eta(records), Progress()
    try:
        for index, (run, variant) in enumerate(missing):
            what = f"{' '.join(variant.key)}, run {run}"
            left = [later.key for _, later in missing[index:]]

            def tick(elapsed, what=what, left=left, number=done + index + 1):
                progress.running(f"{number}/{runs} {what}: {number_text.seconds(elapsed)}"
                                 f"{eta.text(left)}")

            tick(0)
            row, message = run_once(variant, run, tick)
            records.append(row)
            conflict = records.digest_conflict()
            if conflict:
                raise DigestConflict(conflict)
            if row["exit_code"] == 0:
                eta.learn(variant.key, float(row["run_seconds"]))
                outcome = f"{row['wall_seconds']:.3f} s"
            else:
                outcome = f"FAILED with exit code {row['exit_code']}: {message}"
            progress.over(f"{done + index + 1}/{runs} {what}: {outcome}{eta.text(left[1:])}")
    finally:
        progress.end()
