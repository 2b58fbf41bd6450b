# SPDX-License-Identifier: Apache-2.0
"""Functions for tests with several ranks: launch programs of the build under mpirun on this
machine, with more ranks than cores, and examine how the launch ended."""

import itertools
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from processes import PATIENCE_SECONDS, is_computing  # noqa: E402
from programs import MPI_ENVIRONMENT, Programs  # noqa: E402

UNAVAILABLE = 77

# The models whose digests are compared: small enough for many runs, with many rollbacks.
MODELS = {
    "traffic": ["--objects", 1024, "--until", 800],
    "phold": ["--lps", 256, "--remote", 0.5, "--until", 100],
    "queues": ["--until", 200],
    "pcs": ["--width", 16, "--height", 16, "--move-mean", 200, "--until", 300],
}

# Open MPI detects whether there are more ranks than cores, and only then yields a core while it
# waits. It must not always yield: if another program used the core, a rank would run only for some
# microseconds of each time slice of the scheduler.
SHARED_CORES = ["--oversubscribe", "--bind-to", "none"]

# The mpirun of the MPI that the programs are built with. MPICH's mpirun needs none of these
# options.
MPIRUN = os.environ.get("NUMAWARP_MPIRUN", "mpirun")
if MPIRUN != "mpirun":
    SHARED_CORES = []


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(UNAVAILABLE)


def need_mpirun():
    if shutil.which(MPIRUN) is None:
        skip(f"needs {MPIRUN} (Debian package openmpi-bin)")
    version = subprocess.run([MPIRUN, "--version"], capture_output=True, text=True).stdout
    if MPIRUN == "mpirun" and "Open MPI" not in version:
        skip(f"needs Open MPI's mpirun, found {version.splitlines()[:1]}")


@dataclass
class Ended:
    """The result of a launch that is over."""

    exit_code: int
    stdout: str
    stderr: str
    seconds: float

    @property
    def ours(self):
        """Lines of numawarp on standard error; the launcher adds other lines when a rank fails."""
        return [line for line in self.stderr.splitlines() if line.startswith("numawarp: ")]


class Launch:
    """Ranks that run under a launcher. At the end of the `with` block, ranks that still run are
    ended."""

    _number = itertools.count()

    def __init__(self, command, folder, environment=MPI_ENVIRONMENT):
        # All processes of the launch inherit this variable, on any simulated host of this machine.
        self._mark = f"NUMAWARP_TEST_LAUNCH={os.getpid()}-{next(self._number)}"
        name, _, value = self._mark.partition("=")
        # These are files and not pipes, because files can be read during the run, and no orphan
        # keeps them open.
        self._files = [folder / f"{value}.{stream}" for stream in ("stdout", "stderr")]
        self._began = time.monotonic()
        with open(self._files[0], "w") as stdout, open(self._files[1], "w") as stderr:
            self.process = subprocess.Popen(
                list(map(str, command)), stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
                cwd=folder, env={**environment, name: value})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
            for pid in self.pids().values():
                os.kill(pid, signal.SIGKILL)

    def stdout(self):
        return self._files[0].read_text()

    def stderr(self):
        return self._files[1].read_text()

    def pids(self):
        """{rank: process} of the ranks that exist now."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue  # the process has ended, or belongs to another user
            # The variables of mpirun, of srun and of MPICH's mpirun.
            rank = [word for word in words if word.startswith(("OMPI_COMM_WORLD_RANK=", "PMIX_RANK=",
                                                               "PMI_RANK="))]
            if self._mark in words and rank:
                found[int(rank[0].partition("=")[2])] = int(folder.name)
        return found

    def wait_for(self, holds, timeout=PATIENCE_SECONDS):
        """Waits until `holds()` returns true or the launch is over."""
        deadline = time.monotonic() + timeout
        while not holds() and self.process.poll() is None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"the condition is not fulfilled after {timeout} s; output: {self.stderr()}")
            time.sleep(0.02)

    def wait_until_under_way(self, ranks):
        """Waits until the workers of this number of ranks have been computing for a while."""
        def busy():
            pids = self.pids()
            return len(pids) == ranks and all(is_computing(pid) for pid in pids.values())

        self.wait_for(busy)

    def elapsed(self):
        return time.monotonic() - self._began

    def wait(self, timeout=PATIENCE_SECONDS):
        """Waits for the end and returns an Ended. Raises subprocess.TimeoutExpired."""
        exit_code = self.process.wait(timeout)
        return Ended(exit_code, *(file.read_text() for file in self._files),
                     time.monotonic() - self._began)


_numbers = itertools.count()


def joined(parts, folder):
    """The words of a launch of several parts. All ranks start one script, which selects the part by
    the rank's number. mpirun's own syntax, parts with colons between them, is not used, because it
    makes Debian 13's Open MPI crash."""
    if len(parts) == 1:
        return parts[0]
    cases, first = [], 0
    for option, count, *command in parts:
        assert option == "-np"
        numbers = "|".join(map(str, range(first, first + count)))
        cases.append(f"{numbers}) exec {shlex.join(map(str, command))};;")
        first += count
    script = folder / f"parts-{next(_numbers)}"
    script.write_text("\n".join(["#!/bin/sh", "case $OMPI_COMM_WORLD_RANK in", *cases, "esac\n"]))
    script.chmod(0o755)
    return ["-np", first, script]


class Ranks(Programs):
    """The programs of one build, under mpirun on this machine."""

    def __init__(self):
        super().__init__()
        need_mpirun()

    def part(self, ranks, program, *arguments):
        """The words with which mpirun starts `ranks` ranks of a program."""
        return ["-np", ranks, self.bin / program, *arguments]

    def start(self, *parts):
        """A Launch of one or several parts; ranks are numbered consecutively through the parts."""
        return Launch([MPIRUN, *SHARED_CORES, *joined(parts, self.work)], self.work)

    def launch(self, *parts, timeout=PATIENCE_SECONDS):
        with self.start(*parts) as launch:
            return launch.wait(timeout)

    def statistics_over(self, ranks, program, *arguments):
        """The JSON of --stats of a run on several ranks. The run must succeed."""
        stats = self.work / "ranks.json"
        ended = self.launch(self.part(ranks, program, *arguments, "--quiet", "--stats", stats))
        if ended.exit_code != 0:
            sys.exit(f"{ranks} ranks of {program} {arguments}: exit code {ended.exit_code}: "
                     f"{ended.stderr}")
        return json.loads(stats.read_text())

    def expect_sequential_digest(self, name, stats, program, *model):
        """Checks that a sequential run up to the same end has the digest of the run that wrote
        `stats`, wherever that run stopped. Returns the run's statistics."""
        if not stats.exists():
            self.expect(False, f"{name}: the run wrote no statistics")
            self.leave()
        run = json.loads(stats.read_text())
        reference = self.statistics_of(program, *model, "--engine", "sequential",
                                       "--until", run["gvt"])
        self.expect((run["digest"], run["committed_events"])
                    == (reference["digest"], reference["committed_events"]),
                    f"{name}: digest {run['digest']} of {run['committed_events']} events up to "
                    f"{run['gvt']}")
        return run
