# SPDX-License-Identifier: Apache-2.0
"""Functions for the guest tests: calls of run.py, and batches of numawarp's programs in one
guest."""

import json
import shlex
import subprocess
import sys
from dataclasses import dataclass

from programs import CHECKOUT

RUN = CHECKOUT / "tests/guest/run.py"
UNAVAILABLE = 77


def run(topology, *arguments, options=(), folder=None):
    """The finished run.py, with stdout and stderr as text. Skips the test if no guest can run on
    this machine."""
    done = subprocess.run([sys.executable, RUN, topology, *map(str, options), "--",
                           *map(str, arguments)], capture_output=True, text=True, cwd=folder)
    if done.returncode == UNAVAILABLE:
        print(done.stderr, end="")
        sys.exit(UNAVAILABLE)
    return done


@dataclass
class Result:
    """The result of one program of a batch."""

    exit_code: int | None  # None: the guest did not execute the program
    stderr: str
    stats: dict  # the JSON of --stats; empty if the program wrote none

    @property
    def notices(self):
        return self.stats.get("notices", [])

    @property
    def numa(self):
        return self.stats.get("numa", {})


class Batch:
    """Programs that run one after the other in one guest, because a boot takes longer than most
    programs."""

    def __init__(self, programs, topology, name="all"):
        self._programs = programs
        self._topology = topology
        self.folder = programs.work / f"{topology}-{name}"
        self.folder.mkdir()
        self._names = []
        self._lines = []

    def shell(self, line):
        """Adds a shell command that affects the programs after it, for example a kernel setting."""
        self._lines.append(line)

    def add(self, name, program, *arguments, before="true", through=(), seconds=None):
        """Adds a program of numawarp with `--quiet --stats`.

        before: executed first, in the shell that then becomes the program, as `ulimit -v 1000000`.
        through: a command that runs the program, as `taskset -c 0`.
        seconds: interrupts the program after this time, like Ctrl-C; its exit code is then 130.
        """
        stats = self.folder / f"{name}.json"
        command = [*map(str, through), str(self._programs.bin / program), *map(str, arguments),
                   "--quiet", "--stats", str(stats)]
        if seconds is not None:
            command[:0] = ["timeout", "--preserve-status", "--signal=INT", str(seconds)]
        else:
            command[:0] = ["timeout", "--signal=KILL", "300"]
        self._names.append(name)
        self._lines.append(f"({before}; exec {shlex.join(command)}) 2>{name}.err; "
                           f"echo $? >{name}.code")

    def run(self, *options):
        """Runs all programs and returns {name: Result}; `options` are options of run.py."""
        (self.folder / "batch.sh").write_text("\n".join(self._lines) + "\n")
        done = run(self._topology, "sh", "batch.sh", folder=self.folder,
                   options=["--rw", self.folder, "--ro", self._programs.bin, "--ro", CHECKOUT,
                            *options])
        if done.returncode in (124, 125) or done.stderr:
            print(f"{self._topology}: exit code {done.returncode}: {done.stderr}")
        return {name: self._result(name) for name in self._names}

    def _result(self, name):
        def text(suffix):
            path = self.folder / f"{name}.{suffix}"
            return path.read_text() if path.exists() else ""

        return Result(int(text("code")) if text("code").strip() else None, text("err"),
                      json.loads(text("json") or "{}"))


def interrupted(seconds, command="-", until="-"):
    """The command before a program that interrupts the program (run_until.py explains the
    arguments)."""
    return [sys.executable, CHECKOUT / "tests/guest/run_until.py", seconds, command, until]


def shares_of(result):
    """The share of each node in the pages of the state."""
    by_node = ((result.numa.get("placement") or {}).get("state") or {}).get("bytes_by_node", [])
    return [of_node / max(1, sum(by_node)) for of_node in by_node]


def expect_ended(programs, what, result, exit_code=0):
    programs.expect(result.exit_code == exit_code,
                    f"{what}: exit code {result.exit_code}{' ' if result.stderr else ''}"
                    f"{result.stderr.strip()}")
