# SPDX-License-Identifier: Apache-2.0
"""Functions for the system tests: run a program of the build, compare results, and count
failures."""

import csv
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from processes import PATIENCE_SECONDS

CHECKOUT = Path(__file__).resolve().parents[2]
# Open MPI runs as root only if both variables are set. In a container the tests run as root.
MPI_ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Programs:
    """The programs of one build, and a folder for their output that is deleted after the test."""

    def __init__(self):
        if len(sys.argv) < 2:
            sys.exit(f"usage: {sys.argv[0]} FOLDER-OF-PROGRAMS")
        self.bin = Path(sys.argv[1]).resolve()
        self._work = tempfile.TemporaryDirectory(prefix="numawarp-test-")
        self.work = Path(self._work.name)
        self.failures = 0

    def run(self, program, *arguments, timeout=PATIENCE_SECONDS):
        """Runs the program and returns the finished process, with stdout and stderr as text."""
        return subprocess.run([self.bin / program, *map(str, arguments)], capture_output=True,
                              text=True, timeout=timeout, cwd=self.work)

    def statistics_of(self, program, *arguments, timeout=PATIENCE_SECONDS):
        """The JSON of --stats of a run that must succeed."""
        stats = self.work / "stats.json"
        done = self.run(program, *arguments, "--quiet", "--stats", stats, timeout=timeout)
        if done.returncode != 0:
            sys.exit(f"{program} {arguments}: exit code {done.returncode}: {done.stderr}")
        return json.loads(stats.read_text())

    def table_of(self, name, program, *arguments):
        """The rows of an output table of a run that must succeed."""
        folder = self.work / "output"
        self.statistics_of(program, *arguments, "--output", folder)
        return rows_of(folder / f"{name}.csv")

    def stand_in(self, name, program, code):
        """Returns a folder with a program that runs the real program and then executes `code`. The code may change
        `stats`, the statistics of the run. `words` is the command line."""
        folder = self.work / name
        folder.mkdir()
        (folder / program).write_text(
            f"#!{sys.executable}\n"
            "import json, subprocess, sys\n"
            "words = sys.argv[1:]\n"
            f"done = subprocess.run(['{self.bin / program}', *words])\n"
            "file = words[words.index('--stats') + 1]\n"
            "stats = json.load(open(file)) if done.returncode == 0 else {}\n"
            f"{code}\n"
            "json.dump(stats, open(file, 'w'))\n"
            "sys.exit(done.returncode)\n")
        (folder / program).chmod(0o755)
        return folder

    def expect(self, holds, text):
        print(("ok      " if holds else "FAILED  ") + text)
        self.failures += not holds

    def leave(self):
        sys.exit(1 if self.failures else 0)


def rows_of(table):
    """The rows of a CSV file, each as a dictionary."""
    with open(table, newline="") as file:
        return list(csv.DictReader(file))


def effort():
    """The share of the cases that a test should execute, as in effort.hpp."""
    return float(os.environ.get("NUMAWARP_EFFORT", 1))


def first_seed():
    """The first seed of a test: the fixed seed of CI from the environment, or a new random seed."""
    return int(os.environ.get("NUMAWARP_FIRST_SEED") or random.SystemRandom().randrange(1 << 32))


def python_with(module, package=None):
    """Returns a python3 that has the module. If there is no such python3, skips the test. (Debian's python3 may not be
    the first in PATH.) `package`: the package that contains the module, if its name differs."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0:
            return python
    print(f"skipped: no python3 here has {module} (Debian: {package or 'python3-' + module})")
    sys.exit(77)


def confidence(values):
    """Mean and half-width of its 99.9 % confidence interval, from independent runs."""
    # Student's t at 0.9995, by degrees of freedom.
    t = {4: 8.610, 5: 6.869, 6: 5.959, 7: 5.408, 8: 5.041, 9: 4.781}[len(values) - 1]
    return statistics.mean(values), t * statistics.stdev(values) / math.sqrt(len(values))
