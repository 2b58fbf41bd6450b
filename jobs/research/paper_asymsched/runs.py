# SPDX-License-Identifier: Apache-2.0
"""One run in the modeled guest, and the values that are computed from all runs."""

import tempfile

import nodes
from experiments import BASE, FITTED, MACHINE, OVERLAP, PAIRS, TOPOLOGY, TWO, bandwidths
from lib.series.runner import common_row
from research.qemu import guest_series
from research.series.summary import ratio, spread, warnings_about_runs
from research.timed.version import check_version

COLUMNS = ["nodes", "master", "link_mb_s"]


def demand_guest(series, programs):
    """Raises ProgramFailed if something that the runs need is missing."""
    guest_series.demand_guest("timed", series, programs, check_version)


def run_once(phold, plan, placement, run, on_tick):
    """(the row for runs.csv, the message if the run failed). `placement`: a Pair or a nodes.Static."""
    until = plan.until[placement.key[0]]
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        outcome, _ = guest_series.run_in_guest(
            "timed", phold.parent, TOPOLOGY, placement.command(phold, plan.seed, until),
            ["--machine", MACHINE, "--instruction", plan.instruction_ns, "--overlap", OVERLAP,
             "--latency-factor", plan.latency_factor], folder, on_tick)
    return {**common_row(plan, placement, run, outcome, len(placement.nodes), until),
            "nodes": " ".join(map(str, placement.nodes)), "master": placement.master,
            "link_mb_s": placement.link(bandwidths())}, outcome.message


def results(plan, records):
    """The times, and their ratios to the time on nodes 0 and 1: of the paper, and here; the times on three nodes."""
    return {**({"pairs": pairs(records)} if TWO in plan.until else {}),
            **({"three_nodes": nodes.results(plan.three_nodes, records, bandwidths())} if plan.three_nodes else {})}


def pairs(records):
    rows = []
    for pair in PAIRS:
        here = spread(records.of(pair, "wall_seconds").values())
        rows.append({"pair": pair.name, "link_mb_s": pair.link(bandwidths()), "paper_seconds": pair.seconds,
                     "seconds": here, "paper_ratio": pair.seconds / BASE.seconds,
                     "ratio": ratio(records, pair, BASE, "wall_seconds"), "fitted": pair == FITTED})
    for row in rows:
        row["difference"] = row["ratio"] and row["ratio"]["median"] / row["paper_ratio"] - 1
    return rows


def warnings(plan, records):
    return [guest_series.MODELED, *warnings_about_runs(plan, records)]
