#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A rank is stopped for 10 s, and only flow control holds the other ranks back (--window off). The
memory of the other ranks stays bounded. When the rank continues, the run ends with the right
result. If a host fails, the job soon ends on all hosts, with a message that names the host.
(mpi/test_failures.py tests a rank that fails.)"""

import os
import re
import signal
import time
from pathlib import Path

from hosts import SHARED_CORES, HostRanks

SECONDS_STOPPED = 10
SECONDS_TO_END = 10
FOR_EVER = 1e12
# The credit of 65,536 messages lets a fast rank execute some hundred thousand events ahead. These events and their
# saved states took up to 590 MB. Without flow control, the memory would grow by gigabytes in ten seconds.
RESIDENT_MAX_MB = 1000

# Stations that create their own jobs never run out of work, even if another rank is stopped.
MODEL = ["--stations", 30, "--jobs", 0, "--arrival-rate", 0.02]
OPTIONS = [*SHARED_CORES, "--until", FOR_EVER, "--quiet"]

ranks = HostRanks()


def resident_mb(pid):
    return int(re.search(r"VmRSS:\s*(\d+) kB", Path(f"/proc/{pid}/status").read_text())[1]) / 1024


def most_resident_mb(pids, seconds):
    """{rank: its largest resident memory during this time}"""
    most = dict.fromkeys(pids, 0)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.1)
        for rank, pid in pids.items():
            most[rank] = max(most[rank], resident_mb(pid))
    return most


with ranks.hosts as hosts:
    stats = ranks.work / "stopped.json"
    with ranks.start(ranks.part(3, "queues", *MODEL, *OPTIONS, "--window", "off",
                                "--stats", stats)) as launch:
        launch.wait_until_under_way(3)
        pids = launch.pids()
        os.kill(pids[1], signal.SIGSTOP)
        while_stopped = most_resident_mb(pids, SECONDS_STOPPED)
        os.kill(pids[1], signal.SIGCONT)
        afterwards = most_resident_mb(pids, 2)
        os.kill(pids[0], signal.SIGINT)
        ended = launch.wait()
    for name, most in [("while a rank is stopped", while_stopped), ("afterwards", afterwards)]:
        ranks.expect(max(most.values()) < RESIDENT_MAX_MB, f"memory {name}: " + ", ".join(
            f"rank {rank} {most[rank]:.0f} MB" for rank in sorted(most)))
    ranks.expect(ended.exit_code == 128 + signal.SIGINT, f"exit code {ended.exit_code}")
    run = ranks.expect_sequential_digest(f"{SECONDS_STOPPED} s without a rank", stats, "queues",
                                         *MODEL)
    ranks.expect(run["mpi"]["credit_stops"] > 0, f"{run['mpi']['credit_stops']} stops for credit")
    ranks.expect(any("rank 0" in line and "other ranks" in line for line in ended.ours),
                 "the watchdog has reported the rank for which others waited")

    with ranks.start(ranks.part(3, "phold", *OPTIONS)) as launch:
        launch.wait_until_under_way(3)
        began = time.monotonic()
        hosts.switch_off("n2")
        ended = launch.wait()
        seconds = time.monotonic() - began
        ranks.expect(ended.exit_code != 0 and seconds < SECONDS_TO_END,
                     f"a host that fails: exit code {ended.exit_code} after {seconds:.1f} s")
        # Open MPI may print only the host's address.
        ranks.expect(re.search(r"(Peer host:|on node) +n2|connect\(\) to 10\.77\.0\.2:", ended.stderr),
                     f"the launcher names the host: {ended.stderr}")
        ranks.expect(not launch.pids(), "no rank is left")

ranks.leave()
