#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `./jobs/run paper-bwap --timed --quick` in the modeled guest: pages are where each placement specifies, all
runs of a workload have one digest, and spread pages make a run faster than pages on one node. Another program runs at
the same time in a part of the runs."""

from modeled_series import quick_series
from programs import Programs

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
programs.leave()
