#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `./jobs/run paper-numa --timed --quick`: the runs of figures 7 to 9, of the memory-bound model and of ranks
in the modeled guest, the summary, the page and the pictures. It does not judge the modeled times."""

from modeled_series import quick_series
from programs import Programs

programs = Programs()


def series(experiment, *options):
    """The rows of runs.csv by their variant, the summary and the page."""
    made = quick_series(programs, "paper_numa", "--timed", "n2", "--only", experiment, *options,
                        pictures=experiment != "ranks")
    return {row["variant"]: row for row in made.rows}, made.summary, made.page


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
