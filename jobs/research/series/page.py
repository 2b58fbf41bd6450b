# SPDX-License-Identifier: Apache-2.0
"""Helpers that format summary.md, the page about a series."""


def shown(value, form="{:.2f}"):
    if value is None:
        return "–"
    median, least, most = (form.format(value[name]) for name in ("median", "min", "max"))
    return median if value["runs"] == 1 else f"{median} ({least}–{most})"


def milliseconds(value, form="{:.2f}"):
    """shown() of a spread of seconds."""
    return shown(value and {name: number * 1000 if name != "runs" else number for name, number in value.items()}, form)


def beginning(title, machine, summary):
    """The first lines of a page. `machine`: a paragraph."""
    lines = [f"# {title}", "", machine, ""]
    for warning in summary["warnings"]:
        lines += [f"**{warning}**", ""]
    return lines


def digests(summary):
    return ["Every run of a workload had the same digest: "
            + ", ".join(f"{name} `{digest}`" for name, digest in sorted(summary["digests"].items())) + ".", ""]


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows] + [""]
