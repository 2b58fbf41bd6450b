#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `./jobs/run paper-asymsched --quick` in the modeled guest: all runs have one digest, and a slower link to
the master makes the run slower. The best placement on three nodes is faster than the worst one."""

from modeled_series import quick_series
from programs import Programs

programs = Programs()
series = quick_series(programs, "paper_asymsched")
rows, summary = series.rows, series.summary
programs.expect(len(rows) == 11 and len({row["digest"] for row in rows}) == 3, f"{len(rows)} runs, three digests")
seconds = {row["variant"]: float(row["wall_seconds"]) for row in rows}
base = seconds["nodes 0 and 1, memory on 0"]
slow, fast = (seconds[f"nodes 0 and 3, memory on {master}"] for master in (0, 3))
programs.expect(base < fast < slow and slow > 1.5 * base, f"nodes 0 and 1: {base:.4f} s, nodes 0 and 3: {fast:.4f} "
                f"and {slow:.4f} s with memory on nodes 3 and 0")
found = next(row for row in summary["pairs"] if row["pair"] == "nodes 0 and 3, memory on 0")
programs.expect(abs(found["ratio"]["median"] - slow / base) < 1e-9 and abs(found["paper_ratio"] - 340 / 148) < 1e-9,
                f"ratios: {found['ratio']['median']:.2f}, the paper {found['paper_ratio']:.2f}")
for workload, found in summary["static"].items():
    best, worst = (row["seconds"]["median"] for row in found["rows"][:2])
    programs.expect(best < worst, f"{workload}: best {best:.4f} s, worst {worst:.4f} s")
programs.leave()
