#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts a program on several MPI ranks, each bound to its own part of the machine.

usage: launch.py [--print] [--retries N] [--hostfile FILE] RANKS PROGRAM [ARGUMENT...]

RANKS   numa: one rank per NUMA node; socket: one rank per socket; a number of ranks; or alone: without MPI.
        Ranks are bound to cores if there are enough cores; otherwise they share the cores, unbound.
--hostfile FILE
        run on the machines in FILE (a line `NAME slots=CORES` for each machine). These machines are assumed to
        be like this one.
--retries N
        start a run with --checkpoint again, up to N times, when a rank or a machine has failed. The run
        continues from its last checkpoint, or starts from the beginning if there is no checkpoint yet.
        Machines that do not answer are left out. Inside a SLURM allocation, these are the machines that
        SLURM has lost; SLURM keeps the other machines if the job was submitted with --no-kill.
--print prints the command line and does not run it.

Open MPI's mpirun starts the ranks. Inside a SLURM allocation, srun starts the ranks if srun supports PMIx (see
`srun --mpi=list`). In a SLURM allocation, RANKS counts the nodes and sockets of all hosts of the allocation;
these hosts are assumed to be like this one. The printed line is complete: it can be copied into a script. For
root the line has --allow-run-as-root, which mpirun requires.

SIGINT, SIGTERM, SIGUSR1 and SIGHUP are forwarded to the ranks, which write their last report or checkpoint.

Exit code: the exit code of the program (with --retries, of its last run), which is also 0 if the run was
stopped after a checkpoint; 2 wrong RANKS, N or FILE; 4 no mpirun; 130, 143 and 138 interrupted."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import retries  # noqa: E402
from cores import list_text, this_machine  # noqa: E402

ALLOWED = "allowed: numa, socket, or a number of ranks from 1"
ALLOWED_RETRIES = "allowed: a number from 1 to 9999"
ALLOWED_HOSTS = "allowed: a file with a line `NAME slots=CORES` for each machine"
SAME_SIGNAL_SECONDS = 1
# mpirun detects a lost machine only after minutes. Or mpirun reports the lost machine, but then
# waits forever for the remaining ranks, which wait for the ranks of the lost machine. Therefore
# this program checks the machines. A check starts a program on each machine and takes some tenths
# of a second.
SECONDS_BETWEEN_CHECKS = 60
SECONDS_TO_END = 5


class Unable(Exception):
    """This machine has no program that can start ranks."""


@dataclass(frozen=True)
class Launcher:
    srun: bool = False
    hosts: int = 1
    slurm: bool = False
    major: int = 4  # of Open MPI
    root: bool = False
    hostfile: str = ""  # for mpirun


def find_launcher(environment):
    slurm = "SLURM_JOB_ID" in environment
    hosts = int(environment.get("SLURM_JOB_NUM_NODES") or environment.get("SLURM_NNODES") or 1)
    if slurm and shutil.which("srun"):
        listed = subprocess.run(["srun", "--mpi=list"], capture_output=True, text=True, check=False)
        if re.search(r"^\s*pmix", listed.stdout + listed.stderr, re.MULTILINE):
            return Launcher(srun=True, hosts=hosts, slurm=True)
    if not shutil.which("mpirun"):
        raise Unable("mpirun is missing; please install Open MPI (Debian: openmpi-bin)")
    said = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False).stdout
    version = re.search(r"\(Open MPI\) (\d+)", said)
    if not version:
        raise Unable("this mpirun does not belong to Open MPI, and its options are not supported; "
                     "start the program with your own command line, such as mpiexec -n 4")
    return Launcher(hosts=hosts, slurm=slurm, major=int(version[1]), root=os.geteuid() == 0)


def command_line(ranks, machine, launcher, program):
    """(the words of the command line, a notice for the user or "")"""
    if ranks == "alone":
        return program, ""
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
            notice = f"{each} ranks share {cores} cores, unbound"
        elif each >= len(machine.parts("node")) and spans(machine, parts):
            notice = "a rank spans two NUMA nodes; --ranks numa avoids this"
    make = srun_words if launcher.srun else mpirun_words
    return make(ranks, wanted, each, parts, machine, launcher, program), notice


def spans(machine, parts):
    nodes = [set(node) for node in machine.parts("node")]
    return any(not any(node.issuperset(part) for node in nodes) for part in parts)


