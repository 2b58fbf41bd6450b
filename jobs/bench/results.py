# SPDX-License-Identifier: Apache-2.0
"""The results: samples of every column, medians, and ratios of medians with their targets.

The spread of a ratio is the spread of the ratios of single rounds. In a round the two columns are
measured shortly after one another, so that a slow hour of the machine does not affect the
ratio."""

import statistics


class Samples:
    def __init__(self, rows):
        self.rows = rows
        self.of = {(row.name, column): [] for row in rows for column in row.columns}

    def spread(self, row, column):
        found = self.of[row.name, column]
        return {"median": statistics.median(found), "lowest": min(found), "highest": max(found)}

    def ratio(self, row, wanted):
        over = self.of[row.name, wanted.over]
        under = self.of[row.name, wanted.under] if wanted.under else [1] * len(over)
        value = wanted.scale * statistics.median(over) / statistics.median(under)
        rounds = [wanted.scale * a / b for a, b in zip(over, under)]
        met = value <= wanted.at_most if wanted.at_most is not None else value >= wanted.at_least
        return {"ratio": value, "lowest": min(rounds), "highest": max(rounds),
                "wanted": wanted_text(wanted), "met": met}

    def json(self):
        """For each row: the figures and commands of its columns, and its ratios."""
        found = {}
        for row in self.rows:
            found[row.name] = {column: self.spread(row, column) | {"command": run.command}
                               for column, run in row.columns.items()}
            found[row.name]["unit"] = row.unit
            found[row.name]["ratios"] = {w.label: self.ratio(row, w) for w in row.wanted}
        return found


def wanted_text(wanted):
    if wanted.at_most is not None:
        return f"at most {wanted.at_most:g}"
    return f"at least {wanted.at_least:g}"


def lines(samples):
    """The table for the terminal: rows with their medians, and below each row its ratios."""
    met = []
    for row in samples.rows:
        yield f"{row.name}: " + ", ".join(f"{column} {samples.spread(row, column)['median']:.4g}"
                                          for column in row.columns) + f" ({row.unit})"
        for wanted in row.wanted:
            found = samples.ratio(row, wanted)
            met.append(found["met"])
            yield (f"    {wanted.label:52} {found['ratio']:6.2f}  ({found['lowest']:.2f} to "
                   f"{found['highest']:.2f})  wanted {found['wanted']:13}  "
                   f"{'met' if found['met'] else 'MISSED'}")
    yield f"{sum(met)} of {len(met)} met"
