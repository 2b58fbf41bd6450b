# SPDX-License-Identifier: Apache-2.0
"""summary.md, one page about all series."""

import json

from all_series import SERIES
from lib.series.machine import one_line


def page(folder, codes):
    lines = ["# The experiments of four papers", "",
             "Made by `./jobs/run papers`. docs/papers.md compares the claims of the papers with such results."]
    for one in SERIES:
        lines += ["", f"## {one.paper}", ""]
        results = folder / one.folder
        if not (results / "summary.json").exists():
            lines.append(f"**No results: `./jobs/run {one.command}` ended with exit code {codes[one.folder]}.**")
            continue
        summary = json.loads((results / "summary.json").read_text())
        lines += [f"[All tables]({one.folder}/summary.md) of `./jobs/run {one.command}`. "
                  f"{one_line(summary['machine'], summary['date'])}.", ""]
        for warning in summary["warnings"]:
            lines += [f"**{warning}**", ""]
        if codes[one.folder] != 0:
            lines += [f"**The series ended with exit code {codes[one.folder]}.**", ""]
        lines += [f"![{picture.stem}]({one.folder}/{picture.name})" for picture in sorted(results.glob("*.svg"))]
    return "\n".join(lines) + "\n"
