#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests 100,000 LPs, each in a group with its own pages. The number of mappings stays well below
vm.max_map_count (65,530), although memory that is not allocated is protected. The start is fast,
groups that receive no mail take no memory for mail, and the end is equally fast if neighboring
groups belong to different workers."""

import json
import subprocess
import sys
import time
from pathlib import Path

from programs import Programs

programs = Programs()
MiB = 1 << 20
GROUPS = 100_000
MAPPINGS_MAX = 33_000  # two for each cell of 8 slots, and a reserve
SECONDS_MAX = 120
START_SECONDS_MAX = 30


def watch(remote):
    """The statistics of a run, its largest number of mappings, and how often the mappings were
    counted."""
    stats = programs.work / "stats.json"
    run = subprocess.Popen(
        [programs.bin / "phold", "--lps", str(GROUPS), "--lps-per-group", "1", "--events-per-lp", "1",
         "--remote", str(remote),
         "--engine", "timewarp", "--workers", "2", "--until", "15", "--quiet", "--stats", stats])
    most, looks = 0, 0
    while run.poll() is None:
        try:
            most = max(most, len(Path(f"/proc/{run.pid}/maps").read_bytes().splitlines()))
            looks += 1
        except OSError:
            pass  # the run has just ended
        time.sleep(0.02)
    if run.returncode != 0:
        sys.exit(f"phold with {GROUPS} groups: exit code {run.returncode}")
    return json.loads(stats.read_text()), most, looks


alone, mappings, looks = watch(0)
programs.expect(alone["groups"] == GROUPS, f"{alone['groups']} groups")
# A quiet machine needs some seconds; the limit is higher because other tests may run.
programs.expect(alone["setup_seconds"] < START_SECONDS_MAX, f"start-up in {alone['setup_seconds']:.2f} s")
programs.expect(looks >= 5 and 10_000 < mappings < MAPPINGS_MAX,
                f"at most {mappings} mappings in {looks} samples")
mail = alone["memory"]["by_kind"]["bottom_halves"]
programs.expect(mail < 64 * MiB, f"{mail / MiB:.1f} MiB of bottom halves if no mail is sent")

busy, mappings, looks = watch(0.05)
mail = busy["memory"]["by_kind"]
programs.expect(busy["events_crossed"] > 0 and 0 < mail["mail_rings"] < MiB and mail["bottom_halves"] < 64 * MiB,
                f"if mail is sent, {mail['bottom_halves'] / MiB:.1f} MiB, and {mail['mail_rings'] >> 10} KiB of rings")
programs.expect(mappings < MAPPINGS_MAX, f"    and at most {mappings} mappings")

# This run took half an hour before each thread stored the address range of its stack.
stats = programs.work / "moved.json"
began = time.monotonic()
subprocess.run(
    [programs.bin / "phold", "--lps", str(GROUPS), "--lps-per-group", "1", "--events-per-lp", "1", "--workers",
     "2", "--until", "1", "--rebind", "0.01", "--check-rebind", "0.5", "--quiet", "--stats", stats],
    timeout=SECONDS_MAX, check=True)
seconds = time.monotonic() - began
moved = json.loads(stats.read_text())
programs.expect(moved["numa"]["groups_moved"] > GROUPS / 10,
                f"{moved['numa']['groups_moved']} groups moved, the run ended after {seconds:.1f} s")

programs.leave()
