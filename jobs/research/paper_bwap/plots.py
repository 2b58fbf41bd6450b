# SPDX-License-Identifier: Apache-2.0
"""The figures. Without --meter: speed over the number of worker nodes. Each placement is shown by
its median over all sets of nodes. BWAP and uniform workers are also shown by their range. With
--meter: the bounds."""

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
