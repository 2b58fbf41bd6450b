# SPDX-License-Identifier: Apache-2.0
"""summary.md of a series with --timed."""

from lib.series.machine import one_line
from report import PAPER, millions, shown_count
from research.series.page import beginning, digests, shown, table
from research.timed.machines import MACHINES
from research.timed.series import factors
from results import COUNTS, counted_figures
from timed import MACHINE


def page(summary):
    settings = summary["settings"]
    machine = [f"Modeled: topology {settings['topology']}, machine {MACHINE}: "
               f"{MACHINES[MACHINE].sources}.{factors(settings)}", f"On: {one_line(summary['machine'], summary['date'])}."]
    lines = beginning("State saving and reverse computation, in modeled time", " ".join(machine), summary)
    lines += ["Made by `./jobs/run paper-state-saving --timed`; [runs.csv](runs.csv) has every run. "
              f"{settings['cells']} × {settings['cells']} cells, {settings['until']:g} s of virtual time. "
              f"Runs of each kind: {settings['runs']}; seed {settings['seed']}. Shown are the median and, in brackets, "
              f"the minimum and the maximum. {PAPER}", "", *digests(summary)]
    figures = [2, 3, *counted_figures(summary)]
    for number in figures:
        lines += [f"![figure {number}](figure-{number}.svg)", ""]
    return "\n".join([*lines, *all_runs(summary)])


def all_runs(summary):
    rows = [[row["change"] or "–", row["method"], row["workers"], millions(row["rate"]), shown(row["speed_up"]),
             shown(row["slower_than_reverse"]), shown(row["walk_share"], "{:.3f}"),
             *(shown_count(row["an_event"].get(column)) for column, _ in COUNTS.values())] for row in summary["runs"]]
    return ["## All runs", "",
            "Speed-ups are relative to the sequential run without changes. Misses and instructions are counted per "
            "committed event. A TLB miss is a walk through the page table; the time of all walks is given as a share of "
            "the time of all workers.", "",
            *table(["change", "rollback", "workers", "million events/s", "speed-up", "time / time of reverse",
                    "time of walks", *(what for _, what in COUNTS.values())], rows)]
