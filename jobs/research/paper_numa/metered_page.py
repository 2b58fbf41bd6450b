# SPDX-License-Identifier: Apache-2.0
"""summary.md of a series with --meter."""

from lib.series.machine import one_line
from metered import CACHES, SHARE_MOVED
from report import grain
from research.series.page import beginning, digests, shown, table

SURFACES = {"7": ("Figure 7: local share of accesses to memory", "{:.3f}",
                  "The paper's figure shows a speed-up over the sequential run; emulated time cannot show a speed-up."),
            "8": ("Figure 8: NUMA without daemons over NUMA with daemons, by the estimates", "{:.3f}",
                  "The paper, in time: up to 5.5."),
            "9": ("Figure 9: libc, built by one thread, over NUMA with daemons, by the estimates", "{:.3f}",
                  "The paper, in time: up to 7."),
            "9b": ("Figure 9b: libc, built by the owners, over NUMA with daemons, by the estimates", "{:.3f}",
                   "The paper does not state which thread builds the objects.")}


def runs(rows):
    return table(["run", "local share", "to memory, per event", "passed, per event", "estimate, ns per event",
                  "groups moved", "pages moved"],
                 [[f"{row['workload']}, {row['variant']}", shown(row["local_share"], "{:.3f}"),
                   shown(row["memory_an_event"]), shown(row["passed_an_event"]),
                   shown(row["estimate_ns"], "{:.0f}"), shown(row["groups_moved"], "{:.0f}"),
                   shown(row["pages_moved"], "{:.0f}")] for row in rows])


def page(summary):
    settings = summary["settings"]
    machine = (f"Emulated: topology {settings['topology']}, {settings['workers']} workers, caches of {CACHES}. "
               f"On: {one_line(summary['machine'], summary['date'])}.")
    lines = beginning("The experiments of “NUMA Time Warp”, by the meter", machine, summary)
    lines += ["Made by `./jobs/run paper-numa --meter`; [runs.csv](runs.csv) has every run. Counts are those of the "
              "event loop. An access goes to memory if no cache of its node has the line, and is passed if "
              "another node wrote the line last and has it in its caches. The estimate is the CPU time of an "
              "event: the instructions of execution, rollback and commit, and each of their misses with its latency; "
              "mail and GVT are left out, because the waiting times there depend on the load of the host. "
              f"{settings['runs']} runs of each kind, seed {settings['seed']}; shown are the median and, in "
              "brackets, the minimum and the maximum.", "",
              *digests(summary), *grain(summary)]
    if "balanced" in settings["experiments"]:
        lines += ["## Figure 6: balanced traffic, 137 objects", "",
                  f"End time {settings['until']['balanced']:g} s of virtual time, no rebinding.", "",
                  "![figure 6](figure-6.svg)", "",
                  *runs([row for row in summary["metered"] if row["workload"] != "unbalanced"])]
    if "unbalanced" in settings["experiments"]:
        lines += ["## Figures 7 to 9: unbalanced traffic, 1024 objects", "",
                  f"End time {settings['until']['unbalanced']:g} s of virtual time. "
                  + (f"Every {settings['rebind']:g} s a share of {SHARE_MOVED:g} of the groups, chosen at random, "
                     "changes its worker, also in the libc runs; the counts begin after the first change."
                     if settings["rebind"] else "No rebinding."), ""]
        for number, (title, form, paper) in SURFACES.items():
            surface = summary[f"figure_{number}"]
            lines += [f"### {title}", "", paper, "", f"![figure {number}](figure-{number}.svg)", "",
                      *table(["daemons", *(f"{period:g} s" for period in settings["periods"])],
                             [[count, *(shown(surface[count][period], form) for period in settings["periods"])]
                              for count in settings["daemons"]])]
        lines += ["### The runs", "",
                  *runs([row for row in summary["metered"] if row["workload"] == "unbalanced"])]
    return "\n".join(lines)
