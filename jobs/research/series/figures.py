# SPDX-License-Identifier: Apache-2.0
"""The figures of a series, each as SVG and PNG. The text below each figure contains the machine and
the warnings of the series."""

import textwrap

from lib.plotting import pyplot
from lib.series.machine import one_line

pyplot.rcParams["figure.dpi"] = 150


def save(figure, folder, name, summary):
    machine = one_line(summary["machine"], summary["date"])
    footer = textwrap.fill(machine, 130)
    notices = "\n".join(textwrap.fill(text, 130) for text in summary["warnings"])
    lines = footer.count("\n") + 1 + (notices.count("\n") + 1 if notices else 0)
    inch = 1 / figure.get_figheight()
    room = (0.17 * lines + 0.1) * inch
    figure.tight_layout(rect=(0, room, 1, 1))
    figure.text(0.01, room - 0.05 * inch, footer, fontsize=7, color="#444444", va="top")
    if notices:
        below = room - (0.05 + 0.17 * (footer.count("\n") + 1)) * inch
        figure.text(0.01, below, notices, fontsize=7, color="#b00020", va="top")
    for ending in ("svg", "png"):
        metadata = {"Date": None} if ending == "svg" else None
        figure.savefig(folder / f"{name}.{ending}", metadata=metadata)
    pyplot.close(figure)


def errors_of(values):
    """The distances from each median to the minimum and to the maximum, in matplotlib's format."""
    return [[value["median"] - value["min"] for value in values],
            [value["max"] - value["median"] for value in values]]
