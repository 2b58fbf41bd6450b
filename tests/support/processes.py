# SPDX-License-Identifier: Apache-2.0
"""Functions for tests that send signals. They wait until a process has reached a certain state."""

import os
import select
import time
from pathlib import Path


# Time limit for something that must happen on every machine, also on a busy machine. A process that exceeds this limit
# hangs.
PATIENCE_SECONDS = 300


def cpu_seconds(pid, without_main=False):
    """CPU time of a process's threads; 0 if the process has ended."""
    ticks = 0
    for task in Path(f"/proc/{pid}/task").glob("[0-9]*"):
        if not (without_main and task.name == str(pid)):
            try:
                fields = (task / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # the thread has ended
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def is_computing(pid, engine="timewarp"):
    """True if the process has executed events for a while. The main thread of a parallel engine
    only waits while workers run."""
    return cpu_seconds(pid, without_main=engine != "sequential") > 0.3


def wait_until_computing(process, engine="timewarp", timeout=PATIENCE_SECONDS):
    """Waits until the process executes events or has ended."""
    deadline = time.monotonic() + timeout
    while process.poll() is None and not is_computing(process.pid, engine):
        if time.monotonic() > deadline:
            raise TimeoutError(f"process {process.pid} has used no CPU time in {timeout} s")
        time.sleep(0.02)


def line_of(stream, timeout=PATIENCE_SECONDS):
    """The next line of a pipe that has no other reader; an incomplete line if the rest does not
    arrive in time."""
    line = b""
    deadline = time.monotonic() + timeout
    while not line.endswith(b"\n") and select.select(
            [stream], [], [], max(0, deadline - time.monotonic()))[0]:
        byte = os.read(stream.fileno(), 1)
        if not byte:
            break
        line += byte
    return line.decode()
