# SPDX-License-Identifier: Apache-2.0
"""summary.md, the page of the series."""

import nodes
from experiments import LPS, MACHINE, OVERLAP, STATE_BYTES, THREE, TOPOLOGY, TWO
from lib.series.machine import one_line
from research.series.page import beginning, digests, milliseconds, shown, table
from research.timed.series import factors


def page(summary):
    settings = summary["settings"]
    machine = (f"Modeled: topology {TOPOLOGY}, one CPU on each node, bandwidths of {MACHINE.rpartition('#')[2]} in "
               f"jobs/research/paper_bwap/machines.json, {settings['instruction_ns']:g} ns per instruction, "
               f"{OVERLAP} misses at the same time, latencies and overlap as modeled.{factors(settings)} "
               f"On: {one_line(summary['machine'], summary['date'])}.")
    return "\n".join([
        *beginning("A program on some nodes of the AsymSched machine, in modeled time", machine, summary),
        "Made by `./jobs/run paper-asymsched`; [runs.csv](runs.csv) has every run. "
        f"Runs of each kind: {settings['runs']}; seed {settings['seed']}. Shown are the median and, in brackets, the "
        "minimum and the maximum.", "", *digests(summary),
        *(two_nodes(summary) if "pairs" in summary else []),
        *(three_nodes(summary) if "three_nodes" in summary else [])])


def two_nodes(summary):
    rows = [[row["pair"], row["link_mb_s"], row["paper_seconds"], f"{row['paper_ratio']:.2f}",
             milliseconds(row["seconds"], "{:.1f}"),
             shown(row["ratio"]), "fitted" if row["fitted"] else
             "–" if row["difference"] is None else f"{100 * row['difference']:+.0f} %"] for row in summary["pairs"]]
    return ["## Two nodes", "",
            f"PHOLD with {LPS:,} LPs of {STATE_BYTES} bytes on the conservative engine until "
            f"{summary['settings']['until'][TWO]:g}; all memory is on one node. The paper: streamcluster (slide 5). The "
            "ratios are to the time on nodes 0 and 1. The time of an instruction was chosen so that the ratio of nodes 0 "
            "and 4 is near that of the paper; the other ratios follow from the bandwidths.", "", "![ratios](pairs.svg)", "",
            *table(["run", "MB/s of the link", "paper, s", "paper, ratio", "here, ms", "here, ratio", "difference"], rows)]


def three_nodes(summary):
    found = summary["three_nodes"]

    def text(placement):
        return " ".join(map(str, placement))

    rows = [[row["name"], ", ".join(map(text, row["nodes"])), ", ".join(str(slowest) for slowest, _ in row["links"]),
             milliseconds(row["seconds"], "{:.1f}")] for row in found["rows"]]
    placements = [[text(one["nodes"]), *one["links"], milliseconds(one["seconds"], "{:.1f}"), shown(one["ratio"])]
                  for one in found["placements"]]
    return ["## Three nodes", "",
            f"PHOLD in Time Warp with one worker on each node, {nodes.LPS:,} LPs, and messages of {nodes.PAYLOAD_BYTES} "
            f"bytes to random LPs, until {summary['settings']['until'][THREE]:g}. A placement is as good as "
            "its slowest link; if the slowest links of two placements are equally fast, the sum of all links decides. AsymSched decides by the sum of the links, and accepts each sum above 0.9 of the largest sum.",
            "", "![times of the placements](three-nodes.svg)", "", *table(["placement", "nodes", "MB/s of the slowest link", "here, ms"], rows),
            "All placements that were run:", "",
            *table(["nodes", "MB/s of the slowest link", "MB/s of all links", "here, ms", "time / time of the best"],
                   placements)]
