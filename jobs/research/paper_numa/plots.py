# SPDX-License-Identifier: Apache-2.0
"""The figures with the paper's numbers.

The paper shows figures 7 to 9 as surfaces over daemons and periods. The values of a surface cannot
be read, and its back is hidden. Therefore each of these figures is a heat map with numbers, next to
a diagram of lines with their spread."""

import math

from lib.plotting import pyplot
from research.series.figures import errors_of, save

KINDS = {"sequential": ("sequential", "#999999"), "libc": ("libc, built by one thread", "#e69f00"),
         "libc owners": ("libc, built by the owners", "#f0d080"),
         "numa": ("NUMA, no daemons", "#7fbfe6"),
         "numa with daemons": ("NUMA with daemons", "#0072b2")}
# Figure number -> (label of the axis, title).
SURFACES = {number: ("speed-up", "speed-up of {} over " + base) for number, base in
            (("7", "the sequential run"), ("8", "NUMA without daemons"), ("9", "libc, built by one thread"),
             ("9b", "libc, built by the owners"))}
# Speed-ups that the paper's text states. Figure 6: the maximum over libc; figure 7: a range; figures 8 and 9: the
# maximum, twice.
PAPER = {"6": 1.27, "7": (28, 37), "8": (5.5, 5.5), "9": (7, 7), "9b": (7, 7)}
METERED_SURFACES = {
    "7": ("local share", "local share of accesses to memory of {}"),
    **{number: ("ratio of estimates", "estimates, " + base + " over {}")
       for number, base in (("8", "NUMA without daemons"), ("9", "libc, built by one thread"),
                            ("9b", "libc, built by the owners"))}}


def plot_figure_6(folder, summary):
    groups = summary["figure_6"]
    figure, axes = pyplot.subplots(figsize=(7.5, 4.4))
    width = 0.8 / len(KINDS)
    for place, (kind, (label, color)) in enumerate(KINDS.items()):
        for index, group in enumerate(groups):
            value = next(variant["seconds"] for variant in group["variants"]
                         if variant["kind"] == kind)
            if value is None:
                continue
            x = index + (place - (len(KINDS) - 1) / 2) * width
            axes.bar(x, value["median"], width * 0.92, color=color,
                     label=label if index == 0 else None, yerr=errors_of([value]), capsize=3,
                     error_kw={"linewidth": 1})
            axes.annotate(f"{value['median']:.3g}", (x, value["max"]), xytext=(0, 3),
                          textcoords="offset points", ha="center", fontsize=7)
    label = "the paper: libc / 1.27, the largest gain"
    for index, group in enumerate(groups):
        libc = next(variant["seconds"] for variant in group["variants"] if variant["kind"] == "libc")
        if libc:
            axes.hlines(libc["median"] / PAPER["6"], index - 0.42, index + 0.42, color="#d55e00", linestyle=":", label=label)
            label = None
    axes.set_xticks(range(len(groups)), [f"{group['inter_arrival']} s" for group in groups])
    axes.set_xlabel("mean time between cars that enter at a junction")
    axes.set_ylabel("execution time, s: median, minimum and maximum")
    axes.set_title("Figure 6: balanced traffic, 137 objects")
    axes.legend(frameon=False, loc="upper left")
    save(figure, folder, "figure-6", summary)


def heat_map(figure, axes, surface, daemons, periods):
    cells = [[(surface[count][period] or {}).get("median", float("nan")) for period in periods]
             for count in daemons]
    image = axes.imshow(cells, cmap="viridis", aspect="auto", origin="lower")
    for row, values in enumerate(cells):
        for column, value in enumerate(values):
            # Low values of viridis are dark and need white text.
            known = not math.isnan(value)
            dark = known and image.norm(value) < 0.6
            axes.text(column, row, f"{value:.3g}" if known else "–", ha="center", va="center",
                      color="white" if dark else "black")
    axes.set_xticks(range(len(periods)), [f"{period:g}" for period in periods])
    axes.set_yticks(range(len(daemons)), [str(count) for count in daemons])
    axes.set_xlabel("period of the daemons, s")
    axes.set_ylabel("daemons")
    axes.set_title("median")
    figure.colorbar(image, ax=axes)


