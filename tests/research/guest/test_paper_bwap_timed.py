#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `./jobs/run paper-bwap --timed --quick` in the modeled guest: pages are where each placement specifies, all
runs of a workload have one digest, and spread pages make a run faster than pages on one node. Another program runs at
the same time in a part of the runs."""

import json
import subprocess

from programs import CHECKOUT, Programs, python_with, rows_of

UNAVAILABLE = 77
programs = Programs()
python = python_with("matplotlib")
folder = programs.work / "series"
done = subprocess.run([python, CHECKOUT / "jobs/research/paper_bwap", "--programs", programs.bin, "--timed", "n4",
                       "--quick", "--output", folder], capture_output=True, text=True)
if done.returncode == UNAVAILABLE:
    print(done.stderr)
    raise SystemExit(UNAVAILABLE)
programs.expect(done.returncode == 0, f"exit code {done.returncode} {done.stderr[-300:]}")
rows = rows_of(folder / "runs.csv")
programs.expect(len(rows) == 8 and sum(row["beside"] == "1" for row in rows) == 3, f"{len(rows)} runs")
for workload in {row["workload"] for row in rows}:
    programs.expect(len({row["digest"] for row in rows if row["workload"] == workload}) == 1, f"{workload}: one digest")
for row in rows:
    programs.expect(float(row["shares_off"]) < 0.03, f"{row['variant']}: shares off by {row['shares_off']}")

summary = json.loads((folder / "summary.json").read_text())
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
page = (folder / "summary.md").read_text()
picture = (folder / "timed.svg").read_text()
programs.expect(all("modeled, not measured" in text for text in (page, done.stdout, picture)),
                "page, terminal and picture mark modeled times")
programs.expect(f"{gain:.2f}" in page, "the page has the gain")
programs.leave()
