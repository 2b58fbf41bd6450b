#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the figures of a results file of `./jobs/run bench` into README.md (a summary) and
docs/performance.md (all tables), each between the marks `bench: begin` and `bench: end`.

usage: tests/bench/readme_table.py docs/results/bench-….json"""

import json
import os
import re
import sys
from pathlib import Path

root = Path(__file__).resolve().parent.parent.parent

ENGINES = ["sequential", "timewarp", "timewarp-2"]
# Ratios of speeds: of the second column to the first.
SPEEDS = [("limit", "sequential"), ("sequential", "timewarp"), ("sequential", "timewarp-2"),
          ("timewarp", "timewarp-2")]
AUTO = ["conservative", "timewarp", "auto"]
ROLLBACKS = ["sequential", "reverse", "copy", "snapshot", "snapshot, interval 1"]

# The rows of the README's table. In the last row, a second worker gains little.
SUMMARY = ["traffic, 1024 objects", "1024 x 16, 10 % remote", "65536 x 16, 10 % remote",
           "65536 x 1, 100 % remote"]

# (title in the table, row, its two columns)
COMPARISONS = [
    ("PHOLD 1,024 × 16, 10 % remote: first 2 workers in one rank, second 2 ranks with one worker each",
     "ranks, 1024 x 16, 10 % remote", "timewarp-2", "ranks-2"),
    ("PHOLD 1,024 × 16, 10 % remote: first 2 workers in one rank, second 4 ranks on the same 2 cores",
     "4 ranks on the cores", "timewarp-2", "ranks-4")]


def ns(row, column):
    cell = row.get(column)
    return f"{cell['median']:.0f}" if cell else "–"


def millions(row, column):
    """Million events per second."""
    cell = row.get(column)
    return f"{1000 / cell['median']:.1f}" if cell else "–"


def speed(row, slower, faster):
    """The speed of `faster` divided by the speed of `slower`."""
    if slower not in row or faster not in row:
        return "–"
    return f"{row[slower]['median'] / row[faster]['median']:.2f}"


def title(name):
    """The title of a row of the bench in the table of engines, or None if the table does not
    contain the row."""
    shape = re.fullmatch(r"(\d+) x (\d+), (\d+) % remote", name)
    if shape:
        return f"PHOLD {int(shape[1]):,} × {shape[2]}, {shape[3]} % remote"
    return name if name.startswith("traffic") else None


def engine_lines(rows):
    """The rows of PHOLD, ordered by the share of remote events, and then the other models."""
    named = [(name, title(name)) for name in rows if title(name)]
    named.sort(key=lambda pair: [int(n) for n in re.findall(r"(\d+) %", pair[1])] or [101])
    for name, its_title in named:
        cells = [ns(rows[name], column) for column in ("limit", *ENGINES)]
        cells += [speed(rows[name], *pair) for pair in SPEEDS]
        yield f"| {its_title} | " + " | ".join(cells) + " |"


def crowded_lines(rows):
    """The row in which workers and other busy processes share the cores."""
    for name, row in rows.items():
        if "1 worker" not in row:
            continue
        yield f"\n| PHOLD {name} | ns | share of the fair speed | target |\n| --- | --- | --- | --- |"
        for label, ratio in row["ratios"].items():
            column = label.partition(", ")[2]
            yield f"| {column} | {ns(row, column)} | {ratio['ratio']:.2f} | {ratio['wanted']} |"


def auto_lines(rows):
    """The rows in which --engine auto is compared with each engine."""
    for name, row in rows.items():
        if name.startswith("auto, "):
            model = name.removeprefix("auto, ")
            yield (f"| {title(model) or model} | " + " | ".join(ns(row, column) for column in AUTO) +
                   f" | {speed(row, 'timewarp', 'auto')} | {speed(row, 'conservative', 'auto')} |")


def rollback_lines(rows):
    """The rows of PCS."""
    for name, row in rows.items():
        if name.startswith("PCS"):
            yield f"| {name} | " + " | ".join(ns(row, column) for column in ROLLBACKS) + " |"


def source(results, file, folder):
    """Machine, compiler, commit, date and a link to the results file, for a page in `folder`."""
    name = os.path.relpath(file, folder)
    note = f"\n\nNote: {results['note']}." if "note" in results else ""
    return f"""Machine: {results['machine']} · compiler: {results['compiler']} · commit: {results['commit']} ·
{results['date']} · results file: [{name}]({name}){note}"""


def summary(file, folder):
    """The text between the marks of a README in `folder`."""
    results = json.loads(file.read_text())
    rows = results["rows"]
    lines = ["""| million events per second | sequential engine | 2 workers | speedup |
