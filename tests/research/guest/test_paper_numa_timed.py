#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `./jobs/run paper-numa --timed --quick`: the runs of figures 7 to 9, of the memory-bound model and of ranks
in the modeled guest, the summary, the page and the pictures. It does not judge the modeled times."""

import json
import subprocess

from programs import CHECKOUT, Programs, python_with, rows_of

UNAVAILABLE = 77
programs = Programs()
python = python_with("matplotlib")


def series(experiment, *options):
    """The rows of runs.csv and the summary of a --quick series."""
    folder = programs.work / experiment
    done = subprocess.run([python, CHECKOUT / "jobs/research/paper_numa", "--programs", programs.bin, "--timed", "n2",
                           "--quick", "--only", experiment, "--output", folder, *map(str, options)],
                          capture_output=True, text=True)
    if done.returncode == UNAVAILABLE:
        print(done.stderr)
        raise SystemExit(UNAVAILABLE)
    programs.expect(done.returncode == 0, f"{experiment}: exit code {done.returncode} {done.stderr[-300:]}")
    rows = {row["variant"]: row for row in rows_of(folder / "runs.csv")}
    page = (folder / "summary.md").read_text()
    programs.expect("modeled, not measured" in page and "modeled, not measured" in done.stdout,
                    f"{experiment}: page and terminal mark modeled times")
    pictures = sorted(folder.glob("*.svg"))
    programs.expect((pictures or experiment == "ranks") and all("modeled, not measured" in picture.read_text() for picture in pictures),
                    f"{experiment}: {len(pictures)} pictures, which mark modeled times")
    return rows, json.loads((folder / "summary.json").read_text()), page


rows, summary, page = series("unbalanced", "--rebind-policy", "knapsack")
programs.expect(set(rows) == {"sequential", "libc", "libc owners", "numa", "numa 4@0.001"}, f"{sorted(rows)}")
gain = float(rows["libc"]["wall_seconds"]) / float(rows["numa 4@0.001"]["wall_seconds"])
programs.expect(abs(summary["figure_9"]["4"]["0.001"]["median"] - gain) < 1e-9 and f"{gain:.2f}" in page,
                f"figure 9 is the ratio of two modeled times: {gain:.2f}")

rows, summary, page = series("memory-bound", "--machine", "ampere", "--latency-factor", 2)
remote = {name: float(row["remote_page_share"]) for name, row in rows.items()}
programs.expect(set(remote) == {"libc", "libc owners", "interleave", "local"} and remote["local"] < 0.01
                and remote["libc owners"] < 0.05 and 0.4 < remote["interleave"] < 0.6 and remote["libc"] > 0.2,
                f"remote pages: {remote}")
gain = float(rows["libc"]["wall_seconds"]) / float(rows["local"]["wall_seconds"])
found = next(row for row in summary["memory_bound"] if row["variant"] == "local")["over_libc"]["median"]
programs.expect(abs(found - gain) < 1e-9, f"speed-up over libc: {gain:.2f}")
programs.expect("machine ampere: two sockets" in page and "multiplied by 2." in page, "the page names the modeled machine")

_, summary, page = series("ranks")
for row in summary["ranks"]:
    programs.expect(row["process"]["median"] > 0 and row["ranks"]["median"] > 0 and row["workload"] in page,
                    f"{row['workload']}: one process {row['process']['median']:.4f} s, one rank per node "
                    f"{row['ranks']['median']:.4f} s")
programs.leave()
