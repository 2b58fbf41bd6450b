#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs inside the guest: starts a real SLURM on this one machine, with a socket for each NUMA node,
and runs jobs in it one after the other.

usage: slurm_job.py CORES-OF-A-NODE JOB...

A JOB is the words for sbatch. After the first job that fails, no further job runs and the exit code
is 1."""

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "hosts"))
from slurm import Slurm  # noqa: E402

# SLURM's daemons do not communicate over 127.0.0.1.
ADDRESS = "10.88.0.1"


class ThisMachine:
    """The interface that Slurm expects of hosts."""

    def __init__(self, folder):
        self.names = [os.uname().nodename]
        self.folder = Path(folder)

    def address(self, _):
        return ADDRESS

    def on(self, _, *command, folder="/"):
        return ["env", f"--chdir={folder}", *map(str, command)]


def prepare_machine(name):
    # SLURM expects this folder, which systemd would have created.
    Path("/sys/fs/cgroup/system.slice").mkdir()
    subprocess.run(["ip", "address", "add", f"{ADDRESS}/32", "dev", "lo"], check=True)
    Path("/run/hosts").write_text(f"127.0.0.1 localhost\n{ADDRESS} {name}\n")  # /etc/hosts


cores_of_a_node, *jobs = sys.argv[1:]
cpus = os.cpu_count()
shape = (f"CPUs={cpus} SocketsPerBoard={cpus // int(cores_of_a_node)} "
         f"CoresPerSocket={cores_of_a_node} ThreadsPerCore=1")
with tempfile.TemporaryDirectory() as work:
    host = ThisMachine(work)
    prepare_machine(host.names[0])
    with Slurm(host, shape, "task/affinity") as slurm:
        for job in jobs:
            number = slurm.run(os.getcwd(), "sbatch", "--parsable", *shlex.split(job))
            state = slurm.wait_for_job(number)["JobState"]
            print(f"{state}: {job}", flush=True)
            if state != "COMPLETED":
                print(slurm.log())
                sys.exit(1)
