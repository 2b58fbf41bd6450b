"""Runs what a plan still lacks, one run at a time, and says how long it will take."""

import datetime
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic

from lib import number_text

from machine import ProgramFailed


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
    """How long runs take, from those that are over: of the same variant if there are any, else of
    the same workload, else of all."""

    def __init__(self, records):
        self._seconds = {}
        for row in records.good():
            self.learn((row["workload"], row["variant"]), float(row["run_seconds"]))

    def learn(self, key, seconds):
        for name in (key, key[0], None):
            self._seconds.setdefault(name, []).append(seconds)

    def text(self, keys):
        """For runs of these variants; empty as long as nothing is known."""
        if None not in self._seconds:
            return ""
        known = (next(name for name in (key, key[0], None) if name in self._seconds)
                 for key in keys)
        left = sum(statistics.median(self._seconds[name]) for name in known)
        return f", {number_text.seconds(left)} left"


class Progress:
    """One live line on a terminal; elsewhere one line for each run that is over."""

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


def wait_for(command, on_tick):
    """(exit code, last line of standard error, seconds). The program has a session of its own, so
    that a Ctrl-C meets only us, and we stop it."""
    start = monotonic()
    with tempfile.TemporaryFile(mode="w+") as errors:
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=errors, start_new_session=True) as program:
            try:
                while True:
                    try:
                        code = program.wait(timeout=1)
                        break
                    except subprocess.TimeoutExpired:
                        on_tick(monotonic() - start)
            except BaseException:
                program.terminate()
                try:
                    program.wait(timeout=30)
                except subprocess.TimeoutExpired:
                    program.kill()
                raise
        errors.seek(0)
        lines = errors.read().splitlines()
    return code, lines[-1] if lines else "no message", monotonic() - start


def row_of(plan, variant, run, load, code, seconds, stats):
    numa = stats.get("numa", {})
    parallel = bool(variant.memory)
    return {"workload": variant.workload.name, "variant": variant.name, "run": run,
            "objects": variant.workload.objects,
            "inter_arrival_s": variant.workload.inter_arrival, "until": variant.workload.until,
            "seed": plan.seed, "workers": plan.workers if parallel else 1,
            "daemons": variant.daemons, "period_s": variant.period, "rebind_s": variant.rebind,
            "exit_code": code, "run_seconds": f"{seconds:.3f}", "load_before": f"{load:.2f}",
            "ended": datetime.datetime.now().isoformat(timespec="seconds"),
            **{name: stats.get(name, "") for name in ["wall_seconds", "committed_events",
                                                      "efficiency", "rollbacks", "digest"]},
            **{name: numa.get(name, "") for name in ["groups_moved", "pages_moved",
                                                     "remote_page_share"]}}


def run_once(traffic, plan, variant, run, on_tick):
    """(the row for runs.csv, the message if the run failed). Raises ProgramFailed if traffic
    refuses its options, as it would every time."""
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        stats_file = Path(folder) / "stats.json"
        arguments = [*map(str, variant.arguments(plan.workers, plan.seed)), "--quiet", "--stats",
                     str(stats_file)]
        load = os.getloadavg()[0]
        code, message, seconds = wait_for([traffic, *arguments], on_tick)
        if code == 2:
            raise ProgramFailed(code, message)
        stats = json.loads(stats_file.read_text()) if code == 0 else {}
    return row_of(plan, variant, run, load, code, seconds, stats), message


def run_all(traffic, plan, records):
    """Ensures: every run of the plan is in `records`, but for failed ones, which are told and left.
    Raises DigestConflict as soon as two runs of a workload differ."""
    schedule = list(plan.schedule())
    missing = [(run, variant) for run, variant in schedule if not records.has(variant, run)]
    done = len(schedule) - len(missing)
    eta, progress = Eta(records), Progress()
    try:
        for index, (run, variant) in enumerate(missing):
            what = f"{' '.join(variant.key)}, run {run}"
            left = [later.key for _, later in missing[index:]]

            def tick(elapsed, what=what, left=left, number=done + index + 1):
                progress.running(f"{number}/{len(schedule)} {what}: {number_text.seconds(elapsed)}"
                                 f"{eta.text(left)}")

            tick(0)
            row, message = run_once(traffic, plan, variant, run, tick)
            records.append(row)
            conflict = records.digest_conflict()
            if conflict:
                raise DigestConflict(conflict)
            if row["exit_code"] == 0:
                eta.learn(variant.key, float(row["run_seconds"]))
                outcome = f"{row['wall_seconds']:.3f} s"
            else:
                outcome = f"FAILED with exit code {row['exit_code']}: {message}"
            progress.over(f"{done + index + 1}/{len(schedule)} {what}: {outcome}"
                          f"{eta.text(left[1:])}")
    finally:
        progress.end()
