#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every line of docs/how-to/slurm.md in order, on a real SLURM. Submitted jobs begin, and
queries succeed. Other tests check the results of the jobs. The page uses the job number 17; the
test replaces it by the number of the job that was submitted last."""

import re
import sys
import time
from pathlib import Path

from checkout import Checkout
from checkouts import without_building
from hosts import HostRanks
from programs import CHECKOUT
from slurm import OVER, Slurm, need_slurm

sys.path.insert(0, str(CHECKOUT / "tests/documents"))
from document import Document  # noqa: E402

need_slurm()
ranks = HostRanks()
NUMBER = "17"
SECONDS_TO_BEGIN = 20


def submitted(said):
    """The job's number, if the text is the output of a submission."""
    number = re.search(r"^(?:job +|Submitted batch job )(\d+)", said, re.MULTILINE)
    return int(number[1]) if number else None


class Page:
    """Runs the lines of the page, one after the other."""

    def __init__(self, slurm):
        self._slurm = slurm
        self._checkout = Checkout(ranks, slurm)
        self._job = None

    def run(self, line):
        if "StartTime=now" in line:
            self._slurm.wait_for_job(self._job, "PENDING")
        line = re.sub(rf"\b{NUMBER}\b", str(self._job), line)
        stand_ins = (f"{name}={value}" for name, value in without_building(self._checkout.folder).items()
                     if name == "PATH" or name.startswith("NUMAWARP"))
        with self._slurm.start(self._checkout.folder, "env", *stand_ins, "bash", "-c", line) as launch:
            ended = launch.wait()
        began = self._follow(submitted(ended.stdout))
        ranks.expect(ended.exit_code == 0 and began, f"{line}: exit code {ended.exit_code}")
        if ended.exit_code != 0 or not began:
            print(ended.stdout, ended.stderr)

    def _follow(self, job):
        """Waits until a submitted job, if any, begins and its script prints something. The previous
        job is canceled to make room."""
        if job is None:
            return True
        if self._job and self._slurm.job(self._job)["JobState"] not in OVER:
            self._slurm.run("/", "scancel", self._job)
        self._job = job
        log = Path(self._slurm.wait_for_job(job, "RUNNING")["StdOut"])
        deadline = time.monotonic() + SECONDS_TO_BEGIN
        while not (log.exists() and log.read_text()) and time.monotonic() < deadline:
            time.sleep(0.1)
        return log.exists() and "results in" in log.read_text()


with ranks.hosts as hosts, Slurm(hosts) as slurm:
    page = Page(slurm)
    for command in Document(CHECKOUT / "docs/how-to/slurm.md").commands:
        page.run(command.text)
ranks.leave()
