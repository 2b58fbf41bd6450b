# SPDX-License-Identifier: Apache-2.0
"""summary.md of a series with --timed."""

from lib.series.machine import one_line
from report import digests, figures
from research.series.page import shown, table
from timed import SCALE, SHARE_MOVED, STATE_BYTES


def memory_bound(summary):
    settings = summary["settings"]
    return ["## A memory-bound model", "",
            f"PHOLD with states of {STATE_BYTES} bytes. Each event reads and writes its whole state. End time "
            f"{settings['until']['memory-bound']:g}. libc: one thread builds all LPs, as in the paper's baseline. "
            f"interleave: the pages are on all nodes in turn. local: the pages are on the node of their worker. moved: "
            f"every {1000 * settings['move_period']:g} ms, a share of {SHARE_MOVED:g} of the groups, chosen at random, "
            "changes its worker; the last two numbers are the daemons and their period in seconds.", "",
            "![memory-bound model](memory-bound.svg)", "",
            *table(["run", "ms", "speed-up over libc", "speed-up over moved without daemons", "pages moved"],
                   [[row["variant"], milliseconds(row["seconds"]), shown(row["over_libc"]),
                     shown(row["over_no_daemons"]), shown(row["pages_moved"], "{:.0f}")]
                    for row in summary["memory_bound"]])]


def milliseconds(value):
    return shown(value and {name: number * 1000 if name != "runs" else number for name, number in value.items()})


def page(summary):
    settings = summary["settings"]
    machine = settings["modeled"] or "the distances of the topology"
    factor = f", latencies multiplied by {settings['latency_factor']:g}" if settings["latency_factor"] != 1 else ""
    lines = ["# The experiments of “NUMA Time Warp”, in modeled time", "",
             f"Modeled: topology {settings['topology']}, machine {machine}{factor}, {settings['workers']} workers. "
             f"On: {one_line(summary['machine'], summary['date'])}.", ""]
    for warning in summary["warnings"]:
        lines += [f"**{warning}**", ""]
    lines += ["Made by `./jobs/run paper-numa --timed`; [runs.csv](runs.csv) has every run. "
              f"{settings['runs']} runs of each kind, seed {settings['seed']}; each round has one run of every kind. "
              "Times are modeled times of the event loop. Shown are the median and, in brackets, the minimum and the "
              f"maximum. All periods are those of the paper, divided by {SCALE:,}, because the runs are shorter.", "",
              *digests(summary), *figures(summary),
              *(memory_bound(summary) if "memory_bound" in summary else [])]
    return "\n".join(lines)