def lines(axes, surface, daemons, periods, axis):
    colors = pyplot.get_cmap("plasma")
    for index, count in enumerate(daemons):
        known = [(period, surface[count][period]) for period in periods if surface[count][period]]
        # The lines are shifted against each other, so that their spreads do not overlap.
        shift = (index - (len(daemons) - 1) / 2) * (periods[-1] - periods[0]) * 0.012
        axes.errorbar([period + shift for period, _ in known],
                      [value["median"] for _, value in known],
                      yerr=errors_of([value for _, value in known]),
                      color=colors(0.85 * index / max(1, len(daemons) - 1)), marker="o",
                      markersize=4, capsize=3, linewidth=1.2,
                      label=f"{count} daemon{'s' * (count != 1)}")
    axes.set_xticks(periods, [f"{period:g}" for period in periods])
    axes.set_xlabel("period of the daemons, s")
    axes.set_ylabel(axis)
    axes.set_title("median, minimum and maximum of the runs")
    axes.legend(frameon=False)


def plot_surface(folder, summary, number):
    axis, title = (METERED_SURFACES if "metered" in summary else SURFACES)[number]
    surface = summary[f"figure_{number}"]
    daemons, periods = (summary["settings"][name] for name in ("daemons", "periods"))
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.5, 4.2))
    heat_map(figure, left, surface, daemons, periods)
    lines(right, surface, daemons, periods, axis)
    if number != "7":
        right.axhline(1, color="#999999", linewidth=0.8, linestyle=":")
    if "metered" not in summary:
        least, most = PAPER[number]
        right.axhspan(least, most, color="#d55e00", alpha=0.4,
                      label="the paper, 32 cores" if least < most else "the paper's maximum, 32 cores")
        right.legend(frameon=False)
    figure.suptitle(f"Figure {number}: unbalanced traffic, 1024 objects: "
                    + title.format("NUMA with daemons"))
    save(figure, folder, f"figure-{number}", summary)


def plot_metered_figure_6(folder, summary):
    rows = [row for row in summary["metered"] if row["workload"] != "unbalanced"]
    kinds = list(KINDS.values())[1:]
    figure, axes = pyplot.subplots(figsize=(7.5, 4.4))
    for index, row in enumerate(rows):
        label, color = kinds[index % len(kinds)]
        value = row["local_share"]
        if value is None:
            continue
        x = index // len(kinds) + (index % len(kinds) - (len(kinds) - 1) / 2) * 0.21
        axes.bar(x, value["median"], 0.19, color=color, label=label if index < len(kinds) else None,
                 yerr=errors_of([value]), capsize=3, error_kw={"linewidth": 1})
        axes.annotate(f"{value['median']:.3f}", (x, value["max"]), xytext=(0, 3),
                      textcoords="offset points", ha="center", fontsize=7)
    workloads = list(dict.fromkeys(row["workload"] for row in rows))
    axes.set_xticks(range(len(workloads)), [f"{name.removeprefix('balanced-')} s" for name in workloads])
    axes.set_xlabel("mean time between cars that enter at a junction")
    axes.set_ylabel("local share of accesses to memory")
    axes.set_ylim(0, 1.25)
    axes.set_title("Figure 6, by the meter: balanced traffic, 137 objects")
    axes.legend(frameon=False, ncols=2, loc="upper center")
    save(figure, folder, "figure-6", summary)


def plot_memory_bound(folder, summary):
    rows = [row for row in summary["memory_bound"] if row["seconds"]]
    figure, axes = pyplot.subplots(figsize=(7.5, 0.5 * len(rows) + 1.6))
    values = [{name: 1000 * row["seconds"][name] for name in ("median", "min", "max")} for row in rows]
    axes.barh([row["variant"] for row in rows], [value["median"] for value in values], color="#0072b2",
              xerr=errors_of(values), capsize=3)
    for place, value in enumerate(values):
        axes.annotate(f"{value['median']:.3g}", (value["max"], place), xytext=(4, 0), textcoords="offset points",
                      va="center", fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("modeled time, ms: median, minimum and maximum")
    axes.set_title("PHOLD with large states")
    save(figure, folder, "memory-bound", summary)


def plot_all(folder, summary):
    if "metered" in summary and "balanced" in summary["settings"]["experiments"]:
        plot_metered_figure_6(folder, summary)
    if "figure_6" in summary:
        plot_figure_6(folder, summary)
    if "memory_bound" in summary:
        plot_memory_bound(folder, summary)
    for number in SURFACES:
        if f"figure_{number}" in summary:
            plot_surface(folder, summary, number)
