# SPDX-License-Identifier: Apache-2.0
"""Reads statistics files. Only the schema of a file is checked. A part that is missing or has a
wrong type is treated as absent, and the page reports that."""

import json
from pathlib import Path

SCHEMA = "numawarp.stats/"

# Charts multiply numbers and take their logarithms, so larger numbers are not drawn.
LARGEST = 1e100

# The engine's options that affect the result of the simulation.
DECISIVE = {"seed", "until"}


class Unreadable(Exception):
    """The text names the file and its error."""


class Run:
    def __init__(self, name, data):
        self.name = name
        self.data = data

    def at(self, path):
        """The value at a path of keys that are separated by dots; None if there is none."""
        value = self.data
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def number(self, path):
        """The number at `path`; None if there is none."""
        return as_number(self.at(path))

    def count(self, path):
        """The number at `path`; 0 if there is none."""
        return self.number(path) or 0

    def text(self, path):
        value = self.at(path)
        return value if isinstance(value, str) else None

    def object(self, path):
        value = self.at(path)
        return value if isinstance(value, dict) else {}

    def list(self, path):
        value = self.at(path)
        return value if isinstance(value, list) else []

    def rows(self, path, *columns):
        """The objects of an array that have a number in each of these columns."""
        return [row for row in self.list(path) if isinstance(row, dict)
                and all(as_number(row.get(column)) is not None for column in columns)]

    def table(self, path):
        """The square table of counts at `path`; [] if there is none."""
        rows = self.list(path)
        whole = all(isinstance(row, list) and len(row) == len(rows)
                    and all((as_number(cell) or 0) >= 0 for cell in row) for row in rows)
        return [[int(as_number(cell) or 0) for cell in row] for row in rows] if whole else []

    def option(self, name):
        value = self.object("options").get(name)
        return None if value is None else str(value)

    @property
    def threads(self):
        return max(1, int(self.count("ranks"))) * max(1, int(self.count("workers")))

    @property
    def loop_seconds(self):
        """The time of the event loop in this process. The wall time in the file is that of all
        processes of a restarted run."""
        return max(0, self.count("wall_seconds") - self.began_seconds)

    @property
    def began_seconds(self):
        """The wall time at the restart of this process; 0 if the run was not restarted."""
        return self._beginning("seconds")

    @property
    def restarted(self):
        return self.number("checkpoints.restarted_at") is not None

    def count_here(self, name):
        """The part of a total that this process has counted. Some tables of a restarted run contain
        only this part. Requires: the pieces of the run record `name`."""
        return max(0, self.count(name) - self._beginning(name))

    def _beginning(self, name):
        """The total at the beginning of this process."""
        # Older files have no pieces, and their history is that of one process.
        pieces = self.rows("checkpoints.pieces", name) or self.rows("history", name)[:1]
        return pieces[-1][name] if self.restarted and pieces else 0

    def restarts(self):
        """The wall times in seconds at which the run was restarted."""
        return [piece["seconds"] for piece in self.rows("checkpoints.pieces", "seconds")[1:]]

    @property
    def parallel(self):
        return self.text("engine") != "sequential"

    def simulated(self):
        """The facts that determine the result: runs that agree in them must have equal digests."""
        engine = engine_options()
        options = {name: value for name, value in self.object("options").items()
                   if name not in engine or name in DECISIVE}
        return {"model": self.text("model"), "lps": self.number("lps"), **options}

    def finished(self):
        return self.text("end_reason") != "interrupted"


def as_number(value):
    """The value if it is a number that can be drawn, else None."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number and abs(value) <= LARGEST else None  # also None for NaN


def drawable(digits):
    """The number in JSON; None for a number too large to draw, 0 for a number too small to draw."""
    value = float(digits)
    if abs(value) > LARGEST:
        return None
    return 0 if abs(value) < 1 / LARGEST else value if "." in digits or "e" in digits.lower() else int(digits)


def engine_options():
    """The names of the engine's options, from the page that is generated from the engine's
    table."""
    page = Path(__file__).resolve().parents[2] / "docs/reference/options.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    return {line.split("`--")[1].split("`")[0].split()[0] for line in lines
            if line.startswith("| `--")}


def described_figures():
    """(name, unit, meaning) of each figure, from the page that is generated from the engine's
    descriptions."""
    page = Path(__file__).resolve().parents[2] / "docs/reference/statistics.md"
    cells = [line.strip("| \n").split(" | ", 2) for line in
             page.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    return [(name.strip("`"), unit, meaning) for name, unit, meaning in cells]


def load(files):
    names = [Path(file).name for file in files]
    if len(set(names)) < len(names):
        names = [str(file) for file in files]
    return [Run(name, read(file)) for name, file in zip(names, files)]


def read(file):
    allowed = "allowed: a file written by --stats"
    try:
        data = json.loads(Path(file).read_text(encoding="utf-8"), parse_float=drawable, parse_int=drawable,
                          parse_constant=lambda name: None)
    except OSError as refused:
        raise Unreadable(f"report: {file}: {refused.strerror}; {allowed}") from refused
    except (ValueError, RecursionError) as broken:
        raise Unreadable(f"report: {file}: not valid JSON; {allowed}") from broken
    schema = data.get("schema") if isinstance(data, dict) else None
    if not isinstance(schema, str) or not schema.startswith(SCHEMA):
        raise Unreadable(f"report: {file}: JSON without the schema {SCHEMA}…; {allowed}")
    return as_today(data) if schema == SCHEMA + "1" else data


# Name in the first format -> present name, of options and figures.
FORMER_OPTIONS = {"checkpoint-every": "state-saving-interval",
                  "checkpoint-every-seconds": "checkpoint-period"}
FORMER_FIGURES = {"checkpoints": "saved_states", "run_checkpoints": "checkpoints"}


def as_today(data):
    """The data of a file of the first format with the present names."""
    renamed = {FORMER_FIGURES.get(name, name): value for name, value in data.items()}
    if isinstance(data.get("options"), dict):
        renamed["options"] = {FORMER_OPTIONS.get(name, name): value
                              for name, value in data["options"].items()}
    memory = data.get("memory")
    if isinstance(memory, dict) and "checkpoints_bytes_peak" in memory:
        renamed["memory"] = memory | {"saved_states_bytes_peak": memory["checkpoints_bytes_peak"]}
    return renamed
