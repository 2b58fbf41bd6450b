# SPDX-License-Identifier: Apache-2.0
"""The figures. Without --meter and --timed: speed over the number of worker nodes. Each placement is shown by
its median over all sets of nodes. BWAP and uniform workers are also shown by their range. With
--meter: the bounds. With --timed: modeled time over proximity."""

from lib.plotting import pyplot
from research.series.figures import save

from model import PLACEMENTS

COLORS = dict(zip(PLACEMENTS, ("#999999", "#e69f00", "#56b4e9", "#009e73", "#d55e00", "#000000"), strict=True))


def draw(file, result):
    machines = result["machines"]
    figure, panels = pyplot.subplots(1, len(machines), figsize=(4.8 * len(machines), 4), sharey=True,
                                     squeeze=False)
    for axes, (name, machine) in zip(panels[0], machines.items(), strict=True):
        counts = [row["worker_nodes"] for row in machine["rows"]]
        for placement in PLACEMENTS:
            speeds = [row["mb_s"][placement] for row in machine["rows"]]
            axes.plot(counts, [speed["median"] / 1000 for speed in speeds], marker=".",
                      linestyle=":" if placement == "local" else "-", color=COLORS[placement],
                      label=placement)
            if placement in ("BWAP", "uniform workers"):
                axes.fill_between(counts, [speed["least"] / 1000 for speed in speeds],
                                  [speed["most"] / 1000 for speed in speeds],
                                  color=COLORS[placement], alpha=0.15, linewidth=0)
        axes.set(title=name, xlabel="worker nodes", xticks=counts)
    panels[0][0].set_ylim(bottom=0)
    panels[0][0].set_ylabel("GB/s per worker, by the model")
    panels[0][0].legend(fontsize=7, frameon=False)
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    figure.text(0.01, 0.015, "A model, not a measurement: the minimum of bandwidth / share. Medians over all sets "
                "of nodes; shaded: the range over all sets.", fontsize=7, color="#444444")
    for suffix in ("svg", "png"):
        figure.savefig(file.with_suffix("." + suffix), dpi=120,
                       metadata={"Date": None} if suffix == "svg" else None)
    pyplot.close(figure)


# --- With --meter ------------------------------------------------------------------------------

BOUNDS = {"wait_ns": "each access waits, ns", "pair_ns": "busiest pair, ns per access",
          "memory_ns": "busiest memory, ns per access"}
METERED_COLORS = {**COLORS, "first touch (local)": COLORS["local"]}


def plot_all(folder, summary):
    (plot_timed if "groups" in summary else plot_metered)(folder, summary)


def plot_metered(folder, summary):
    machines = summary["machines"]
    figure, panels = pyplot.subplots(len(BOUNDS), len(machines), figsize=(4.8 * len(machines), 9), sharex="col",
                                     squeeze=False)
    for row, (bound, label) in zip(panels, BOUNDS.items(), strict=True):
        for axes, (name, machine) in zip(row, machines.items(), strict=True):
            counts = [len(of_nodes["nodes"]) for of_nodes in machine["worker_nodes"]]
            for placement in machine["worker_nodes"][0][bound]:
                found = [of_nodes[bound][placement] for of_nodes in machine["worker_nodes"]]
                axes.plot(counts, [one["ns"] if one else float("nan") for one in found], marker=".",
                          linestyle=":" if placement == "first touch (local)" else "-",
                          color=METERED_COLORS[placement], label=placement)
            axes.set(title=name, xticks=counts)
            axes.set_ylim(bottom=0)
        row[0].set_ylabel(label)
    for axes in panels[-1]:
        axes.set_xlabel("worker nodes")
    panels[0][0].legend(fontsize=7, frameon=False)
    save(figure, folder, "metered", summary)


# --- With --timed ------------------------------------------------------------------------------

TIMED_COLORS = {**COLORS, "first touch by one thread": COLORS["first touch"], "AutoNUMA": "#cc79a7"}


def plot_timed(folder, summary):
    groups = summary["groups"]
    columns = (len(groups) + 1) // 2
    figure, panels = pyplot.subplots(2, columns, figsize=(3.6 * columns, 6.5), squeeze=False)
    for axes, group in zip(panels.flat, groups):
        for placement in dict.fromkeys(row["placement"] for row in group["rows"]):
            rows = [row for row in group["rows"] if row["placement"] == placement and row["seconds"]]
            times = [1000 * row["seconds"]["median"] for row in rows]
            if rows and rows[0]["proximity"] is None:
                axes.axhline(times[0], linestyle=":", color=TIMED_COLORS[placement], label=placement)
            else:
                axes.plot([row["proximity"] for row in rows], times, marker=".", color=TIMED_COLORS[placement],
                          label=placement)
        count = len(group["nodes"])
        axes.set(title=f"{count} worker node{'s' * (count != 1)}" + ", beside a program" * group["beside"]
                 + ", long runs" * group["long"],
                 xlabel="proximity", ylabel="modeled ms", xlim=(-0.05, 1.05))
        axes.set_ylim(bottom=0)
        if group["long"]:  # has a placement that the other panels do not have
            axes.legend(fontsize=7, frameon=False)
    for axes in panels.flat[len(groups):]:
        axes.axis("off")
    panels[0][0].legend(fontsize=7, frameon=False)
    save(figure, folder, "timed", summary)
