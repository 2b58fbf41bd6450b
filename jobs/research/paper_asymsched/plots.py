# SPDX-License-Identifier: Apache-2.0
"""The picture of the series: the paper's ratios beside those of the modeled machine."""

from lib.plotting import pyplot
from research.series.figures import errors_of, save


def plot_all(folder, summary):
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
