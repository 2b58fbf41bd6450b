# SPDX-License-Identifier: Apache-2.0
"""summary.md: one page about all series, or about the claims."""

import json

from all_series import CLAIMS, SERIES
from lib.series.machine import one_line
from research.series.page import shown, table


def summary_of(folder, one):
    """The content of the summary.json of a series; None if there is no such file."""
    file = folder / one.folder / "summary.json"
    return json.loads(file.read_text()) if file.exists() else None


def ended(one, codes):
    return f" ended with exit code {codes[one.folder]}" if one.folder in codes else " was not run"


def claims_page(folder, codes):
    """The claims by the original model, and by the changed ones."""
    lines = ["# Claims of four papers, in modeled time", "",
             "Made by `./jobs/run papers --claims`. All values are ratios of modeled times, if the claim states nothing "
             "else. Each value of the original model is the median of its runs; the minimum and the maximum are in "
             "brackets. *Same side of 1*: whether all values of a row are above 1, or all are below 1.", ""]
    for one in (one for one in CLAIMS if not one.change):
        lines += ["", f"## {one.paper}", ""]
        variants = {other.change: summary_of(folder, other) for other in CLAIMS
                    if other.command == one.command}
        original = variants[""]
        if not original:
            lines.append(f"**No results: `./jobs/run {one.command}`{ended(one, codes)}.**")
            continue
        lines += [f"`./jobs/run {' '.join((one.command, *one.options))}`. "
                  f"{one_line(original['machine'], original['date'])}.", ""]
        for warning in original["warnings"]:
            lines += [f"**{warning}**", ""]
        for other in (other for other in CLAIMS if other.command == one.command and codes.get(other.folder)):
            lines += [f"**{other.change or 'The original series'}{ended(other, codes)}.**", ""]
        values = [{row["claim"]: row["value"] for row in summary["claims"]} if summary else {}
                  for summary in variants.values()]
        rows = [[row["claim"], row["paper"], *(shown(found.get(row["claim"])) for found in values),
                 same_side([found.get(row["claim"]) for found in values])] for row in original["claims"]]
        lines += table(["claim", "the paper", "original model", *(change for change in variants if change),
                        "same side of 1"], rows)
    return "\n".join(lines) + "\n"


def same_side(values):
    """Whether all values are above 1, or all are below 1; "–" if a value is missing."""
    if not all(values):
        return "–"
    medians = [value["median"] for value in values]
    return "yes" if all(value > 1 for value in medians) or all(value < 1 for value in medians) else "no"


def page(folder, codes):
    lines = ["# The experiments of four papers", "",
             "Made by `./jobs/run papers`. docs/papers.md compares the claims of the papers with such results."]
    for one in SERIES:
        lines += ["", f"## {one.paper}", ""]
        results = folder / one.folder
        summary = summary_of(folder, one)
        if not summary:
            lines.append(f"**No results: `./jobs/run {one.command}`{ended(one, codes)}.**")
            continue
        lines += [f"[All tables]({one.folder}/summary.md) of `./jobs/run {one.command}`. "
                  f"{one_line(summary['machine'], summary['date'])}.", ""]
        for warning in summary["warnings"]:
            lines += [f"**{warning}**", ""]
        if codes.get(one.folder):
            lines += [f"**The series{ended(one, codes)}.**", ""]
        lines += [f"![{picture.stem}]({one.folder}/{picture.name})" for picture in sorted(results.glob("*.svg"))]
    return "\n".join(lines) + "\n"
