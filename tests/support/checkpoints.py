"""What the tests of saved runs share: what stands in a folder of checkpoints, and what a run has written
when it is over."""

import json
import re
import signal
import subprocess
import time

from processes import PATIENCE_SECONDS


def latest(folder):
    """What latest.json says; None where there is none (yet)."""
    try:
        return json.loads((folder / "latest.json").read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None


def gvt(folder):
    """Of the checkpoint that counts; 0 where there is none."""
    return (latest(folder) or {"gvt": 0})["gvt"]


def unfinished(folder):
    """The folders of checkpoints that were being written when their process was killed."""
    counts = (latest(folder) or {"folder": None})["folder"]
    return [path for path in folder.glob("checkpoint-*") if path.name != counts]


def wait_for_gvt(process, folder, beyond=0.0, timeout=PATIENCE_SECONDS):
    """Until a checkpoint of a later virtual time is there. Whether one is before the process ends."""
    deadline = time.monotonic() + timeout
    while gvt(folder) <= beyond:
        if process.poll() is not None or time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def start(programs, *command, **more):
    """A run in the test's folder, of which standard error is read."""
    return subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True, cwd=programs.work,
                            **more)


def stop(run, folder, beyond=0.0, number=signal.SIGTERM):
    """(exit code, what it has said) of a run that gets a signal when a later checkpoint is there."""
    wait_for_gvt(run, folder, beyond)
    run.send_signal(number)
    errors = run.communicate(timeout=PATIENCE_SECONDS)[1]
    return run.returncode, errors


def restart_hint(stderr):
    """The command that a run which was saved and has ended gives; None if it gives none."""
    found = re.search(r"^numawarp: saved at virtual time \S+; .*continue with: (.*)$", stderr,
                      re.MULTILINE)
    return found and found[1]


def contents(folder):
    """{file: its bytes} of an output folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def result(stats):
    """What must be equal, however often the run was stopped on the way."""
    run = json.loads(stats.read_text())
    return {name: run[name] for name in
            ("digest", "committed_events", "gvt", "end_reason", "output_rows")}
