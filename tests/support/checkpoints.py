# SPDX-License-Identifier: Apache-2.0
"""Functions for tests of saved runs: the content of a folder of checkpoints, and the results of a
complete run."""

import json
import re
import signal
import subprocess
import time

from processes import PATIENCE_SECONDS


def latest(folder):
    """The content of latest.json; None if the file does not exist (yet)."""
    try:
        return json.loads((folder / "latest.json").read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None


def gvt(folder):
    """The GVT of the current checkpoint; 0 if there is none."""
    return (latest(folder) or {"gvt": 0})["gvt"]


def unfinished(folder):
    """The folders of checkpoints that were being written when their process was killed."""
    counts = (latest(folder) or {"folder": None})["folder"]
    return [path for path in folder.glob("checkpoint-*") if path.name != counts]


def wait_for_gvt(process, folder, beyond=0.0, timeout=PATIENCE_SECONDS):
    """Waits until a checkpoint with a virtual time later than `beyond` exists. Returns False if the process ends
    first or the time is over."""
    deadline = time.monotonic() + timeout
    while gvt(folder) <= beyond:
        if process.poll() is not None or time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def start(programs, *command, **more):
    """Starts a run in the test's folder, with a pipe for its standard error."""
    return subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True, cwd=programs.work,
                            **more)


def stop(run, folder, beyond=0.0, number=signal.SIGTERM):
    """Returns (exit code, stderr) of a run that gets a signal as soon as a checkpoint later than `beyond` exists."""
    wait_for_gvt(run, folder, beyond)
    run.send_signal(number)
    errors = run.communicate(timeout=PATIENCE_SECONDS)[1]
    return run.returncode, errors


def restart_hint(stderr):
    """The command that continues the run, from the stderr of a saved run; None if stderr contains no such command."""
    found = re.search(r"^numawarp: saved at virtual time \S+; .*continue with: (.*)$", stderr,
                      re.MULTILINE)
    return found and found[1]


def contents(folder):
    """{file name: content} of an output folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def result(stats):
    """The figures that must be equal, however often the run was interrupted."""
    run = json.loads(stats.read_text())
    return {name: run[name] for name in
            ("digest", "committed_events", "gvt", "end_reason", "output_rows")}
