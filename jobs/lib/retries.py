# SPDX-License-Identifier: Apache-2.0
"""Decides whether --retries of launch.py starts a run again, and on which machines.

A run is started again if a rank was killed by a signal that does not request a stop, or if a
machine is lost. Other failures have an exit code of their own (docs/reference/exit-codes.md) and
would occur again. mpirun has no exit code for a lost machine. Therefore this module checks each
machine."""

import json
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Exit codes after which a run is not started again: those of the user's signals, and the documented
# ones except 1, because mpirun also returns 1 when it has lost a machine.
WISHES = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGQUIT}
ON_PURPOSE = {0, 2, 3, 4} | {128 + number for number in WISHES}
# A working machine answers ssh within one or two seconds. If it is swapping, this may take ten
# times as long.
SECONDS_TO_ANSWER = 30


class BadHosts(Exception):
    """The file is not a list of machines."""


def read_hosts(path):
    """{name: its line} of a hostfile of Open MPI."""
    try:
        lines = [line.partition("#")[0].strip() for line in Path(path).read_text().splitlines()]
    except (OSError, ValueError) as error:
        raise BadHosts(getattr(error, "strerror", None) or "not a text file") from error
    hosts = {line.split()[0]: line for line in lines if line}
    if not hosts:
        raise BadHosts("has no machine")
    return hosts


def answering(hosts, launcher):
    """The names of those hosts on which mpirun can start a program now."""
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
    """The names of the machines that a SLURM job has now, without those that failed (--no-kill).
    None if SLURM gives no answer."""
    def said(*command):
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=True).stdout.split()

    try:
        return said("scontrol", "show", "hostnames", *said("squeue", "--noheader", f"--jobs={job}", "--format=%N"))
    except (OSError, subprocess.CalledProcessError):
        return None


def cause_of(code, lost):
    """The reason to start a run again that ended with exit code `code`, as text; empty if the run
    must not be started again. `lost`: names of the machines that no longer answer."""
    if code in ON_PURPOSE:
        return ""
    if lost:
        return f"no answer from {' '.join(lost)}"
    try:
        return f"a rank has died of {signal.Signals(code - 128).name}" if code > 128 else ""
    except ValueError:
        return ""


def value_of(option, words):
    """The value of the last `--option VALUE` or `--option=VALUE`; None if the option is missing."""
    found = None
    for word, following in zip(words, [*words[1:], None]):
        if word == option:
            found = following
        elif word.startswith(option + "="):
            found = word.partition("=")[2]
    return found


def saved_at(folder):
    """The virtual time of the latest checkpoint in `folder`; None if there is no readable one."""
    try:
        return json.loads((Path(folder) / "latest.json").read_text())["gvt"]
    except (OSError, ValueError, KeyError):
        return None


def continued(program, folder):
    """`program` with its option --restart replaced by `--restart folder`."""
    words, skip = [], False
    for word in program:
        if not skip and word != "--restart" and not word.startswith("--restart="):
            words.append(word)
        skip = not skip and word == "--restart"
    return [*words, "--restart", folder]
