#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `./jobs/run bench`: every run of every row is shortened, reaches its end, and yields a
figure. The ratios and the tables of README.md and docs/performance.md are computed from these
figures. The test does not check the speed."""

import json
import re
import sys

from programs import CHECKOUT, Programs

sys.path[:0] = [str(CHECKOUT / folder) for folder in ("jobs", "jobs/bench", "tests/bench")]
import measure  # noqa: E402
import readme_table  # noqa: E402
import results  # noqa: E402
import rows  # noqa: E402

LESS = [(r"--until \S+", "--until 1.5"), (r"--lps \d{5,}", "--lps 4096"), (r" \d{8}$", " 1000"),
        (r"^pcs ", "pcs --width 12 --height 12 "),
        (r"--blocks (\d+)000", r"--blocks \1"),
        (r"^((?:bank|car_wash|channel|gas_station|machine_shop|movies) .*)--until \S+", r"\1--until 300")]


def shorter(row):
    def less(run):
        if run.lengths:
            return run._replace(lengths=tuple(max(1, length // 4) for length in run.lengths))
        command = run.command
        for pattern, replacement in LESS:
            command = re.sub(pattern, replacement, command)
        return run._replace(command=command)
    return row._replace(columns={name: less(run) for name, run in row.columns.items()})


programs = Programs()
all_rows = [shorter(row) for section in rows.SECTIONS.values() for row in section()]
names = [row.name for row in all_rows]
programs.expect(len(names) == len(set(names)), "rows have different names")

samples = results.Samples(all_rows)
for row in all_rows:
    for column, run in row.columns.items():
        for _ in range(2 if row is all_rows[0] else 1):
            samples.of[row.name, column].append(measure.take(run, programs.bin))
programs.expect(all(figure > 0 for figures in samples.of.values() for figure in figures),
                "every column has a figure")

print("\n".join(results.lines(samples)))
facts = {"machine": "some", "compiler": "some", "commit": "some", "date": "2000-01-01", "rounds": 1}
file = programs.work / "bench.json"
file.write_text(json.dumps({**facts, "rows": samples.json()}))
text = readme_table.table(file, programs.work)
for row in all_rows:
    if readme_table.title(row.name):
        programs.expect(re.search(rf"^\| {re.escape(readme_table.title(row.name))} \|.*\d", text,
                                  re.MULTILINE), f"docs/performance.md has {row.name}")
for row in all_rows:
    if "1 worker" in row.columns:
        for column in (wanted.label.partition(", ")[2] for wanted in row.wanted):
            programs.expect(re.search(rf"^\| {re.escape(column)} \| \d.* \| at least ", text, re.MULTILINE),
                            f"docs/performance.md has {column}")
programs.expect(len(re.findall(r"^\| PCS.*\d", text, re.MULTILINE)) == 4, "docs/performance.md has PCS")
short = readme_table.summary(file, programs.work)
for name in readme_table.SUMMARY:
    programs.expect(re.search(rf"^\| {re.escape(readme_table.title(name))} \|.*\d", short, re.MULTILINE),
                    f"README.md has {name}")

# Ratios of known numbers.
row = rows.Row("known", {"a": None, "b": None}, [
    rows.Wanted("met", "a", "b", at_most=4), rows.Wanted("missed", "a", "b", at_least=4.1),
    rows.Wanted("half", "a", "b", at_most=2, scale=0.5), rows.Wanted("alone", "a", at_least=8)])
known = results.Samples([row])
known.of = {("known", "a"): [8, 4, 20], ("known", "b"): [1, 2, 9]}
found = [known.ratio(row, wanted) for wanted in row.wanted]
programs.expect([(r["ratio"], r["met"]) for r in found]
                == [(4, True), (4, False), (2, True), (8, True)], f"ratios of medians: {found}")
programs.expect((found[0]["lowest"], found[0]["highest"]) == (2, 8), "the spread of a ratio over rounds")
programs.leave()
