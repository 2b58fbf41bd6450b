"""Decides whether --retries of launch.py starts a run again, and on which machines.

A run is started again if a rank was killed by a signal that does not request a stop, or if a machine is lost. Other
failures have an exit code of their own (docs/reference/exit-codes.md) and would occur again. mpirun has no exit code for
a lost machine. Therefore this module asks each machine."""

import json
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# What ends a run on purpose: the user's signals, and the contract's exit codes but for 1, which is also what
# mpirun says when it has lost a machine.
WISHES = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGQUIT}
ON_PURPOSE = {0, 2, 3, 4} | {128 + number for number in WISHES}
# A machine that is up answers ssh in a second or two; one that pages may take ten times as long.
SECONDS_TO_ANSWER = 30


class BadHosts(Exception):
    """The file that was named is no list of machines."""


def read_hosts(path):
    """{name: its line} of a hostfile of Open MPI's."""
    try:
        lines = [line.partition("#")[0].strip() for line in Path(path).read_text().splitlines()]
    except (OSError, ValueError) as error:
        raise BadHosts(getattr(error, "strerror", None) or "not a text file") from error
    hosts = {line.split()[0]: line for line in lines if line}
    if not hosts:
        raise BadHosts("has no machine")
    return hosts


def answering(hosts, launcher):
    """Those of the names, if any, on which mpirun, in whatever way it gets there, can start something."""
    def answers(name):
        root = ["--allow-run-as-root"] if launcher.root else []
        try:
            return subprocess.run(["mpirun", *root, "--host", name, "-np", "1", "true"],
                                  stdin=subprocess.DEVNULL, capture_output=True, check=False,
                                  timeout=SECONDS_TO_ANSWER).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    with ThreadPoolExecutor(max(1, len(hosts))) as all_at_once:
        return [name for name, well in zip(hosts, all_at_once.map(answers, hosts)) if well]


def allocated(job):
    """The names of the machines that a job of SLURM has now; those that failed are its own no more
    (--no-kill). None: SLURM does not say."""
    def said(*command):
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=True).stdout.split()

    try:
        return said("scontrol", "show", "hostnames", *said("squeue", "--noheader", f"--jobs={job}", "--format=%N"))
    except (OSError, subprocess.CalledProcessError):
        return None


def cause_of(code, lost):
    """Why a run that has ended so is to be started again, in words; empty: it is not. `lost`: names of
    machines that do not answer any more."""
    if code in ON_PURPOSE:
        return ""
    if lost:
        return f"no answer from {' '.join(lost)}"
    try:
        return f"a rank has died of {signal.Signals(code - 128).name}" if code > 128 else ""
    except ValueError:
        return ""


def value_of(option, words):
    """What `--option VALUE` or `--option=VALUE` says last; None: it is not there."""
    found = None
    for word, following in zip(words, [*words[1:], None]):
        if word == option:
            found = following
        elif word.startswith(option + "="):
            found = word.partition("=")[2]
    return found


def saved_at(folder):
    """The virtual time of the checkpoint that counts there; None: there is none that can be read."""
    try:
        return json.loads((Path(folder) / "latest.json").read_text())["gvt"]
    except (OSError, ValueError, KeyError):
        return None


def going_on(program, folder):
    """The words of `program`, such that it goes on from the checkpoint in `folder`."""
    words, skip = [], False
    for word in program:
        if not skip and word != "--restart" and not word.startswith("--restart="):
            words.append(word)
        skip = not skip and word == "--restart"
    return [*words, "--restart", folder]