def mpirun_words(ranks, wanted, each, parts, machine, launcher, program):
    words = ["mpirun"]
    if launcher.root:
        words.append("--allow-run-as-root")
    if launcher.hostfile:
        words += ["--hostfile", launcher.hostfile]
    # mpirun's slots are SLURM's tasks or the slots of the hostfile. There may be fewer slots than
    # ranks.
    more = ":OVERSUBSCRIBE" if launcher.slurm or launcher.hostfile else ""
    if parts is None:
        return [*words, "-np", str(wanted), "--map-by", "slot:OVERSUBSCRIBE", "--bind-to", "none",
                *program]
    if not machine.regular and launcher.hosts == 1:
        # mpirun would bind ranks to CPUs that this process may not use, or to nodes without cores.
        # Therefore each rank first runs a line of shell, which binds the rank by the kernel's CPU
        # numbers. mpirun's own option for this, a list separated by colons, crashes with the Open
        # MPI of Debian 13.
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
    # Without --kill-on-bad-exit the other ranks would wait forever for a rank that died.
    words = ["srun", "--mpi=pmix", f"--nodes={launcher.hosts}", f"--ntasks={wanted}",
             "--kill-on-bad-exit"]
    if parts is None:
        return [*words, "--overcommit", "--cpu-bind=none", *program]
    words += [f"--ntasks-per-node={each}", f"--cpus-per-task={min(map(len, parts))}"]
    bind = {"numa": "ldoms", "socket": "sockets"}.get(ranks, "cores")
    return [*words, f"--cpu-bind={bind}", *program]


class Run:
    """Runs command lines, one after the other, and forwards signals to them.

    The first SIGINT or SIGTERM is sent directly to the ranks that are children of mpirun, because
    mpirun would kill the ranks one second after a signal, but the last report or checkpoint of a
    long run takes longer than a second. mpirun is in its own process group, because otherwise the
    terminal would also send Ctrl-C to mpirun. If mpirun has no ranks as children, because all ranks
    are on other hosts, mpirun gets the signal and forwards it. srun also gets the signal and
    forwards it, because the child of srun is not a rank. mpirun and srun forward SIGUSR1 to all
    ranks and wait. A second SIGINT or SIGTERM is sent to mpirun.

    child_forwards: the child is a rank, or forwards signals to the ranks."""

    def __init__(self, child_forwards):
        self.stopped = False  # a signal has requested the end of the run
        self._child_forwards = child_forwards
        self._ended = []  # (signal, time) of each request to end the run at once

    def once(self, words, lost=None):
        """Runs a command line and returns its exit code. `lost` is called periodically. If `lost`
        returns lost machines, the command line is ended, because it may never end by itself."""
        handlers = {signal.SIGUSR1: self._forward, signal.SIGINT: self._end_ranks_first,
                    signal.SIGTERM: self._end_ranks_first}
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            # SIGHUP would end mpirun at once. SIGUSR1, which mpirun forwards, also makes the ranks
            # write a checkpoint.
            handlers[signal.SIGHUP] = lambda *_: self._forward(signal.SIGUSR1, None)
        with subprocess.Popen(words, preexec_fn=os.setpgrp) as self._launched:
            for number, handler in handlers.items():
                signal.signal(number, handler)
            code = self._wait(lost)
            for number in handlers:
                signal.signal(number, signal.SIG_DFL)  # no ranks run between two command lines
        if code != 0 and self._ended:
            return 128 + self._ended[0][0]
        return code if code >= 0 else 128 - code

    def _wait(self, lost):
        while lost is not None:
            try:
                return self._launched.wait(SECONDS_BETWEEN_CHECKS)
            except subprocess.TimeoutExpired:
                if lost():
                    self._end()
                    break
        return self._launched.wait()

    def _end(self):
        """Ends mpirun and its ranks on this machine. Ranks on other machines end when mpirun has
        ended."""
        ranks = children_of(self._launched.pid)
        self._launched.terminate()
        try:
            self._launched.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._launched.kill()
        for process in ranks:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def _forward(self, number, _):
        self.stopped = True
        self._launched.send_signal(number)  # no effect if the process has ended

    def _end_ranks_first(self, number, _):
        self.stopped = True
        request = number, time.monotonic()
        # `timeout` and batch systems send a signal twice: to this process and to its process group.
        if self._ended and request[1] - self._ended[0][1] < SAME_SIGNAL_SECONDS:
            return
        ranks = [] if self._ended or self._child_forwards else children_of(self._launched.pid)
        self._ended.append(request)
        for process in ranks:
            os.kill(process, number)
        if not ranks:
            self._launched.send_signal(number)


def children_of(process):
    try:
        return list(map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split()))
    except OSError:
        return []


@dataclass
class Wanted:
    """The options and arguments of this program."""

    only_print: bool = False
    retries: int = 0
    hostfile: str = ""
    ranks: str = ""
    program: tuple = ()


class Refused(Exception):
    """The command line contains a value that is not allowed."""