| --- | --- | --- | --- |"""]
    for name in SUMMARY:
        row = {"sequential": rows[name]["sequential"], **rows[f"auto, {name}"]}
        lines.append(f"| {title(name)} | {millions(row, 'sequential')} | {millions(row, 'auto')} | "
                     f"{speed(row, 'sequential', 'auto')} |")
    lines.append(f"\nMedians of {results['rounds']} runs. {source(results, file, folder)}")
    return "\n".join(lines)


def table(file, folder):
    """The text between the marks of docs/performance.md; `folder` is the folder of the page."""
    results = json.loads(file.read_text())
    rows = results["rows"]
    lines = [f"""{source(results, file, folder)}

### Engines

Nanoseconds of wall time per committed event, medians of {results['rounds']} runs. The four columns on the right are
ratios of speeds: a ratio above 1 means that the first of the two is faster.

| model, LPs × events | limit | sequential | timewarp, 1 worker | timewarp, 2 workers | sequential / limit | \
1 worker / sequential | 2 workers / sequential | 2 workers / 1 worker |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |"""]
    lines += engine_lines(rows)
    lines.append("""
### The default engine

Nanoseconds of wall time per committed event, two workers. `--engine auto` begins with the conservative engine, and Time
Warp continues the run [if it is faster](decisions/0037-engines-in-turn.md). The columns on the right are ratios of speeds.

| model | conservative | timewarp | auto | auto / timewarp | auto / conservative |
| --- | --- | --- | --- | --- | --- |""")
    lines += auto_lines(rows)
    lines.append("""
### More workers, ranks or processes than cores

Nanoseconds of wall time per committed event. *beside 1* means: beside 1 other busy process on the machine.""")
    lines += crowded_lines(rows)
    lines.append("""
### Workers and ranks

Nanoseconds of wall time per committed event. The ratio is the speed of the second run divided by that of the first.

| two runs | first | second | ratio |
| --- | --- | --- | --- |""")
    lines += [f"| {text} | {ns(rows[row], before)} | {ns(rows[row], after)} | "
              f"{speed(rows[row], before, after)} |"
              for text, row, before, after in COMPARISONS if row in rows]
    lines.append("""
### Methods of rollback

Nanoseconds of wall time per committed event of [PCS](models/pcs.md). Time Warp has one worker here, so that no event
is rolled back. *the past kept*: with `--keep-safe-events on`, which keeps the history of every event; the other rows
keep no history, because one worker executes irrevocably. *interval 1*: `--state-saving-interval 1`.

| model | sequential | reverse | copy | snapshot | snapshot, interval 1 |
| --- | --- | --- | --- | --- | --- |""")
    lines += rollback_lines(rows)
    return "\n".join(lines)


def replaced(page, text):
    """The page's text with `text` between the marks."""
    begin = page.index("-->", page.index("<!-- bench: begin")) + 4
    end = page.index("<!-- bench: end -->")
    return page[:begin] + "\n" + text + "\n\n" + page[end:]


def pages(file, root=root):
    """(page, the text that it should have) for each page with figures of the bench."""
    for name, make in ("README.md", summary), ("docs/performance.md", table):
        page = root / name
        yield page, replaced(page.read_text(), make(file, page.parent))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for page, text in pages(Path(sys.argv[1]).resolve()):
        page.write_text(text)
