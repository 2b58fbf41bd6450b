# SPDX-License-Identifier: Apache-2.0
"""The figures with the paper's numbers: curves over the number of workers, and bars for counts with
one worker."""

from lib.plotting import pyplot
from research.series.figures import errors_of, save

from results import counted_figures

COLORS = {"sequential": "Greys", "reverse": "Blues", "copy": "Greens", "snapshot": "Oranges",
           "containers": "Purples"}
# Interval between saved states -> shade and mark.
MARKS = {"1": (0.95, "o"), "4": (0.8, "s"), "16": (0.65, "^"), "auto": (0.5, "D")}
BARS = ("#4477aa", "#ddaa33", "#999999")


# The values that the text of the paper states, on 15 processors. State saving in the paper is like `copy 1` here.
PAPER = {"figure-2": {"reverse": 730e3, "copy 1": 115e3}, "figure-3": {"reverse": 13.8}}
PAPER_WORKERS = 15


def style_of(method):
    shade, mark = MARKS.get(method.split()[-1], (0.8, "o"))
    return {"color": pyplot.get_cmap(COLORS[method.split()[0]])(shade), "marker": mark}


def curves(folder, name, summary, methods, figure_of, title, label):
    """Draws figure_of(point) over the number of workers, one curve for each method."""
    figure, axes = pyplot.subplots(figsize=(8, 5))
    for method, points in methods.items():
        known = [(int(workers), figure_of(point)) for workers, point in points.items()
                 if figure_of(point)]
        if not known:
            continue
        values = [value for _, value in known]
        style = style_of(method)
        if "sequential" in method:
            axes.axhline(values[0]["median"], color=style["color"], linestyle=":", label=method)
            continue
        axes.errorbar([workers for workers, _ in known], [value["median"] for value in values],
                      yerr=errors_of(values), label=method, capsize=3, markersize=4, linewidth=1.2,
                      **style)
    if PAPER_WORKERS in summary["settings"]["worker_counts"]:
        for method, value in PAPER.get(name, {}).items():
            axes.plot([PAPER_WORKERS], [value], linestyle="", markersize=11, label=f"the paper, {method}",
                      color=style_of(method)["color"], marker="*", markeredgecolor="black")
    axes.set_xticks(summary["settings"]["worker_counts"])
    axes.set_xlabel("workers")
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    axes.set_title(title)
    axes.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    save(figure, folder, name, summary)


def bars(folder, name, summary, column, title, label):
    """Draws one bar for each method and each simulated machine."""
    places = summary["counts"]
    methods = list(dict.fromkeys(method for counted in places.values() for method in counted
                                 if any(column in point for point in counted[method].values())))
    figure, axes = pyplot.subplots(figsize=(8, 2.2 + 0.28 * len(methods) * len(places)))
    height = 0.8 / len(places)
    for place, (where, counted) in enumerate(places.items()):
        for index, method in enumerate(methods):
            value = next(iter(counted.get(method, {}).values()), {}).get(column)
            if value is None:
                continue
            y = index + (place - (len(places) - 1) / 2) * height
            axes.barh(y, value["median"], height * 0.92, color=BARS[place % len(BARS)],
                      label=where if index == 0 else None, xerr=errors_of([value]))
            axes.annotate(f"{value['median']:.4g}", (value["max"], y), xytext=(3, 0),
                          textcoords="offset points", va="center", fontsize=7)
    axes.set_yticks(range(len(methods)), methods)
    axes.invert_yaxis()
    axes.set_xlabel(label)
    axes.set_title(title)
    axes.legend(frameon=False, fontsize=7)
    save(figure, folder, name, summary)


def plot_rates(folder, summary):
    methods = summary["rates"]
    curves(folder, "figure-2", summary, methods, lambda point: point["rate"],
           "Figure 2: event rate", "committed events per second")
    curves(folder, "figure-3", summary, methods, lambda point: point["speed_up"],
           "Figure 3: speed-up over the sequential run", "speed-up")


def plot_counts(folder, summary):
    for number, (column, what) in counted_figures(summary).items():
        title, label = f"Figure {number}: {what} per committed event", f"{what} per committed event"
        by_workers = summary["counts"].get(summary["settings"]["counts"])
        if by_workers:
            curves(folder, f"figure-{number}", summary, by_workers,
                   lambda point, column=column: point.get(column), title, label)
        else:
            bars(folder, f"figure-{number}", summary, column, title, label)


def plot_all(folder, summary):
    if "rates" in summary:
        plot_rates(folder, summary)
    if summary["counts"]:
        plot_counts(folder, summary)
