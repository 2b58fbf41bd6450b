# SPDX-License-Identifier: Apache-2.0
"""summary.md, the page of the series."""

import nodes
from experiments import LPS, MACHINE, OVERLAP, STATE_BYTES, TOPOLOGY, TWO
from lib.series.machine import one_line
from research.series.page import beginning, digests, milliseconds, shown, table
from research.timed.series import factors


def page(summary):
    settings = summary["settings"]
    machine = (f"Modeled: topology {TOPOLOGY}, one CPU on each node, bandwidths of {MACHINE.rpartition('#')[2]} in "
               f"jobs/research/paper_bwap/machines.json, {settings['instruction_ns']:g} ns per instruction, "
               f"{OVERLAP} misses at the same time.{factors(settings)} "
               f"On: {one_line(summary['machine'], summary['date'])}.")
    return "\n".join([
        *beginning("A program on some nodes of the AsymSched machine, in modeled time", machine, summary),
        "Made by `./jobs/run paper-asymsched`; [runs.csv](runs.csv) has every run. "
        f"Runs of each kind: {settings['runs']}; seed {settings['seed']}. Shown are the median and, in brackets, the "
        "minimum and the maximum.", "", *digests(summary),
        *(two_nodes(summary) if "pairs" in summary else []),
        *(line for workload in summary["static"] for line in static(summary, workload))])


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


def static(summary, workload):
    found = summary["static"][workload]
    experiment = next(one for one in nodes.EXPERIMENTS if one.workload == workload)
    programs = len(experiment.sizes)
    rows = [[row["name"], "; ".join(map(nodes.text, row["nodes"])), ", ".join(str(slowest) for slowest, _ in row["links"]),
             milliseconds(row["seconds"], "{:.1f}"), shown(row["over_best"])] for row in found["rows"]]
    every = [[nodes.text(one["nodes"][0]), *one["links"][0], milliseconds(one["seconds"], "{:.1f}"), shown(one["over_best"])]
             for one in found["placements"]]
    return [f"## {workload.capitalize()}", "",
            ("PHOLD in Time Warp" if programs == 1 else f"{programs} runs of PHOLD in Time Warp at the same time")
            + f" with one worker on each node, {nodes.LPS_A_NODE:,} LPs for each node, and messages of "
            f"{nodes.PAYLOAD_BYTES} bytes to random LPs, until {summary['settings']['until'][workload]:g}. A program is as "
            "fast as its slowest link; placements with equally slow links are compared by the sum of all links. AsymSched "
            "decides by the sum of the links, and accepts each sum above 0.9 of the largest sum."
            + " Times are means over the programs." * (programs > 1),
            "", f"![times of the placements]({workload.replace(' ', '-')}.svg)", "",
            *table(["placement", "nodes", "MB/s of the slowest link", "here, ms", "time / time of the best"], rows),
            "All placements that were run:", "",
            *table(["nodes", "MB/s of the slowest link", "MB/s of all links", "here, ms", "time / time of the best"], every)]
