# SPDX-License-Identifier: Apache-2.0
"""Runs in the modeled guest: decides where the kernel puts new pages, then runs a command.

usage: spread_pages.py SETTINGS COMMAND...

SETTINGS is JSON: `weights`, one number for each node, or an empty list if each page belongs on the node of the thread
that touches it first; `beside`, another command that runs at the same time, or an empty list; `autonuma`, an object
with `node`, which gets the first `bytes` bytes of the `threads` threads of the command, or an empty object. Then the
kernel moves these pages, and the file pages_migrated beside this script gets the number of moved pages."""

import ctypes
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

WEIGHTED_INTERLEAVE = 6  # MPOL_WEIGHTED_INTERLEAVE of Linux 6.9 and later
BUILDING_SECONDS = 0.05  # the other program builds its LPs


def write(file, value):
    Path(file).write_text(f"{value}\n")


def spread(weights):
    nodes = 0
    for node, weight in enumerate(weights):
        if weight:
            nodes |= 1 << node
            write(f"/sys/kernel/mm/mempolicy/weighted_interleave/node{node}", weight)
    if ctypes.CDLL("libnuma.so.1", use_errno=True).set_mempolicy(WEIGHTED_INTERLEAVE,
                                                                 ctypes.byref(ctypes.c_ulong(nodes)), 65) != 0:
        raise OSError(ctypes.get_errno(), "set_mempolicy")


# --- AutoNUMA ----------------------------------------------------------------------------------

DEBUG = "/sys/kernel/debug"
# The kernel's usual values (1000, 1000 and 256) let it examine pages once per second at most. The kernel examines
# `scan_size_mb` at a time, and a small value permits short periods.
SCAN = {"scan_delay_ms": 1, "scan_period_min_ms": 10, "scan_size_mb": 16}
GROUP = Path("/sys/fs/cgroup/autonuma")
POLL_SECONDS = 0.0005
SETTLED_SECONDS, SETTLED_GROWTH = 0.002, 1.01  # the command has built its LPs if its memory grows by less in this time


def pages_migrated():
    return int(re.search(r"^numa_pages_migrated (\d+)$", Path("/proc/vmstat").read_text(), re.MULTILINE)[1])


def anonymous_bytes(program):
    _, resident, shared, *_ = map(int, Path(f"/proc/{program.pid}/statm").read_text().split())
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


def has_settled(program):
    before = anonymous_bytes(program)
    time.sleep(SETTLED_SECONDS)
    return anonymous_bytes(program) <= before * SETTLED_GROWTH


def wait_until(program, condition):
    while not condition():
        if program.poll() is not None:
            sys.exit("the program ended too early")
        time.sleep(POLL_SECONDS)


def call_with_autonuma(command, node, threads, bytes):
    """The exit code of the command. No thread gets a memory policy, because the kernel moves only pages without a
    policy. A cpuset puts the pages on `node` instead, as if one thread of this node touched all of them first. This
    begins when the command has its threads, because it has then read which nodes have memory."""
    subprocess.run(["mount", "-t", "debugfs", "debugfs", DEBUG], check=True)
    for name, value in SCAN.items():
        write(f"{DEBUG}/sched/numa_balancing/{name}", value)
    write("/proc/sys/kernel/numa_balancing", 1)
    write(GROUP.with_name("cgroup.subtree_control"), "+cpuset")
    GROUP.mkdir()
    nodes = Path("/sys/devices/system/node/has_memory").read_text().strip()
    write(GROUP / "cpuset.mems", nodes)
    program = subprocess.Popen(command, preexec_fn=lambda: write(GROUP / "cgroup.procs", os.getpid()))
    wait_until(program, lambda: len(os.listdir(f"/proc/{program.pid}/task")) >= threads)
    write(GROUP / "cpuset.mems", node)
    wait_until(program, lambda: anonymous_bytes(program) >= bytes and has_settled(program))
    write(GROUP / "cpuset.mems", nodes)
    code = program.wait()
    Path(__file__).with_name("pages_migrated").write_text(f"{pages_migrated()}\n")
    return code


def main(settings, *command):
    settings = json.loads(settings)
    # A huge page would put 512 neighboring pages on one node.
    write("/sys/kernel/mm/transparent_hugepage/enabled", "never")
    other = subprocess.Popen(settings["beside"], stdout=subprocess.DEVNULL) if settings["beside"] else None
    if other:
        time.sleep(BUILDING_SECONDS)
    if settings["weights"]:
        spread(settings["weights"])
    code = call_with_autonuma(command, **settings["autonuma"]) if settings["autonuma"] else subprocess.call(command)
    if other:
        if other.poll() is not None:
            sys.exit("the other program ended too early")
        other.kill()
        other.wait()
    return code


sys.exit(main(*sys.argv[1:]))
