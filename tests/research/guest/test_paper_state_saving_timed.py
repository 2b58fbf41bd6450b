#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `./jobs/run paper-state-saving --timed --quick` in the modeled guest: all runs have one digest, the counts are
in the same order as those of cachegrind, and less than half of the TLB misses remain with huge pages."""

import json
import subprocess

from programs import CHECKOUT, Programs, python_with, rows_of

UNAVAILABLE = 77
programs = Programs()
python = python_with("matplotlib")
folder = programs.work / "series"
done = subprocess.run([python, CHECKOUT / "jobs/research/paper_state_saving", "--programs", programs.bin, "--timed",
                       "--quick", "--output", folder], capture_output=True, text=True)
if done.returncode == UNAVAILABLE:
    print(done.stderr)
    raise SystemExit(UNAVAILABLE)
programs.expect(done.returncode == 0, f"exit code {done.returncode} {done.stderr[-300:]}")
rows = rows_of(folder / "runs.csv")
programs.expect(len(rows) == 11 and len({row["digest"] for row in rows}) == 1, f"{len(rows)} runs, one digest")

summary = json.loads((folder / "summary.json").read_text())
runs = {(row["method"], row["workers"], row["change"]): row for row in summary["runs"]}


def count(column, method, change=""):
    return runs[method, 1, change]["an_event"][column]["median"]


for column in ("instructions", "stores", "loads"):
    few, many = count(column, "sequential"), count(column, "snapshot 1")
    programs.expect(0 < few < many, f"{column} per event: sequential {few:.4g}, snapshot 1 {many:.4g}")
missed = [count(column, "snapshot 1") for column in ("l2_misses", "l1_misses", "loads")]
programs.expect(0 < missed[0] <= missed[1] < missed[2], f"misses and loads per event: {missed}")
small, huge = count("tlb_misses", "snapshot 1"), count("tlb_misses", "snapshot 1", "huge pages on")
programs.expect(huge < small / 2, f"TLB misses per event: {small:.4g}, with huge pages {huge:.4g}")
one = runs["reverse", 1, ""]
programs.expect(one["slower_than_reverse"]["median"] == 1 and 0 < one["walk_share"]["median"] < 1,
                f"reverse: {one['walk_share']['median']:.3f} of the time are walks")
page = (folder / "summary.md").read_text()
programs.expect("modeled, not measured" in page and "modeled, not measured" in done.stdout
                and "modeled, not measured" in (folder / "figure-6.svg").read_text(),
                "page, terminal and picture mark modeled times")
programs.leave()
