#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wrong arguments of ./jobs/run and of the commands that it calls end with exit code 2 and one line
on standard error that names the error. Nothing is installed, built or run."""

from programs import CHECKOUT
from refusals import Refusals

programs = Refusals()
run = CHECKOUT / "jobs/run"
launch = CHECKOUT / "jobs/lib/launch.py"

for model in ["", "nosuch", "--", "-x", "pho ld", "../phold", "phold;id", "ph\nold", b"\xff", "$(id)", "PHOLD",
              "x" * 10_000]:
    programs.refused(2, ["unknown model", "pcs phold queues traffic"], run, model)
    programs.refused(2, ["unknown model", "pcs phold queues traffic"], run, "--ranks", 2, "--print", model)
for ranks in ["0", "-1", "x", "", "1e3", "2.5", " 2", "0x2", "99999999", "numa,socket", "\n", b"\xff", "auto"]:
    programs.refused(2, ["--ranks", "a number of ranks from 1"], run, "--ranks", ranks, "phold")
    programs.refused(2, ["--ranks", "a number of ranks from 1"], run, b"--ranks=" + ranks.encode()
                     if isinstance(ranks, str) else b"--ranks=" + ranks, "phold")
for retries in ["0", "-1", "x", "", "1.5", "10000", " 2", "\n", b"\xff"]:
    programs.refused(2, ["--retries", "a number from 1 to 9999"], run, "--retries", retries, "phold",
                     "--checkpoint", "D")
for hostfile in ["", "nosuch", ".", "\n"]:
    programs.refused(2, ["--hostfile", "a line `NAME slots=CORES`"], run, "--hostfile", hostfile, "phold")
no_hosts = programs.file_with("# none\n\n", "no-hosts")
programs.refused(2, ["--hostfile", "has no machine", "slots=CORES"], run, "--hostfile", no_hosts, "--print", "phold")
programs.refused(2, ["--hostfile", "not a text file", "slots=CORES"], run, "--hostfile",
                 programs.file_with(b"\xff\xfe", "bytes"), "--print", "phold")
for arguments, fragments in [
        (["--retries", 2, "phold"], ["--retries", "--checkpoint DIR"]),
        (["--retries", 2, "--ranks", 2, "phold", "--checkpoint", ""], ["--retries", "--checkpoint DIR"]),
        (["--retries", 2], ["MODEL is missing"]), (["--retries", 2, "list"], ["list"]),
        (["--retries", 2, "bench"], ["--retries", "model"]), (["--retries", 2, "machine"], ["--retries", "model"]),
        (["--hostfile", no_hosts, "bench"], ["--hostfile", "model"]),
        (["--ranks"], ["--ranks", "from 1"]), (["--ranks", 2], ["MODEL is missing"]), (["--print"], ["MODEL is missing"]),
        (["list", "extra"], ["list"]), (["--ranks", 2, "list"], ["list"]), (["--print", "list"], ["list"]),
        (["--ranks", 2, "bench"], ["--ranks", "model"]), (["--print", "bench"], ["--print", "model"]),
        (["--ranks", 2, "paper-numa"], ["--ranks", "model"]),
        (["--ranks", 2, "paper-state-saving"], ["--ranks", "model"]),
        (["--ranks", 2, "paper-bwap"], ["--ranks", "model"]),
        (["--ranks", 2, "cost-model"], ["--ranks", "model"]),
        (["--ranks", 2, "machine"], ["--ranks", "model"]), (["machine", "a", "b"], ["machine", "FILE"]),
        (["machine", "--quick"], ["machine", "FILE"]),
        (["reference", "x"], ["reference", "no arguments"]), (["--print", "reference"], ["reference"]),
        (["replicate"], ["replicate", "bank car_wash"]), (["replicate", "nosuch"], ["nosuch", "bank car_wash"]),
        (["replicate", "bank", "--runs", 1], ["--runs", "from 2"]), (["--ranks", 2, "replicate"], ["--ranks", "model"]),
        (["replicate", "bank", "--seed", 2], ["--seed", "left out"]),
        (["slurm"], ["slurm", "node"]), (["slurm", "nosuch"], ["nosuch", "node"]),
        (["slurm", "--print"], ["--print", "node"]),
        (["guest"], ["guest", "TOPOLOGY"]), (["guest", "--nosuch"], ["guest"])]:
    programs.refused(2, fragments, run, *arguments)
for arguments, fragment in [
        (["n5"], "topology 'n5'; allowed: n1"), (["0:1G,1:1G"], "the first node must have cores"),
        (["n2", "--dist", "10,20"], "distances '10,20'; allowed: 2 rows"),
        (["n4", "--sockets", "3"], "sockets '3'; allowed: 1, 2, 4, "), (["n4", "--sockets", "x"], "allowed: 1, 2, 4, "),
        (["2:1G,4:1G", "--sockets", "2"], "sockets '2'; allowed: 1, "),
        (["n2", "--env", "x"], "allowed: NAME=VALUE"), (["n2", "--rw", "/nowhere"], "is not a folder")]:
    programs.refused(2, [fragment], run, "guest", *arguments, "--", "true")
for arguments in [["0", "phold"], ["x", "phold"], ["--print", "0", "phold"], ["-1", "phold"], ["", "phold"]]:
    programs.refused(2, ["allowed: numa, socket, or a number of ranks from 1"], launch, *arguments)
for arguments, fragment in [
        (["--retries", "0", "2", "phold", "--checkpoint", "D"], "a number from 1 to 9999"),
        (["--retries", "1", "2", "phold"], "with --checkpoint DIR"),
        (["--hostfile", no_hosts, "alone", "phold"], "--hostfile: not allowed without MPI")]:
    programs.refused(2, [fragment], launch, *arguments)

programs.leave()
