#!/usr/bin/env python3
"""Writes the figures of a results file of `./jobs/run bench` into README.md, between the marks
`bench: begin` and `bench: end`.

usage: tests/bench/readme_table.py docs/results/bench-….json"""

import json
import re
import sys
from pathlib import Path

root = Path(__file__).resolve().parent.parent.parent

ENGINES = ["sequential", "timewarp", "timewarp-2"]
# Ratios of speeds: of the second column to the first.
SPEEDS = [("limit", "sequential"), ("sequential", "timewarp"), ("sequential", "timewarp-2"),
          ("timewarp", "timewarp-2")]

# (how it is called there, the row, two columns of it)
COMPARISONS = [
    ("PHOLD 1,024 × 16, 10 % remote: 2 workers in one rank, 2 ranks with one each",
     "ranks, 1024 x 16, 10 % remote", "timewarp-2", "ranks-2"),
    ("the same: 2 workers in one rank, 4 ranks on the same 2 cores",
     "4 ranks on the cores", "timewarp-2", "ranks-4")]


def ns(row, column):
    cell = row.get(column)
    return f"{cell['median']:.0f}" if cell else "–"


def speed(row, slower, faster):
    """Of `faster` by that of `slower`."""
    if slower not in row or faster not in row:
        return "–"
    return f"{row[slower]['median'] / row[faster]['median']:.2f}"


def title(name):
    """How the table calls a row that has columns of engines; None: it is not in this table."""
    shape = re.fullmatch(r"(\d+) x (\d+), (\d+) % remote", name)
    if shape:
        return f"PHOLD {int(shape[1]):,} × {shape[2]}, {shape[3]} % remote"
    return name if name.startswith("traffic") else None


def engine_lines(rows):
    """Ordered by the share of remote events, what is not PHOLD last."""
    named = [(name, title(name)) for name in rows if title(name)]
    named.sort(key=lambda pair: [int(n) for n in re.findall(r"(\d+) %", pair[1])] or [101])
    for name, its_title in named:
        cells = [ns(rows[name], column) for column in ("limit", *ENGINES)]
        cells += [speed(rows[name], *pair) for pair in SPEEDS]
        yield f"| {its_title} | " + " | ".join(cells) + " |"


def crowded_lines(rows):
    """Of the row in which workers and foreign processes share cores."""
    for name, row in rows.items():
        if "1 worker" not in row:
            continue
        yield f"\n| PHOLD {name} | ns | share of the fair speed | wanted |\n| --- | --- | --- | --- |"
        for label, ratio in row["ratios"].items():
            column = label.partition(", ")[2]
            yield f"| {column} | {ns(row, column)} | {ratio['ratio']:.2f} | {ratio['wanted']} |"


def table(file, root=root):
    """The text between the marks, in a README in `root`."""
    results = json.loads(file.read_text())
    rows = results["rows"]
    name = file.relative_to(root)
    note = f"\n\nNote: {results['note']}." if "note" in results else ""
    lines = [f"""Measured with `./jobs/run bench`: PHOLD with 16 B of state, lookahead 0.1, beside `limit`, a plain
sequential loop with the same draws and the same pending set but no engine. Nanoseconds of wall time
a committed event, medians of {results['rounds']}; on the right ratios of speeds, above 1 where the first is the
faster one.

Machine: {results['machine']} · compiler: {results['compiler']} · commit: {results['commit']} ·
{results['date']} · results file: [{name}]({name}){note}

| model, LPs × events | limit | sequential | timewarp, 1 worker | timewarp, 2 workers | sequential against limit | 1 worker against sequential | 2 workers against sequential | 2 workers against 1 |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |"""]
    lines += engine_lines(rows)
    lines += crowded_lines(rows)
    lines.append("""
| one run beside another | one | other | ratio of speeds |
| --- | --- | --- | --- |""")
    lines += [f"| {text} | {ns(rows[row], before)} | {ns(rows[row], after)} | "
              f"{speed(rows[row], before, after)} |"
              for text, row, before, after in COMPARISONS if row in rows]
    return "\n".join(lines)


def replaced(readme, text):
    """The README with this text between the marks."""
    begin = readme.index("-->", readme.index("<!-- bench: begin")) + 4
    end = readme.index("<!-- bench: end -->")
    return readme[:begin] + "\n" + text + "\n\n" + readme[end:]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    page = root / "README.md"
    page.write_text(replaced(page.read_text(), table(Path(sys.argv[1]).resolve())))
