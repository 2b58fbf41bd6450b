#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `./jobs/run paper-state-saving --timed --quick` in the modeled guest: all runs have one digest, the counts are
in the same order as those of cachegrind, and less than half of the TLB misses remain with huge pages."""

from modeled_series import quick_series
from programs import Programs

programs = Programs()
series = quick_series(programs, "paper_state_saving", "--timed")
rows = series.rows
programs.expect(len(rows) == 11 and len({row["digest"] for row in rows}) == 1, f"{len(rows)} runs, one digest")

runs = {(row["method"], row["workers"], row["change"]): row for row in series.summary["runs"]}


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
programs.leave()