def read_command_line(words):
    wanted, words = Wanted(), list(words)
    while words and words[0].startswith("--"):
        option = words.pop(0)
        if option == "--print":
            wanted.only_print = True
        elif option == "--hostfile" and words:
            wanted.hostfile = words.pop(0)
        elif option == "--retries" and words:
            value = words.pop(0)
            if not re.fullmatch("[1-9][0-9]{0,3}", value):
                raise Refused(f"--retries: '{value}'; {ALLOWED_RETRIES}")
            wanted.retries = int(value)
        else:
            return None
    if len(words) < 2:
        return None
    wanted.ranks, *wanted.program = words
    if not re.fullmatch("alone|numa|socket|[1-9][0-9]{0,5}", wanted.ranks):
        raise Refused(f"--ranks: '{wanted.ranks}'; {ALLOWED}")
    if wanted.hostfile and wanted.ranks == "alone":
        raise Refused("--hostfile: not allowed without MPI; allowed: with numa, socket, or a number of ranks")
    if wanted.retries and not retries.value_of("--checkpoint", wanted.program):
        raise Refused("--retries: not allowed without --checkpoint; allowed: with --checkpoint DIR after the model")
    return wanted


class Start:
    """The ranks and machines of a try. The next try may have fewer ranks and machines."""

    def __init__(self, wanted):
        self.launcher = Launcher() if wanted.ranks == "alone" else find_launcher(os.environ)
        self.ranks = wanted.ranks
        self.program = wanted.program
        self.hosts = {}
        if wanted.hostfile:
            try:
                self.hosts = retries.read_hosts(wanted.hostfile)
            except retries.BadHosts as reason:
                raise Refused(f"--hostfile: {wanted.hostfile}: {reason}; {ALLOWED_HOSTS}") from reason
            self.launcher = replace(self.launcher, srun=False, hosts=len(self.hosts),
                                    hostfile=wanted.hostfile)
        elif self.launcher.srun and wanted.retries:
            self.hosts = {name: name for name in retries.allocated(os.environ["SLURM_JOB_ID"]) or ()}

    def line(self):
        words, notice = command_line(self.ranks, this_machine(), self.launcher, self.program)
        if notice:
            print(f"numawarp: {notice}", file=sys.stderr)
        return words

    def lost(self):
        """The machines that no longer answer. With srun, SLURM provides this information; otherwise
        each machine is checked up to two times."""
        if self.launcher.srun:
            left = retries.allocated(os.environ["SLURM_JOB_ID"]) if self.hosts else None
            return [name for name in self.hosts if name not in left] if left else []
        silent = list(self.hosts)
        for _ in range(2):
            answering = retries.answering(silent, self.launcher)
            silent = [name for name in silent if name not in answering]
        return silent

    def leave_out(self, lost, folder):
        """Removes the machines `lost`. The number of ranks per machine stays the same. `folder`:
        for a hostfile of the remaining machines."""
        all_hosts = len(self.hosts)
        self.hosts = {name: line for name, line in self.hosts.items() if name not in lost}
        if self.ranks.isdigit():
            self.ranks = str(max(1, int(self.ranks) * len(self.hosts) // all_hosts))
        self.launcher = replace(self.launcher, hosts=len(self.hosts))
        if self.launcher.srun:
            # srun also uses these variables.
            os.environ["SLURM_JOB_NUM_NODES"] = os.environ["SLURM_NNODES"] = str(len(self.hosts))
            return
        hostfile = Path(folder) / "hosts"
        hostfile.write_text("".join(f"{line}\n" for line in self.hosts.values()))
        self.launcher = replace(self.launcher, hostfile=str(hostfile))


def run_with_retries(start, tries):
    """Runs the program up to `tries` + 1 times and returns the exit code of the last try."""
    run = Run(child_forwards=start.launcher.srun or start.ranks == "alone")
    first_program = start.program
    checkpoints = retries.value_of("--checkpoint", first_program)
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        for number in range(tries + 1):
            line = start.line()
            if start.ranks != "alone":
                print(f"numawarp: {shlex.join(line)}", file=sys.stderr, flush=True)
            # srun ends by itself when SLURM has lost a machine.
            code = run.once(line, start.lost if start.hosts and tries and not start.launcher.srun else None)
            if number == tries or run.stopped or code in retries.ON_PURPOSE:
                break
            lost = start.lost()
            cause = retries.cause_of(code, lost)
            if not cause or run.stopped or (lost and len(lost) == len(start.hosts)):
                break
            if lost:
                start.leave_out(lost, folder)
            at = retries.saved_at(checkpoints)
            start.program = (first_program if at is None
                             else retries.continued(first_program, checkpoints))
            print(f"numawarp: --retries: {cause}; try {number + 1} of {tries} "
                  + ("starts from the beginning, because there is no checkpoint yet" if at is None
                     else f"continues from virtual time {at:g}")
                  + (f", on {' '.join(start.hosts)}" if start.hosts else ""), file=sys.stderr, flush=True)
    return code


def main(words):
    try:
        wanted = read_command_line(words)
        if wanted is None:
            print(__doc__, file=sys.stderr)
            return 2
        start = Start(wanted)
    except Refused as reason:
        print(f"numawarp: {reason}", file=sys.stderr)
        return 2
    except Unable as reason:
        print(f"numawarp: {reason}", file=sys.stderr)
        return 4
    if wanted.only_print:
        print(shlex.join(start.line()))
        return 0
    return run_with_retries(start, wanted.retries)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
