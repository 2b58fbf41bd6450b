# SPDX-License-Identifier: Apache-2.0
"""Means over the runs, their intervals and differences: printed, as CSV, and drawn."""

import csv
import math
import statistics

from lib.plotting import pyplot
from scipy.stats import t as student

from runs import is_close, text_of


def interval(values, confidence):
    """(mean, half the width of the interval). Requires: values are independent and nearly
    normal."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, math.nan
    quantile = float(student.ppf((1 + confidence) / 2, len(values) - 1))
    return mean, quantile * statistics.stdev(values) / math.sqrt(len(values))


def columns(series, variant):
    """{(measure, figure): values in the order of seeds} of the figures that every run has."""
    rows = [series.figures(variant, seed) for seed in range(1, series.count + 1)]
    return {key: [row[key] for row in rows] for key in rows[0] if all(key in row for row in rows)}


def runs_needed(series, given):
    """The estimated number of runs for the least precise mean: the width of an interval is
    inversely proportional to the square root of the number of runs."""
    wanted = series.count
    for variant in series.variants:
        for (_, figure), values in columns(series, variant).items():
            mean, half = interval(values, given.confidence)
            if figure == "mean" and not is_close(half, mean, given.until_precision):
                ratio = half / (given.until_precision * abs(mean)) if mean else math.inf
                more = min(given.runs_max, series.count * min(ratio, 10) ** 2)
                wanted = max(wanted, series.count + 1, math.ceil(more))
    return min(wanted, max(given.runs_max, series.count))


def write_csv(path, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def aligned(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  " + "  ".join(cell.ljust(width) if number < 2 else cell.rjust(width)
                                      for number, (cell, width) in enumerate(zip(row, widths)))
                     for row in rows)


def draw(path, found, given, runs):
    measures = list(dict.fromkeys(measure for _, measure, figure, _, _ in found if figure == "mean"))
    figure, axes = pyplot.subplots(len(measures), 1, squeeze=False, figsize=(7, 1 + 1.8 * len(measures)))
    for measure, (axis,) in zip(measures, axes):
        points = [row for row in found if row[1:3] == (measure, "mean")]
        axis.errorbar(range(len(points)), [row[3] for row in points], [row[4] for row in points],
                      fmt="o", capsize=4)
        axis.set_xticks(range(len(points)), [row[0] for row in points])
        axis.margins(x=0.2)
        axis.set_ylabel(measure)
    axes[0][0].set_title(f"{given.model}: {100 * given.confidence:g} % intervals over {runs} runs")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def unrecorded(series, variant):
    """[(measure, number of runs without a value)] of measures that some runs lack."""
    missing = {}
    for seed in range(1, series.count + 1):
        figures = series.figures(variant, seed)
        for measure in series.kept(variant, seed)["measures"]:
            missing[measure] = missing.get(measure, 0) + ((measure, "mean") not in figures)
    return [(measure, runs) for measure, runs in missing.items() if runs]


def write(series, given):
    by_variant = {text_of(variant): columns(series, variant) for variant in series.variants}
    found = [(variant, *key, *interval(values, given.confidence))
             for variant, figures in by_variant.items() for key, values in figures.items()]
    first, *others = by_variant
    differences = [(variant, *key, *interval([b - a for a, b in zip(by_variant[first][key], values)],
                                             given.confidence))
                   for variant in others for key, values in by_variant[variant].items()
                   if key in by_variant[first]]

    write_csv(given.output / "runs.csv",
              [("variant", "seed", "measure", "figure", "value"),
               *((variant, seed, *key, value) for variant, figures in by_variant.items()
                 for key, values in figures.items() for seed, value in enumerate(values, 1))])
    heads = ("variant", "measure", "figure", "mean", "half_width", "low", "high", "runs")
    for name, rows in ("intervals", found), ("differences", differences):
        if rows or name == "intervals":
            write_csv(given.output / f"{name}.csv",
                      [heads, *((*row, row[3] - row[4], row[3] + row[4], series.count) for row in rows)])
    plot = given.output / "intervals.svg"
    if found:
        draw(plot, found, given, series.count)
    else:
        plot.unlink(missing_ok=True)

    print(f"{given.model}: {series.count} runs of each variant, {100 * given.confidence:g} % intervals")
    print(aligned([("variant", "measure", "mean", "+-", "of the mean"),
                   *((variant, measure, f"{mean:.6g}", f"{half:.3g}",
                      f"{100 * half / abs(mean):.2g} %" if mean else "-")
                     for variant, measure, figure, mean, half in found if figure == "mean")]))
    if differences:
        print(f"differences from {first}, with common random numbers")
        print(aligned([("variant", "measure", "difference", "+-", "differs"),
                       *((variant, measure, f"{mean:.6g}", f"{half:.3g}", "yes" if abs(mean) > half else "no")
                         for variant, measure, figure, mean, half in differences if figure == "mean")]))
    for variant in series.variants:
        for measure, runs in unrecorded(series, variant):
            print(f"nothing recorded  {text_of(variant)}: {measure}, in {runs} of {series.count} runs: not in the tables")
    if given.until_precision:
        missed = [f"{variant}: {measure}" for variant, measure, figure, mean, half in found
                  if figure == "mean" and not is_close(half, mean, given.until_precision)]
        if missed:
            print(f"less precise than --until-precision within --runs-max {given.runs_max}: {', '.join(missed)}")
    print(f"results  {given.output}")
