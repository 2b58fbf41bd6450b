# SPDX-License-Identifier: Apache-2.0
"""summary.md, the main page of the results."""

from lib import number_text
from lib.series.machine import paragraph
from research.series.page import beginning, digests, shown, table

from geometry import Geometry
from results import counted_figures

# The results of the paper, on 15 processors of an SGI Origin 2000.
PAPER = "The paper: 730,000 events/s by reverse computation and 115,000 by state saving, on 15 " \
        "processors; speed-ups over its sequential simulator of 13.8 and about 2."


def millions(value):
    return shown(value and {**value, **{name: value[name] / 1e6 for name in ("median", "min", "max")}},
                 "{:.3f}")


def figures_2_and_3(summary):
    settings = summary["settings"]
    workers = settings["worker_counts"]
    rows = []
    for method, points in summary["rates"].items():
        for count, point in points.items():
            rows.append([method, count, millions(point["rate"]), shown(point["speed_up"]),
                         number_text.percent((point["efficiency"] or {}).get("median"))])
    return ["## Figures 2 and 3: event rate and speed-up", "",
            f"{settings['cells']} × {settings['cells']} cells, {settings['until']:g} s of virtual time, "
            f"{', '.join(map(str, workers))} worker{'s' * (workers != [1])}. Rates are millions of "
            "committed events per second; a speed-up is relative to the sequential run with the same states in "
            f"the same round. {PAPER}", "", "![figure 2](figure-2.svg)", "",
            "![figure 3](figure-3.svg)", "",
            *table(["rollback", "workers", "million events/s", "speed-up", "efficiency"], rows)]


def counted_where(summary):
    """Paragraphs about the source of the counts."""
    if "hardware" in summary["counts"]:
        return ["Counted by the machine's counters around the event loop of each worker."]
    settings = summary["settings"]
    begin, end = settings["count_until"]
    return ["Counted by cachegrind with one worker: the counts of a run to virtual time "
            f"{end:g} s minus those of a run to {begin:g} s, for each event committed in between. Prefetches "
            "are not simulated: a prefetched line counts as a miss when it is used. TLB "
            "misses are those of a first-level cache whose lines are pages.",
            *(f"`{geometry['name']}`: {Geometry(**geometry).text()}."
              for geometry in settings["geometries"])]


def figures_4_to_9(summary):
    lines = ["## Figures 4 to 9: the cost of one committed event", ""]
    for text in counted_where(summary):
        lines += [text, ""]
    counts = counted_figures(summary)
    for number in counts:
        lines += [f"![figure {number}](figure-{number}.svg)", ""]
    for where, methods in summary["counts"].items():
        rows = [[method, workers, *(shown_count(point.get(column)) for column, _ in counts.values())]
                for method, points in methods.items() for workers, point in points.items()]
        lines += [f"### {where}", "",
                  *table(["rollback", "workers", *(what for _, what in counts.values())], rows)]
    return lines


def shown_count(value):
    """The text of a count, without a spread if there is one run."""
    if value and value["runs"] == 1:
        return f"{value['median']:.4g}"
    return shown(value, "{:.4g}")


def later_work(summary):
    rows = [[row["change"], row["method"], row["workers"], millions(row["rate"]),
             shown(row["speed_up"])] for row in summary["later"]]
    return ["## Future work of the paper", "",
            "The speed-up is relative to the same run with the defaults: `--huge-pages auto`, and prefetching. "
            "(The table above has the TLB misses with huge pages.) With `copy` at every event, event and state are in "
            "one block for states up to 128 bytes (a cell has 104): the undo bytes are in the history entry of the "
            "event. With a larger interval, and with `snapshot`, a saved state is a separate block.", "",
            *table(["change", "rollback", "workers", "million events/s", "speed-up"], rows)]


def page(summary):
    lines = beginning("The cost of state saving on this machine", paragraph(summary["machine"], summary["date"]), summary)
    settings = summary["settings"]
    lines += ["Made by `./jobs/run paper-state-saving`; [runs.csv](runs.csv) has every run, "
              "[summary.json](summary.json) the numbers of this page, [plan.json](plan.json) the "
              f"settings. Rates: {settings['runs']} runs of each kind, seed {settings['seed']}. Each "
              "round has one run of every kind, in a new random order. Times are those of the event loop. Shown "
              "are the median and, in brackets, the minimum and the maximum.", "",
              *digests(summary)]
    if "rates" in summary:
        lines += figures_2_and_3(summary)
    if summary["counts"]:
        lines += figures_4_to_9(summary)
    if "later" in summary:
        lines += later_work(summary)
    return "\n".join(lines)
