#!/usr/bin/env python3
"""Writes the figures of a results file of `./jobs/run bench` into README.md, between the marks
`bench: begin` and `bench: end`.

usage: tests/bench/readme_table.py docs/results/bench-….json"""

import json
import re
import sys
from pathlib import Path

root = Path(__file__).resolve().parent.parent.parent

# (how it is called there, the row, two columns of it, a ratio of it)
COMPARISONS = [
    ("traffic, 1024 objects: sequential, timewarp with 2 workers", "traffic, 1024 objects",
     "sequential", "timewarp-2", "speed-up of two workers"),
    ("PHOLD 1,024 × 16 with 2 workers, with 8 workers on the same 2 cores",
     "8 workers on the cores", "timewarp-2", "timewarp-8", "share of the two-worker speed"),
    ("PHOLD 1,024 × 16 with 2 workers, the same beside a foreign process on one core",
     "foreign process on a core", "alone", "beside", "share of the speed kept"),
    ("PHOLD 1,024 × 16, 10 % remote: 2 workers in one rank, 2 ranks with one each",
     "ranks, 1024 x 16, 10 % remote", "timewarp-2", "ranks-2", "share of the two-worker speed"),
    ("the same: 2 workers in one rank, 4 ranks on the same 2 cores",
     "4 ranks on the cores", "timewarp-2", "ranks-4", "share of the two-worker speed")]


def ns(row, column):
    cell = row.get(column)
    return f"{cell['median']:.0f}" if cell else "–"


def ratio(row, label):
    value = row["ratios"].get(label)
    return f"{value:.2f}" if value is not None else "–"


def table(file):
    """The text between the marks."""
    results = json.loads(file.read_text())
    rows = results["rows"]
    name = file.relative_to(root)
    note = f"\n\nNote: {results['note']}." if "note" in results else ""
    lines = [f"""Measured with `./jobs/run bench`: PHOLD with 16 B of state, lookahead 0.1, beside `limit`, a plain
sequential loop with the same draws and the same pending set but no engine. Nanoseconds of wall time
a committed event, medians of {results['rounds']}.

Machine: {results['machine']} · compiler: {results['compiler']} · commit: {results['commit']} ·
{results['date']} · results file: [{name}]({name}){note}

| PHOLD, LPs × events | limit | sequential | timewarp, 1 worker | timewarp, 2 workers | sequential / limit | timewarp / limit | gain of the 2nd worker |
| --- | --- | --- | --- | --- | --- | --- | --- |"""]
    for row in sorted(rows, key=lambda row: [int(n) for n in re.findall(r"(\d+) %", row)]):
        shape = re.fullmatch(r"(\d+) x (\d+), (\d+) % remote", row)
        if not shape:
            continue
        cells = [ns(rows[row], c) for c in ("limit", "sequential", "timewarp", "timewarp-2")]
        cells += [ratio(rows[row], r) for r in ("sequential / limit", "timewarp / limit",
                                                "speed-up of a second worker")]
        lines.append(f"| {int(shape[1]):,} × {shape[2]}, {shape[3]} % remote | "
                     + " | ".join(cells) + " |")
    lines.append("""
| one run beside another | one | other | ratio of speeds |
| --- | --- | --- | --- |""")
    lines += [f"| {title} | {ns(rows[row], before)} | {ns(rows[row], after)} | "
              f"{ratio(rows[row], label)} |"
              for title, row, before, after, label in COMPARISONS if row in rows]
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
