#!/usr/bin/env python3
"""Every line of docs/how-to/slurm.md, on a real SLURM, in its order: what is submitted there begins, and
what is asked of SLURM is answered. (What comes of the jobs is the business of the other tests.) The
number of a job, 17 there, is that of the one submitted last."""

import re
import subprocess
import sys

from checkout import ROOT, Checkout
from hosts import HostRanks
from slurm import OVER, Slurm, need_slurm

sys.path.insert(0, str(ROOT / "tests/documents"))
from document import Document  # noqa: E402

need_slurm()
ranks = HostRanks()
NUMBER = "17"


def submitted(said):
    """The job's number, if this is what a submission says."""
    number = re.search(r"^(?:job +|Submitted batch job )(\d+)", said, re.MULTILINE)
    return number and int(number[1])


with ranks.hosts as hosts, Slurm(hosts) as slurm:
    checkout = Checkout(ranks, slurm)
    environment = checkout.where_nothing_is_built()
    job = None
    for command in Document(ROOT / "docs/how-to/slurm.md").commands:
        if "StartTime=now" in command.text:
            slurm.wait_for_job(job, "PENDING")
        line = re.sub(rf"\b{NUMBER}\b", str(job), command.text)
        said = subprocess.run(
            slurm.on(checkout.folder, "env", *environment, "bash", "-c", line),
            env=slurm.environment(), capture_output=True, text=True, timeout=60)
        number = submitted(said.stdout)
        began = not number or slurm.wait_for_job(number, "RUNNING")["JobState"] in (
            "RUNNING", "COMPLETED")
        ranks.expect(said.returncode == 0 and began, f"{line}: exit code {said.returncode}")
        if said.returncode != 0 or not began:
            print(said.stdout, said.stderr)
        if number and number != job:
            # Only the last one is spoken of, and they would wait for each other.
            if job and slurm.job(job)["JobState"] not in OVER:
                slurm.run("/", "scancel", job)
            job = number
    ranks.expect(job, "some job was submitted")
ranks.leave()
