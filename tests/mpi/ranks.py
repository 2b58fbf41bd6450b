"""What the tests of several ranks share: how to launch programs of ours under mpirun here, where there
are more ranks than cores, and what the launch ended with."""

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from programs import Programs  # noqa: E402

UNAVAILABLE = 77

# The models whose digests are compared, small enough for many runs and still full of rollbacks.
MODELS = {
    "traffic": ["--objects", 1024, "--until", 400],
    "phold": ["--lps", 256, "--remote", 0.5, "--until", 60],
    "queues": ["--until", 200],
}

# Open MPI does not run as root unless it is told so twice. Tests in a container are root.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1",
               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

# With more ranks than cores a rank that waits must give its core away: a collective takes 40 ms
# instead of some microseconds where it does not.
SHARED_CORES = ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(UNAVAILABLE)


def need_mpirun():
    if shutil.which("mpirun") is None:
        skip("needs mpirun (Debian package openmpi-bin)")
    version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout
    if "Open MPI" not in version:
        skip(f"needs Open MPI's mpirun, found {version.splitlines()[:1]}")


@dataclass
class Ended:
    """A launch that is over."""

    exit_code: int
    stdout: str
    stderr: str
    seconds: float

    @property
    def ours(self):
        """What we said on standard error; the launcher adds its own words when a rank fails."""
        return [line for line in self.stderr.splitlines() if line.startswith("numawarp: ")]


class Launch:
    """Ranks that run, as a process of mpirun's. Ended with the `with` block, if not before."""

    def __init__(self, command, folder, environment=None):
        self._began = time.monotonic()
        self.process = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, cwd=folder, env=environment or ENVIRONMENT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()

    def wait(self, timeout=120):
        """Ended. Raises subprocess.TimeoutExpired."""
        stdout, stderr = self.process.communicate(timeout=timeout)
        return Ended(self.process.returncode, stdout, stderr, time.monotonic() - self._began)


class Ranks(Programs):
    """The programs of one build, under mpirun on this machine."""

    def __init__(self):
        super().__init__()
        need_mpirun()

    def part(self, ranks, program, *arguments):
        """The words with which mpirun starts so many ranks of a program."""
        return ["-np", ranks, self.bin / program, *arguments]

    def start(self, *parts):
        """A Launch of one or several parts; ranks are numbered through them."""
        words = ["mpirun", *SHARED_CORES]
        for n, part in enumerate(parts):
            words += ([":"] if n else []) + part
        return Launch(words, self.work)

    def launch(self, *parts, timeout=120):
        with self.start(*parts) as launch:
            return launch.wait(timeout)

    def statistics_over(self, ranks, program, *arguments):
        """The JSON of --stats of a run on several ranks that must end well."""
        stats = self.work / "ranks.json"
        ended = self.launch(self.part(ranks, program, *arguments, "--quiet", "--stats", stats))
        if ended.exit_code != 0:
            sys.exit(f"{ranks} ranks of {program} {arguments}: exit code {ended.exit_code}: "
                     f"{ended.stderr}")
        return json.loads(stats.read_text())
