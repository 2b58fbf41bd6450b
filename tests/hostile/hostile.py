#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the outcome of everything that a handler may do wrong. Misbehavior out of order is undone,
and the run ends with the sequential digest. After misbehavior in order, the run ends with the same
single line on every engine. No run hangs, and no run uses more memory than its cap. The kinds of
misbehavior are those of the program `hostile` (hostile.cpp).

usage: hostile.py FOLDER-OF-PROGRAMS [--only PATTERN] [--ranks SHARE] [--every-engine] [--seed N]
                  [--not-yet]

  --only PATTERN    kinds whose name matches, for example "loop-*"
  --ranks SHARE     share of the kinds that also run on two ranks, drawn with the seed
                    (default: 0.1 times NUMAWARP_EFFORT; 1: all)
  --every-engine    run each kind with each rollback method on each number of workers, instead of
                    drawing one of these combinations
  --seed N          seed of these draws; default: NUMAWARP_FIRST_SEED, or else a new seed each day
  --not-yet         run only the kinds of not_yet.py, and print the kinds that have the required outcome now
"""

import argparse
import fnmatch
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from not_yet import NOT_YET

SECONDS_MAX = 60
CAP_MIB = 256
# numawarp guarantees at most 5 % more than the cap. Another 1 % is for single pages that are
# outside of the cap when the memory is measured.
RESIDENT_MAX_KIB = CAP_MIB * 1024 * 1.06
ATTEMPTS = 12
LAUNCHER_CRASHES_MAX = 2
SLOWEST_SHOWN = 10

# Groups have one LP, and the window lets workers run ahead by ten numbers. So events out of order
# are likely, but the damage that one worker causes does not occupy the other workers for seconds.
COMMON = ["--quiet", "--pin", "off", "--memory-cap", f"{CAP_MIB}M", "--lps-per-group", "1",
          "--rebind", "off"]
ENGINES = {
    "sequential": ["--engine", "sequential"],
    "conservative": ["--engine", "conservative", "--workers", "2"],
    "2 workers": ["--workers", "2", "--window", "10"],
    "4 workers": ["--workers", "4", "--window", "10"],
    "2 ranks": ["--workers", "1", "--window", "10"],
}
MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", "2"]
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@dataclass
class Kind:
    name: str
    hook: str
    traits: set
    says: str  # "-": the misbehavior does not end the run
    sentence: str

    @property
    def must_fail(self):
        return self.says != "-" and "leaves_behind" not in self.traits

    def seconds_max(self, when):
        """The time after which the handler of an irrevocable event is ended. The time is short if
        the handler never returns, but long enough for the other handlers on a busy machine."""
        return 0.5 if when == "in-order" and "dear" in self.traits and not self.says else 5

    def whens(self):
        if self.hook in ("on_event", "can_end"):
            yield "out-of-order"
        if "only_out_of_order" not in self.traits:
            yield "in-order"

    def engines(self, when, on_ranks, drawn):
        """Yields (engine, rollback). If `drawn` is a number, it selects one combination out of
        those that execute events out of order."""
        yield "sequential", None
        # On the conservative engine, no event comes out of order.
        if when == "in-order" and self.hook != "can_end":
            yield "conservative", None
        rollbacks = ["snapshot"] if "keeps_heap" in self.traits else ["snapshot", "copy"]
        own = sum(map(ord, self.name))
        optimistic = [(engine, rollback) for engine in ["2 workers", "4 workers"] for rollback in rollbacks]
        yield from optimistic if drawn is None else [optimistic[(drawn + own) % len(optimistic)]]
        # Runs on two ranks take much longer: one rollback method only.
        if on_ranks and "one_process" not in self.traits:
            yield "2 ranks", rollbacks[own % len(rollbacks)]


@dataclass
class Ended:
    exit_code: int  # None: the run hung
    stdout: str
    stderr: str
    seconds: float
    resident_kib: int
    stats: dict
    command: list

    @property
    def ours(self):
        """The lines that numawarp printed on standard error, without the number of the rank, which
        the lines of several ranks contain."""
        return [re.sub(r"^numawarp: rank \d+: ", "numawarp: ", line)
                for line in self.stderr.split("\n") if line.startswith("numawarp: ")]

    @property
    def done(self):
        """The number of times that the misbehavior happened on the first rank."""
        found = re.search(r"^done (\d+) times$", self.stdout, re.MULTILINE)
        return int(found[1]) if found else 0


@dataclass
class Verdict:
    kind: Kind
    when: str
    wrong: list = field(default_factory=list)  # (what, Ended)
    runs: int = 0
    done: int = 0
    failed: int = 0  # speculations that failed or were interrupted
    seconds: float = 0


class Runner:
    """Runs the program, each time in a new folder. A run takes at most SECONDS_MAX, on several
    ranks twice as long."""

    def __init__(self, program, work):
        self.program = program
        self.work = work
        self.lock = threading.Lock()
        self.number = 0
        self.launcher_crashes = 0

    def run(self, kind, when, engine, rollback):
        with self.lock:
            self.number += 1
            folder = self.work / str(self.number)
        folder.mkdir()
        command = [*(MPIRUN if engine == "2 ranks" else []), self.program, "--do", kind.name,
                   "--when", when, *COMMON, "--handler-timeout", kind.seconds_max(when), *ENGINES[engine],
                   "--stats", "stats.json"]
        if rollback:
            command += ["--rollback", rollback]
        # The outcome must be the same whether rows are written or not.
        if "writes_rows" in kind.traits and engine != "conservative":
            command += ["--output", "rows"]
        ended = self.wait(list(map(str, command)), folder)
        # Open MPI 4.1's launcher sometimes crashes while it prints that a rank has called
        # MPI_Abort().
        if engine == "2 ranks" and ended.exit_code == -signal.SIGSEGV and "ORTE_ERROR_LOG" in ended.stderr:
            with self.lock:
                self.launcher_crashes += 1
            ended = self.wait(list(map(str, command)), folder)
        shutil.rmtree(folder, ignore_errors=True)
        return ended

    def wait(self, command, folder):
        began = time.monotonic()
        with open(folder / "stdout", "wb") as stdout, open(folder / "stderr", "wb") as stderr:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout,
                                       stderr=stderr, cwd=folder, env=ENVIRONMENT,
                                       start_new_session=True)
        hung = threading.Event()

        def end_it():
            hung.set()
            os.killpg(process.pid, signal.SIGKILL)

        # The launcher of several ranks itself takes some seconds if other programs use the cores.
        timer = threading.Timer(SECONDS_MAX * (2 if command[0] == "mpirun" else 1), end_it)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        try:
            os.killpg(process.pid, signal.SIGKILL)  # processes that the program left behind
        except ProcessLookupError:
            pass
        stats = {}
        try:
            stats = json.loads((folder / "stats.json").read_text())
        except (OSError, ValueError):
            pass
        return Ended(None if hung.is_set() else process.returncode,
                     (folder / "stdout").read_text(errors="replace"),
                     (folder / "stderr").read_text(errors="replace"),
                     time.monotonic() - began, usage.ru_maxrss, stats, command)


def judge_any(ended):
    """Yields faults that no run may have."""
    if ended.exit_code is None:
        yield f"hung for {ended.seconds:.0f} s"
    elif ended.resident_kib > RESIDENT_MAX_KIB:
        yield f"took {ended.resident_kib // 1024} MiB where {CAP_MIB} were allowed"


def judge_failure(kind, ended):
    """Yields the faults of a run that must end with one line. The line must name the right event
    and contain the right text."""
    codes = (2, 3) if kind.hook in ("setup", "constructor", "finished") else (3,)
    if ended.exit_code not in codes:
        yield f"exit code {ended.exit_code}, not 3"
    if len(ended.ours) != 1:
        yield f"{len(ended.ours)} lines of numawarp"
        return
    # If an exception leaves a destructor, the library prints a line, too.
    if "talks" not in kind.traits and kind.hook != "destructor" and "mpirun" not in ended.command[0] \
            and ended.stderr != ended.stderr.split("\n")[0] + "\n":
        yield "more than one line on standard error"
    place = "LP 7 at time 50.5, event of type 1 from LP 1: " if kind.hook in (
        "on_event", "can_end", "on_commit") else ""
    if not ended.ours[0].startswith("numawarp: " + place):
        yield "the line names another event"
    if kind.says not in ended.ours[0]:
        yield f"the line does not contain {kind.says!r}"


def judge_success(ended, reference):
    if ended.exit_code != 0:
        yield f"exit code {ended.exit_code}, not 0"
    elif ended.stats.get("digest") is None:
        yield "no statistics"
    elif reference and ended.stats["digest"] != reference.stats.get("digest"):
        yield "the digest differs from the sequential run"


def judge_hurt(ended):
    if ended.exit_code != 0 and (ended.exit_code != 3 or len(ended.ours) != 1):
        yield (f"exit code {ended.exit_code} and {len(ended.ours)} lines of numawarp; "
               "expected: exit code 0, or exit code 3 and one line")


def judge_left_behind(kind, ended):
    if ended.exit_code != 0:
        yield from judge_failure(kind, ended)
    elif not any("held memory that handlers had allocated" in notice
                 for notice in ended.stats.get("notices", [])):
        yield "no notice about memory that was left behind"


def judge(kind, when, runner, on_ranks, drawn):
    verdict = Verdict(kind, when)
    leaves = when == "in-order" and "leaves_behind" in kind.traits
    fails = not leaves and when == "in-order" and kind.says != "-"
    reference = None
    for engine, rollback in kind.engines(when, on_ranks, drawn):
        done = failed = 0
        for attempt in range(ATTEMPTS):
            ended = runner.run(kind, when, engine, rollback)
            verdict.runs += 1
            verdict.seconds += ended.seconds
            wrong = list(judge_any(ended))
            if not wrong and leaves:
                wrong += judge_left_behind(kind, ended)
            elif not wrong and fails:
                wrong += judge_failure(kind, ended)
                if reference and ended.ours != reference.ours:
                    wrong.append(f"the line differs from the line of the sequential run: {reference.ours}")
            elif not wrong and when == "out-of-order" and (
                    "hurts_others" in kind.traits
                    or "leaves_behind" in kind.traits and ended.exit_code != 0):
                wrong += judge_hurt(ended)
                if ended.exit_code != 0:
                    break
            elif not wrong:
                wrong += judge_success(ended, reference)
            verdict.wrong += [(f"{engine}, {rollback}: {what}", ended) for what in wrong]
            if wrong or fails or leaves:
                break
            done += ended.done
            failed += (ended.stats["failed_speculations"]
                       + ended.stats.get("interrupted_handlers", 0))
            expected = when == "in-order" or rollback is not None
            if engine == "sequential" and when == "out-of-order" and done:
                verdict.wrong.append((f"{engine}: misbehaved in order", ended))
            # How far workers run ahead depends on the machine. So the run is repeated until the
            # misbehavior has happened.
            if not expected or (done or engine == "2 ranks") and (
                    failed or when == "in-order" or not kind.must_fail):
                break
        else:
            verdict.wrong.append((f"{engine}, {rollback}: happened {done} times, and {failed} "
                                  f"speculations failed or were interrupted, in {ATTEMPTS} runs", ended))
        verdict.done += done
        verdict.failed += failed
        if verdict.wrong:
            break
        if engine == "sequential":
            reference = ended
    return verdict


def said(verdict):
    for what, ended in verdict.wrong:
        yield f"FAILED  {verdict.kind.name} {verdict.when}: {what}"
        yield f"          {' '.join(ended.command)}"
        for line in ended.stderr.splitlines()[:4]:
            yield f"          {line[:300]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=Path)
    parser.add_argument("--only", default="*")
    parser.add_argument("--ranks", type=float, default=0.1 * float(os.environ.get("NUMAWARP_EFFORT", 1)))
    parser.add_argument("--every-engine", action="store_true")
    parser.add_argument("--seed", type=int,
                        default=int(os.environ.get("NUMAWARP_FIRST_SEED", time.time() // 86400)))
    parser.add_argument("--not-yet", action="store_true")
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    program = arguments.programs.resolve() / "hostile"
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout
    kinds = [Kind(name, hook, set(traits.split()), says, sentence) for name, hook, traits, says,
             sentence in (line.split("\t") for line in listed.splitlines())]
    names = [kind.name for kind in kinds]
    assert len(set(names)) == len(names), "two kinds have the same name"
    known = {*names, *(f"{kind.name} {when}" for kind in kinds for when in kind.whens())}
    assert NOT_YET <= known, f"not_yet.py: {NOT_YET - known}"

    drawn = random.Random(arguments.seed)
    engine = None if arguments.every_engine else drawn.randrange(4)
    has_ranks = shutil.which("mpirun") is not None
    on_ranks = {kind.name for kind in kinds if has_ranks and drawn.random() < arguments.ranks}
    cases = []
    for kind in kinds:
        for when in kind.whens() if fnmatch.fnmatch(kind.name, arguments.only) else ():
            waits = kind.name in NOT_YET or f"{kind.name} {when}" in NOT_YET
            if waits == arguments.not_yet:
                cases.append((kind, when))
    print(f"{len(kinds)} kinds, {len(cases)} cases; on two ranks by seed {arguments.seed}: "
          f"{', '.join(sorted(on_ranks)) if 0 < arguments.ranks < 1 else len(on_ranks)}", flush=True)

    began = time.monotonic()
    verdicts = []
    with tempfile.TemporaryDirectory(prefix="numawarp-hostile-") as work:
        runner = Runner(program, Path(work))
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for verdict in pool.map(lambda case: judge(*case, runner, case[0].name in on_ranks, engine),
                                    cases):
                verdicts.append(verdict)
                for line in said(verdict):
                    print(line)
                if arguments.not_yet and not verdict.wrong:
                    print(f"now well: {verdict.kind.name} {verdict.when}")
                sys.stdout.flush()
    slowest = sorted(verdicts, key=lambda v: -v.seconds)[:SLOWEST_SHOWN]
    print("slowest:", ", ".join(f"{v.kind.name} {v.when} {v.seconds:.1f} s in {v.runs} runs"
                                for v in slowest))
    wrong = [f"{v.kind.name} {v.when}" for v in verdicts if v.wrong]
    print(f"{sum(v.runs for v in verdicts)} runs in {time.monotonic() - began:.0f} s, misbehaved "
          f"{sum(v.done for v in verdicts)} times, {sum(v.failed for v in verdicts)} "
          f"failed or interrupted speculations; wrong: {len(wrong)} of {len(cases)} cases; "
          f"{len(NOT_YET)} entries in not_yet.py; the launcher crashed {runner.launcher_crashes} times")
    too_often = runner.launcher_crashes > LAUNCHER_CRASHES_MAX
    sys.exit(1 if too_often or (wrong and not arguments.not_yet) else 0)


if __name__ == "__main__":
    main()
