#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests unfinished result files in a folder that several hosts share. Files of killed runs are
deleted, also if they are from another host. Files of running processes stay, also if these
processes are not visible.

All hosts here have one kernel. A file with another kernel's name represents a file from another
kernel. The process of such a file cannot be checked: the file stays, and this is reported."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

from hosts import SHARED_CORES, HostRanks

ranks = HostRanks(2)
expect, stats = ranks.expect, ranks.work / "stats.json"


def parts(host):
    return sorted(path.name for path in ranks.work.glob(f"stats.json.{host}-*.part"))


def begin(host, *before):
    """Starts a run without end, and returns the process and its unfinished file."""
    command = [*before, ranks.bin / "phold", "--until", 1e12, "--quiet", *SHARED_CORES, "--stats", stats]
    known = parts(host)
    run = subprocess.Popen(ranks.hosts.on(host, *command, folder=ranks.work))
    while parts(host) == known and run.poll() is None:
        time.sleep(0.01)
    return run, next((name for name in parts(host) if name not in known), None)


def run_once(host):
    """The statistics of a short run."""
    ranks.hosts.run(host, ranks.bin / "phold", "--until", 10, "--quiet", *SHARED_CORES, "--stats", stats)
    return json.loads(stats.read_text())


with ranks.hosts:
    killed, left = begin("n2")
    living, in_use = begin("n2")
    # `hidden` has another process number in its PID namespace than in the host's.
    hidden, unseen = begin("n1", "unshare", "--pid", "--kill-child", "--fork")
    inside = int(Path(f"/proc/{hidden.pid}/task/{hidden.pid}/children").read_text())
    killed.kill()
    killed.wait()
    foreign = "stats.json.n9-00000001-01234567.part"
    (ranks.work / foreign).write_text("half")
    notices = run_once("n1")["notices"]
    expect(left not in parts("n2"), "the part file of a killed run on another host is removed")
    expect(parts("n2") == [in_use], "the part file of a run on another host is kept")
    expect(parts("n1") == [unseen], "the part file of a run in another PID namespace is kept")
    expect([n for n in notices if n.startswith(f"--stats {stats}: the same folder contains {foreign} from another machine")]
           and (ranks.work / foreign).exists(), f"the part file of another kernel is kept, and a notice reports this: {notices}")
    for run, process in ((living, living.pid), (hidden, inside)):
        stats.unlink()
        os.kill(process, signal.SIGTERM)
        run.wait(timeout=60)
        expect(json.loads(stats.read_text())["end_reason"] == "interrupted", "a run that continues writes its file")
    expect([path.name for path in ranks.work.glob("*.part")] == [foreign], "a run that continues leaves no part file")
ranks.leave()
