#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulates several hosts n1, n2, ... on this machine, and runs a command on the first host. There,
`mpirun -np 3` starts one rank on each of three hosts. All hosts have the current folder, the
programs and this tree; each host has its own /tmp, /dev/shm, network and name. Needs root.

    sudo tests/hosts/run.py -- mpirun -np 3 build/bin/phold --pin off
    sudo tests/hosts/run.py --delay-ms 2 --loss 0.01 -- mpirun -np 3 build/bin/phold --pin off
    sudo tests/hosts/run.py --slurm -- srun -n 3 --mpi=pmix build/bin/phold --pin off

--pin off is needed because the hosts share the cores of this machine."""

import argparse
import contextlib
import os
import subprocess
import sys

from hosts import HERE, Hosts, need_hosts
from slurm import Slurm, need_slurm

parser = argparse.ArgumentParser(description=__doc__,
                                 formatter_class=argparse.RawDescriptionHelpFormatter,
                                 epilog="Exit code: that of the command; 77 if hosts cannot be created.")
parser.add_argument("--hosts", type=int, default=3, metavar="N", help="number of hosts (%(default)s)")
parser.add_argument("--delay-ms", type=float, default=0, metavar="MS", help="delay of every frame")
parser.add_argument("--loss", type=float, default=0, metavar="P", help="share of all frames that is lost")
parser.add_argument("--slurm", action="store_true", help="start SLURM on all hosts")
parser.add_argument("--programs", default=HERE.parent.parent / "build/bin", metavar="FOLDER",
                    help="the folder of the built programs (build/bin)")
parser.add_argument("command", nargs="+", help="the command, after --")
arguments = parser.parse_args()

need_hosts()
if arguments.slurm:
    need_slurm()
with contextlib.ExitStack() as stack:
    hosts = stack.enter_context(Hosts(arguments.hosts, arguments.programs, [os.getcwd()]))
    hosts.set_links(arguments.delay_ms, arguments.loss)
    environment = hosts.environment()
    if arguments.slurm:
        environment = stack.enter_context(Slurm(hosts)).environment()
    done = subprocess.run(hosts.on("n1", *arguments.command, folder=os.getcwd()), env=environment,
                          check=False)
sys.exit(done.returncode if done.returncode >= 0 else 128 - done.returncode)
