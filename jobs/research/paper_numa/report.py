# SPDX-License-Identifier: Apache-2.0
"""summary.md, the main page of the results."""

from experiments import REBIND_POLICIES
from lib.series.machine import paragraph
from research.series.page import beginning, digests, shown, table

# The results of the paper, for comparison. Section 4 of the paper describes its machine.
PAPER = {6: "NUMA without daemons up to 27 % faster than glibc, with daemons up to 20 %.",
         "7": "28 to 37 over the sequential run.", "8": "up to 5.5 over NUMA without daemons.",
         "9": "up to 7 over glibc.",
         "9b": "up to 7 over glibc; the paper does not state which thread builds the objects."}
BASES = {"7": "the sequential run", "8": "NUMA without daemons", "9": "libc, built by one thread",
         "9b": "libc, built by the owners"}


def figure_6(summary):
    rows = []
    for group in summary["figure_6"]:
        for variant in group["variants"]:
            gains = variant["speed_up"]
            rows.append([f"{group['inter_arrival']} s", variant["kind"],
                         shown(variant["seconds"], "{:.3f}"),
                         *(shown(gains.get(f"over {base}"))
                           for base in ("sequential", "libc", "libc owners", "numa"))])
    settings = summary["settings"]
    return ["## Figure 6: balanced traffic, 137 objects", "",
            f"End time {settings['until']['balanced']:g} s of virtual time, no rebinding; with "
            f"daemons: {settings['balanced_daemons']}, every {settings['balanced_period']:g} s. "
            f"The paper: {PAPER[6]}", "", "![figure 6](figure-6.svg)", "",
            *table(["inter-arrival", "run", "seconds", "speed-up over sequential", "over libc",
                    "over libc owners", "over NUMA without daemons"], rows)]


def figures_7_to_9(summary):
    settings = summary["settings"]
    policy = settings["rebind_policy"] or REBIND_POLICIES[0]
    rebind = f"every {settings['rebind']:g} s by the policy {policy}" if settings["rebind"] else "off"
    lines = ["## Figures 7 to 9: unbalanced traffic, 1024 objects", "",
             f"End time {settings['until']['unbalanced']:g} s of virtual time, accidents on; "
             f"rebinding {rebind}, also in the libc runs.", ""]
    for number, base in BASES.items():
        surface = summary[f"figure_{number}"]
        lines += [f"### Figure {number}: speed-up over {base}", "",
                  f"The paper: {PAPER[number]}", "", f"![figure {number}](figure-{number}.svg)", "",
                  *table(["daemons", *(f"{period:g} s" for period in settings["periods"])],
                         [[count, *(shown(surface[count][period])
                                    for period in settings["periods"])]
                          for count in settings["daemons"]])]
    lines += ["### The runs", "",
              *table(["run", "seconds", "efficiency", "groups moved", "pages moved",
                      "remote page share"],
                     [[row["variant"], shown(row["seconds"], "{:.3f}"), shown(row["efficiency"]),
                       shown(row["groups_moved"], "{:.0f}"), shown(row["pages_moved"], "{:.0f}"),
                       shown(row["remote_page_share"], "{:.3f}")]
                      for row in summary["unbalanced"]])]
    return lines


def grain(summary):
    objects = summary["settings"]["lps_per_group"]
    return [f"Objects per group in the runs of traffic: {objects}.", ""] if objects else []


def figures(summary):
    return [*grain(summary), *(figure_6(summary) if "figure_6" in summary else []),
            *(figures_7_to_9(summary) if "figure_7" in summary else [])]


def page(summary):
    settings = summary["settings"]
    lines = beginning("The experiments of “NUMA Time Warp”, on this machine",
                      paragraph(summary["machine"], summary["date"]), summary)
    lines += [
        "Made by `./jobs/run paper-numa`; [runs.csv](runs.csv) has every run, "
        "[summary.json](summary.json) the numbers of this page, [plan.json](plan.json) the "
        f"settings. {settings['runs']} runs of each kind, seed {settings['seed']}. Each "
        "round has one run of every kind, in a new random order. "
        "Times are those of the event loop. Shown are the median and, in "
        "brackets, the minimum and the maximum. A speed-up compares two runs of the same round.", "",
        f"Scaled from the paper's 32 cores and 8 NUMA nodes: {settings['workers']} workers, one per "
        f"core; {', '.join(map(str, settings['daemons']))} daemons instead of 4, 8, 16 and 32"
        f"{' (minimum and maximum)' if settings['quick'] else ''}: multiplied by {settings['workers']}/32, at "
        "least 1, equal numbers once.", "",
        *digests(summary), *figures(summary)]
    return "\n".join(lines)
