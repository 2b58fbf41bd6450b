# SPDX-License-Identifier: Apache-2.0
"""The folder of a series contains plan.json, and runs.csv with one row per run. A row is written
when its run ends, so an interruption of the series loses at most the run that is being made."""

import csv
import dataclasses
import json
import os

# All series have these columns; each series adds its own. The key of a variant is (workload, name).
# All runs of a workload have the same digest.
COMMON_COLUMNS = ["workload", "variant", "run", "until", "seed", "workers", "exit_code",
                  "wall_seconds", "run_seconds", "committed_events", "efficiency", "rollbacks",
                  "load_before", "ended", "digest"]


def write_atomically(path, text):
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text)
    partial.replace(path)


def save_plan(folder, plan):
    write_atomically(folder / "plan.json", json.dumps(dataclasses.asdict(plan), indent=2) + "\n")


def load_plan(folder, kind, series):
    """The plan of type `kind` in `folder`. Raises ValueError if there is no plan that
    this version can read."""
    try:
        return kind(**json.loads((folder / "plan.json").read_text()))
    except (OSError, TypeError, ValueError) as error:
        raise ValueError(f"the folder has no plan.json of a {series} series") from error


class Records:
    """The rows of runs.csv. If several rows have the same variant and run number, the last one is
    valid."""

    def __init__(self, folder, own_columns):
        self._path = folder / "runs.csv"
        self._columns = COMMON_COLUMNS + own_columns
        self._rows = {}
        lines = self._path.read_text().splitlines(keepends=True) if self._path.exists() else []
        # The last line may be incomplete, if the machine failed while the line was written.
        whole = [line for line in lines if line.endswith("\n")]
        if not whole:
            whole = [",".join(self._columns) + "\n"]
        if whole != lines:
            write_atomically(self._path, "".join(whole))
        for row in csv.DictReader(whole):
            self._keep(row)

    def _keep(self, row):
        self._rows[row["workload"], row["variant"], int(row["run"])] = row

    def append(self, row):
        values = {name: row.get(name) for name in self._columns}
        row = {name: "" if value is None else str(value) for name, value in values.items()}
        with open(self._path, "a", newline="") as file:
            csv.DictWriter(file, self._columns, lineterminator="\n").writerow(row)
            file.flush()
            os.fsync(file.fileno())
        self._keep(row)

    def rows(self):
        return list(self._rows.values())

    def good(self):
        return [row for row in self.rows() if row["exit_code"] == "0"]

    def has(self, variant, run):
        """Whether the run was made and did not fail. A failed run is made again."""
        row = self._rows.get((*variant.key, run))
        return row is not None and row["exit_code"] == "0"

    def of(self, variant, column="wall_seconds"):
        """{run number: value} of the good runs of a variant."""
        return {int(row["run"]): float(row[column]) for row in self.good()
                if (row["workload"], row["variant"]) == variant.key and row[column] != ""}

    def missing(self, plan):
        """(run number, variant) of each run that remains to be made."""
        return [(run, variant) for run, variant in plan.schedule() if not self.has(variant, run)]

    def digest_conflict(self):
        """A line that names two runs of one workload with different digests, or None."""
        first = {}
        for row in self.good():
            known = first.setdefault(row["workload"], row)
            if row["digest"] != known["digest"]:
                return (f"{row['workload']}: digest {row['digest']} of {row['variant']} (run "
                        f"{row['run']}), but {known['digest']} of {known['variant']} (run "
                        f"{known['run']})")
        return None
