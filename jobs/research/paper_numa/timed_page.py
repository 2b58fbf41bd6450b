# SPDX-License-Identifier: Apache-2.0
"""summary.md of a series with --timed."""

from lib.series.machine import one_line
from report import figures
from research.series.page import beginning, digests, milliseconds, shown, table
from research.timed.machines import MACHINES
from research.timed.series import factors
from timed import MOVED_REBIND, SCALE, SHARE_MOVED, STATE_BYTES


def memory_bound(summary):
    rows = [[row["variant"], milliseconds(row["seconds"]), shown(row["over_libc"]),
             shown(row["remote_page_share"], "{:.3f}")] for row in summary["memory_bound"]]
    return ["## A memory-bound model", "",
            f"PHOLD with states of {STATE_BYTES} bytes. Each event reads and writes its whole state. End time "
            f"{summary['settings']['until']['memory-bound']:g}, no rebinding, no huge pages. libc: one thread builds "
            "all LPs. libc owners: each worker builds its own LPs. interleave: the "
            "pages are on all nodes in turn. local: the pages are on their worker's node.", "",
            "![memory-bound model](memory-bound.svg)", "",
            *table(["run", "ms", "speed-up over libc", "remote page share"], rows)]


def moved(summary):
    rows = [[row["variant"], milliseconds(row["seconds"]), shown(row["over_numa"]),
             *(shown(row[name], "{:.0f}") for name in ("groups_moved", "pages_moved")),
             shown(row["remote_page_share"], "{:.3f}")] for row in summary["moved"]]
    return ["## A memory-bound model whose groups move", "",
            f"The model of the previous section, end time {summary['settings']['until']['moved']:g}. Every {MOVED_REBIND:g} s, "
            f"{SHARE_MOVED:.0%} of the groups, chosen at random, move to other workers. Without daemons, their pages stay where "
            "they are.", "",
            *table(["run", "ms", "speed-up over no daemons", "groups moved", "pages moved", "remote page share"], rows)]


def ranks(summary):
    rows = [[row["workload"], milliseconds(row["process"]), milliseconds(row["ranks"]), shown(row["speed_up"])]
            for row in summary["ranks"]]
    return ["## One process, or one rank per node", "",
            f"PHOLD in Time Warp, end time {summary['settings']['until']['ranks']:g}. One process has a worker on each "
            "node. Ranks have one worker each, and exchange events through MPI.", "",
            *table(["PHOLD", "one process, ms", "one rank per node, ms", "speed-up by ranks"], rows)]


def page(summary):
    settings = summary["settings"]
    modeled = settings["modeled"]
    machine = [f"Modeled: topology {settings['topology']}, {settings['workers']} workers, machine "
               + (f"{modeled}: {MACHINES[modeled].sources}." if modeled else "with the distances of the topology.")
               + factors(settings),
               f"On: {one_line(summary['machine'], summary['date'])}."]
    lines = beginning("The experiments of “NUMA Time Warp”, in modeled time", " ".join(machine), summary)
    lines += ["Made by `./jobs/run paper-numa --timed`; [runs.csv](runs.csv) has every run. "
              f"Runs of each kind: {settings['runs']}; seed {settings['seed']}. Each round has one run of every kind. "
              "Times are modeled times of the event loop. Shown are the median and, in brackets, the minimum and the "
              f"maximum. The daemons' periods are the paper's periods, divided by {SCALE:,}, because the runs are "
              "shorter.", "", *digests(summary), *figures(summary),
              *(memory_bound(summary) if "memory_bound" in summary else []),
              *(moved(summary) if "moved" in summary else []),
              *(ranks(summary) if "ranks" in summary else [])]
    return "\n".join(lines)
