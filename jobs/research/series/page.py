# SPDX-License-Identifier: Apache-2.0
"""Helpers that format summary.md, the page about a series."""


def shown(value, form="{:.2f}"):
    if value is None:
        return "–"
    median, least, most = (form.format(value[name]) for name in ("median", "min", "max"))
    return median if value["runs"] == 1 else f"{median} ({least}–{most})"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows] + [""]
