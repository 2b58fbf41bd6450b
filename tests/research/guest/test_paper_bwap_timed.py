#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `./jobs/run paper-bwap --timed --quick` in the modeled guest: pages are where each placement specifies, all
runs of a workload have one digest, and spread pages make a run faster than pages on one node. Another program runs at
the same time in a part of the runs. This series has no AutoNUMA. So spread_pages.py runs in a guest without
modeled time: the kernel moves pages from the first node to the node of their workers."""

import json
import shutil
import sys

from modeled_series import quick_series
from programs import CHECKOUT, Programs

sys.path.insert(0, str(CHECKOUT / "tests/guest"))
import guest  # noqa: E402

programs = Programs()
series = quick_series(programs, "paper_bwap", "--timed", "n4")
rows, summary = series.rows, series.summary
programs.expect(len(rows) == 8 and sum(row["beside"] == "1" for row in rows) == 3, f"{len(rows)} runs")
for workload in {row["workload"] for row in rows}:
    programs.expect(len({row["digest"] for row in rows if row["workload"] == workload}) == 1, f"{workload}: one digest")
for row in rows:
    programs.expect(float(row["shares_off"]) < 0.03, f"{row['variant']}: shares off by {row['shares_off']}")

alone, beside = summary["groups"]
programs.expect((alone["nodes"], alone["beside"], beside["nodes"], beside["beside"]) == ([0, 1], False, [0], True),
                f"groups: {alone['nodes']} and {beside['nodes']}")


def seconds(group, placement):
    return next(row["seconds"]["median"] for row in group["rows"] if row["placement"] == placement)


first, workers, every, bwap = (seconds(alone, placement) for placement in (
    "first touch by one thread", "uniform workers", "uniform all", "BWAP"))
programs.expect(first > 1.2 * workers and first > 1.2 * bwap, f"all pages on one node: {first:.4f} s, on the worker "
                f"nodes: {workers:.4f} s, BWAP: {bwap:.4f} s")
gain = next(row["gain_of_bwap"]["median"] for row in alone["rows"] if row["placement"] == "uniform all")
programs.expect(abs(gain - every / bwap) < 1e-9, f"the speed of BWAP relative to uniform all: {gain:.2f}")
programs.expect(f"{gain:.2f}" in series.page, "the page has the gain")

# --- AutoNUMA ---

LPS, STATE_BYTES, WORKERS = 3840, 4096, 4
script, stats = programs.work / "spread_pages.py", programs.work / "autonuma.json"
shutil.copy(CHECKOUT / "jobs/research/paper_bwap" / script.name, script)
settings = {"weights": [], "beside": [], "autonuma": {"node": 0, "threads": WORKERS, "bytes": LPS * STATE_BYTES}}
done = guest.run("2:320M,2:320M", "python3", script, json.dumps(settings), programs.bin / "phold", "--lps", LPS,
                 "--state", STATE_BYTES, "--touch", STATE_BYTES, "--lookahead", 0.5, "--until", 60, "--engine",
                 "conservative", "--memory", "libc", "--workers", WORKERS, "--stats", stats, "--quiet",
                 options=["--accel", "multi", "--rw", programs.work, "--ro", programs.bin])
programs.expect(done.returncode == 0, f"AutoNUMA: exit code {done.returncode} {done.stderr[-300:]}")
moved = int((programs.work / "pages_migrated").read_text())
held = json.loads(stats.read_text())["numa"]["placement"]["state"]["bytes_by_node"]
programs.expect(moved > LPS / 10, f"AutoNUMA: the kernel moved {moved} pages; bytes of the states on the nodes: {held}")
programs.leave()
