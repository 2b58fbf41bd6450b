# SPDX-License-Identifier: Apache-2.0
"""The pictures of the series: the paper's ratios beside those of the modeled machine, and the times of static
placements."""

from lib.plotting import pyplot
from nodes import text
from research.series.figures import errors_of, save


def plot_all(folder, summary):
    if "pairs" in summary:
        plot_pairs(folder, summary)
    for workload, results in summary["static"].items():
        plot_static(folder, summary, workload, [one for one in results["placements"] if one["seconds"]])


def plot_static(folder, summary, workload, found):
    """Each placement by the sum of its links, by which AsymSched decides."""
    figure, axes = pyplot.subplots(figsize=(7.5, 4.2))
    slowest = sorted({one["links"][0][0] for one in found})
    for index, link in enumerate(slowest):
        some = [one for one in found if one["links"][0][0] == link]
        times = [{name: 1000 * one["seconds"][name] for name in ("median", "min", "max")} for one in some]
        axes.errorbar([one["links"][0][1] for one in some], [time["median"] for time in times], yerr=errors_of(times),
                      linestyle="", marker="o^s"[index % 3], capsize=3, label=f"slowest link {link:,} MB/s")
        for one, time in zip(some, times):
            axes.annotate(text(one["nodes"][0]), (one["links"][0][1], time["median"]), xytext=(5, 4),
                          textcoords="offset points", fontsize=7)
    axes.set_xlabel("sum of the links between the nodes, MB/s")
    axes.set_ylabel("modeled time, ms")
    axes.set_title(workload.capitalize())
    axes.legend(frameon=False)
    save(figure, folder, workload.replace(" ", "-"), summary)


def plot_pairs(folder, summary):
    rows = [row for row in summary["pairs"] if row["ratio"]]
    figure, axes = pyplot.subplots(figsize=(7.5, 4.2))
    places = range(len(rows))
    axes.bar([place - 0.2 for place in places], [row["paper_ratio"] for row in rows], 0.38, color="#999999",
             label="the paper: streamcluster, measured")
    axes.bar([place + 0.2 for place in places], [row["ratio"]["median"] for row in rows], 0.38, color="#0072b2",
             label="here: PHOLD with large states, modeled", yerr=errors_of([row["ratio"] for row in rows]), capsize=3)
    axes.set_xticks(places, [f"{row['pair'].replace(', ', chr(10))}\n{row['link_mb_s']:,} MB/s" for row in rows],
                    fontsize=7)
    axes.set_ylabel("time, relative to nodes 0 and 1")
    axes.set_title("One program on two nodes")
    axes.legend(frameon=False)
    save(figure, folder, "pairs", summary)
