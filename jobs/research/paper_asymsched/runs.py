# SPDX-License-Identifier: Apache-2.0
"""One run in the modeled guest, and the values that are computed from all runs."""

import json
import shutil
import tempfile
from pathlib import Path

import nodes
from experiments import BASE, FITTED, MACHINE, OVERLAP, TOPOLOGY, TWO, bandwidths
from lib.series.runner import common_row
from research.qemu import guest_series
from research.series.summary import ratio, spread, warnings_about_runs
from research.timed.series import claim, run_timed

COLUMNS = ["nodes", "master", "link_mb_s", "seconds_2", "seconds_3"]  # the times of the second and third program


def run_once(phold, plan, placement, run, on_tick):
    """(the row for runs.csv, the message if the run failed). `placement`: a Pair or a nodes.Static."""
    until = plan.until[placement.key[0]]
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        command, *others = placement.commands(phold, plan.seed, until)
        files = [Path(folder) / f"{number}.json" for number in range(2, 2 + len(others))]
        if others:
            script = Path(folder) / "together.py"
            shutil.copy(Path(__file__).with_name(script.name), script)
            others = [list(map(str, [*words, "--quiet", "--stats", file])) for words, file in zip(others, files)]
            command = ["python3", script, json.dumps(others), *command]
        outcome, _ = run_timed(
            plan, phold.parent, TOPOLOGY, command, ["--machine", MACHINE, "--instruction", plan.instruction_ns], folder,
            on_tick, OVERLAP)
        of_others = [json.loads(file.read_text()) for file in files] if outcome.code == 0 else []
    row = {**common_row(plan, placement, run, outcome, len(placement.nodes), until),
           "nodes": nodes.text(placement.sets), "master": placement.master, "link_mb_s": placement.link(bandwidths())}
    for number, stats in enumerate(of_others, 2):
        row[f"seconds_{number}"] = stats["wall_seconds"]
        row["digest"] += "-" + stats["digest"]
    return row, outcome.message


def results(plan, records):
    """The times, and their ratios to the time on nodes 0 and 1: of the paper, and here; the times on three nodes."""
    found = {**({"pairs": pairs(plan, records)} if TWO in plan.until else {}),
             "static": {name: nodes.results(planned, records, bandwidths()) for name, planned in plan.static.items()}}
    return {**found, "claims": claims(found)}


def claims(found):
    """The values that decide the claims of the paper."""
    listed = []
    if "pairs" in found:
        slowest = max(found["pairs"], key=lambda row: row["paper_ratio"])
        listed.append(claim(f"{slowest['pair']}: time / time on nodes 0 and 1", slowest["ratio"],
                            f"{slowest['paper_ratio']:.2f}"))
    for workload, one in found["static"].items():
        by_name = {row["name"]: row for row in one["rows"]}
        for name in ("worst static", "AsymSched, from the worst"):
            listed.append(claim(f"{workload}, {name}: time / time of the best", by_name[name]["over_best"], "–"))
    return listed


def pairs(plan, records):
    rows = []
    for pair in plan.pairs():
        here = spread(records.of(pair, "wall_seconds").values())
        rows.append({"pair": pair.name, "link_mb_s": pair.link(bandwidths()), "paper_seconds": pair.seconds,
                     "seconds": here, "paper_ratio": pair.seconds / BASE.seconds,
                     "ratio": ratio(records, pair, BASE, "wall_seconds"), "fitted": pair == FITTED})
    for row in rows:
        row["difference"] = row["ratio"] and row["ratio"]["median"] / row["paper_ratio"] - 1
    return rows


def warnings(plan, records):
    return [guest_series.MODELED, *warnings_about_runs(plan, records)]
