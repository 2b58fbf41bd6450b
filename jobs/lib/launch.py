#!/usr/bin/env python3
"""Starts a program on several MPI ranks, each bound to its own part of the machine.

usage: launch.py [--print] RANKS PROGRAM [ARGUMENT...]

RANKS   numa: one rank a NUMA node; socket: one a socket; or a number of ranks.
        Ranks are bound to cores where there are enough of them, and take turns where not.
--print says the command line and does not run it.

It is Open MPI's mpirun that starts them; inside a SLURM allocation srun, if it speaks PMIx (what
`srun --mpi=list` says), and there RANKS counts nodes and sockets on all hosts of the allocation,
which are taken to be like this one. The line that is printed is all there is: it can be copied into
a script. As root it has --allow-run-as-root, without which mpirun refuses.

SIGINT, SIGTERM, SIGUSR1 and SIGHUP go on to the ranks, which make their last report or checkpoint.

Exit codes: the program's, so 0 after a checkpoint; 2 wrong RANKS; 4 no mpirun; 130, 143 and 138
interrupted."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from cores import list_text, this_machine  # noqa: E402

LEGAL = "legal: numa, socket, or a number of ranks from 1"
SAME_SIGNAL_SECONDS = 1


class Unable(Exception):
    """Nothing here can start ranks."""


@dataclass(frozen=True)
class Launcher:
    srun: bool = False
    hosts: int = 1
    slurm: bool = False
    major: int = 4  # of Open MPI
    root: bool = False


def find_launcher(environment):
    slurm = "SLURM_JOB_ID" in environment
    hosts = int(environment.get("SLURM_JOB_NUM_NODES") or environment.get("SLURM_NNODES") or 1)
    if slurm and shutil.which("srun"):
        listed = subprocess.run(["srun", "--mpi=list"], capture_output=True, text=True, check=False)
        if re.search(r"^\s*pmix", listed.stdout + listed.stderr, re.MULTILINE):
            return Launcher(srun=True, hosts=hosts, slurm=True)
    if not shutil.which("mpirun"):
        raise Unable("no mpirun here; please install Open MPI (Debian: openmpi-bin)")
    said = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False).stdout
    version = re.search(r"\(Open MPI\) (\d+)", said)
    if not version:
        raise Unable("this mpirun is not Open MPI's, and other options than its are not known here; "
                     "start the program with your own line, such as mpiexec -n 4")
    return Launcher(hosts=hosts, slurm=slurm, major=int(version[1]), root=os.geteuid() == 0)


def command_line(ranks, machine, launcher, program):
    """(the words of the line, what the user should know about it or nothing)"""
    cores = len(machine.cores)
    if ranks in ("numa", "socket"):
        parts = machine.parts("node" if ranks == "numa" else "socket")
        each, wanted, notice = len(parts), len(parts) * launcher.hosts, ""
    else:
        wanted = int(ranks)
        each = -(-wanted // launcher.hosts)
        crowded = each > cores
        parts = None if crowded else machine.shares(each)
        notice = ""
        if crowded:
            notice = f"{each} ranks on {cores} cores take turns, unbound"
        elif each >= len(machine.parts("node")) and spans(machine, parts):
            notice = "a rank spans two NUMA nodes; --ranks numa does not"
    make = srun_words if launcher.srun else mpirun_words
    return make(ranks, wanted, each, parts, machine, launcher, program), notice


def spans(machine, parts):
    nodes = [set(node) for node in machine.parts("node")]
    return any(not any(node.issuperset(part) for node in nodes) for part in parts)


def mpirun_words(ranks, wanted, each, parts, machine, launcher, program):
    words = ["mpirun"]
    if launcher.root:
        words.append("--allow-run-as-root")
    # SLURM's tasks are mpirun's slots, and there may be fewer of them than we start ranks.
    more = ":OVERSUBSCRIBE" if launcher.slurm else ""
    if parts is None:
        return [*words, "-np", str(wanted), "--map-by", "slot:OVERSUBSCRIBE", "--bind-to", "none",
                *program]
    if not machine.regular and launcher.hosts == 1:
        # In the kernel's words, since mpirun would bind to what is not ours, or is no core. By a line of
        # shell that each rank begins with: mpirun's own way, parts with colons between, crashes with
        # Debian 13's Open MPI.
        choice = " ".join(f"{rank}) cpus={list_text(part)};;" for rank, part in enumerate(parts))
        bind = f'case $OMPI_COMM_WORLD_RANK in {choice} esac; exec taskset -c "$cpus" "$@"'
        return [*words, "--bind-to", "none", "-np", str(each), "sh", "-c", bind, "sh", *program]
    if ranks in ("numa", "socket"):
        place = "package" if ranks == "socket" and launcher.major >= 5 else ranks
        return [*words, "-np", str(wanted), "--map-by", f"ppr:1:{place}{more}", "--bind-to", place,
                *program]
    width = f"PE={len(machine.cores) // each}"
    mapping = f"slot:{width}" if launcher.hosts == 1 else f"ppr:{each}:node:{width}"
    return [*words, "-np", str(wanted), "--map-by", mapping + more, "--bind-to", "core", *program]


def srun_words(ranks, wanted, each, parts, machine, launcher, program):
    # Otherwise the others wait for ever for a rank that died.
    words = ["srun", "--mpi=pmix", f"--nodes={launcher.hosts}", f"--ntasks={wanted}",
             "--kill-on-bad-exit"]
    if parts is None:
        return [*words, "--overcommit", "--cpu-bind=none", *program]
    words += [f"--ntasks-per-node={each}", f"--cpus-per-task={min(map(len, parts))}"]
    bind = {"numa": "ldoms", "socket": "sockets"}.get(ranks, "cores")
    return [*words, f"--cpu-bind={bind}", *program]


def run(words, launcher):
    """The exit code. The first Ctrl-C or kill goes to the ranks themselves, past mpirun, which would
    kill them a second later: the last report or checkpoint of a long run takes longer. mpirun has a
    group of its own, or the terminal would send it the same Ctrl-C. Ranks that are not its children,
    on other hosts, it tells in its own way, and so does srun, whose child is no rank. SIGUSR1 both
    hand on to all ranks and wait."""
    with subprocess.Popen(words, preexec_fn=os.setpgrp) as launched:
        ended = []  # (signal, when) of each wish that the run ends at once

        def hand_on(number, _):
            os.kill(launched.pid, number)

        def pass_by(number, _):
            wish = number, time.monotonic()
            # `timeout` and batch systems send one to us and one to our group.
            if ended and wish[1] - ended[0][1] < SAME_SIGNAL_SECONDS:
                return
            ranks = [] if ended or launcher.srun else children_of(launched.pid)
            ended.append(wish)
            for process in ranks or [launched.pid]:
                os.kill(process, number)

        signal.signal(signal.SIGUSR1, hand_on)
        # mpirun would end at once; what it hands on has the ranks saved as well.
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            signal.signal(signal.SIGHUP, lambda *_: hand_on(signal.SIGUSR1, None))
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, pass_by)
        code = launched.wait()
    if code != 0 and ended:
        return 128 + ended[0][0]
    return code if code >= 0 else 128 - code


def children_of(process):
    try:
        return list(map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split()))
    except OSError:
        return []


def main(words):
    only_print = words[:1] == ["--print"]
    words = words[only_print:]
    if len(words) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    ranks, *program = words
    if not re.fullmatch("numa|socket|[1-9][0-9]{0,5}", ranks):
        print(f"numawarp: --ranks: '{ranks}'; {LEGAL}", file=sys.stderr)
        return 2
    try:
        launcher = find_launcher(os.environ)
    except Unable as reason:
        print(f"numawarp: {reason}", file=sys.stderr)
        return 4
    line, notice = command_line(ranks, this_machine(), launcher, program)
    if notice:
        print(f"numawarp: {notice}", file=sys.stderr)
    if only_print:
        print(shlex.join(line))
        return 0
    print(f"numawarp: {shlex.join(line)}", file=sys.stderr, flush=True)
    return run(line, launcher)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
