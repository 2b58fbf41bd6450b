# SPDX-License-Identifier: Apache-2.0
"""The figure: reductions and speed over the number of ranks, with the measured reductions."""

from lib.plotting import pyplot

import model

RANKS = [2 ** exponent for exponent in range(1, 11)]
COLORS = ("#0072b2", "#e69f00", "#999999", "#009e73", "#cc79a7")


def draw_reductions(axes, fitted):
    for network, color in zip(fitted.networks, COLORS):
        axes.plot(RANKS, [model.reduce_time(ranks, network, fitted.engine) for ranks in RANKS],
                  color=color, label=f"{network.name} ({network.origin})")
        axes.plot(RANKS, [model.steps(ranks) * network.hop for ranks in RANKS], color=color,
                  linestyle=":")
    for pause, marker in (("0", "o"), ("15", "s")):
        points = [(ranks, time) for ranks, at, time in fitted.reductions if at == pause]
        axes.plot(*zip(*points), marker, color="black", markersize=4, fillstyle="none",
                  label=f"measured, {fitted.cores} cores, {pause} µs between polls")
        crowd = range(2, 9)
        axes.plot(crowd, [fitted.reduce.time(ranks, float(pause), fitted.cores) for ranks in crowd],
                  color="black", linewidth=0.6)
    axes.set(xscale="log", yscale="log", xlabel="ranks", ylabel="µs",
             title="A reduction, polled once per turn (dotted: without pause)")
    axes.legend(fontsize=7, frameon=False)


def draw_speed(axes, fitted, remote, neighbors):
    for network, color in zip(fitted.networks, COLORS):
        for style, peers_of, label in (
                ("-", lambda ranks: min(neighbors, ranks - 1), f"{neighbors} neighbors"),
                ("--", lambda ranks: ranks - 1, "all ranks")):
            shares = [model.exchange(peers_of(ranks), remote, network, fitted.engine).share
                      for ranks in RANKS]
            axes.plot(RANKS, shares, style, color=color, label=f"{network.name}, {label}")
    axes.set(xscale="log", ylim=(0, 1), xlabel="ranks", ylabel="share of the speed",
             title=f"A worker with {100 * remote:.0f} % of its events sent to …")
    axes.legend(fontsize=7, frameon=False, loc="lower left")


def draw(file, fitted, remote, neighbors):
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4.2))
    draw_reductions(left, fitted)
    draw_speed(right, fitted, remote, neighbors)
    for axes in (left, right):
        axes.set_xticks(RANKS[::3], [f"{ranks:,}" for ranks in RANKS[::3]])
        axes.minorticks_off()
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    figure.text(0.01, 0.015, "A model, not a measurement, beyond 8 ranks. Fitted on "
                f"{fitted.cpu}, {fitted.cores} cores, numawarp {fitted.commit}.", fontsize=7,
                color="#444444")
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)
