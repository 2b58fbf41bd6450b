# SPDX-License-Identifier: Apache-2.0
"""Runs in the modeled guest: decides where the kernel puts new pages, then runs a command.

usage: spread_pages.py SETTINGS COMMAND...

SETTINGS is JSON: `weights`, one number for each node, or an empty list if each page belongs on the node of the thread
that touches it first; `beside`, another command that runs at the same time, or an empty list."""

import ctypes
import json
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


def main(settings, *command):
    settings = json.loads(settings)
    # A huge page would put 512 neighboring pages on one node.
    write("/sys/kernel/mm/transparent_hugepage/enabled", "never")
    other = subprocess.Popen(settings["beside"], stdout=subprocess.DEVNULL) if settings["beside"] else None
    if other:
        time.sleep(BUILDING_SECONDS)
    if settings["weights"]:
        spread(settings["weights"])
    code = subprocess.call(command)
    if other:
        if other.poll() is not None:
            sys.exit("the other program ended too early")
        other.kill()
        other.wait()
    return code


sys.exit(main(*sys.argv[1:]))
