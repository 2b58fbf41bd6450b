"""Statistics files as runs. Nothing in a file is taken for granted but its schema: a part that is not
there, or is not what it should be, reads as absent, and the page says so."""

import json
from pathlib import Path

SCHEMA = "numawarp.stats/"

# Charts multiply numbers and take logarithms of them.
LARGEST = 1e100

# Options that fix what is simulated; all others of the engine's only fix how.
DECISIVE = {"seed", "until"}


class Unreadable(Exception):
    """Names the file and what is wrong with it."""


class Run:
    def __init__(self, name, data):
        self.name = name
        self.data = data

    def at(self, path):
        """Whatever is there; None where nothing is."""
        value = self.data
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def number(self, path):
        """None where there is no such number."""
        return as_number(self.at(path))

    def count(self, path):
        """0 where there is no such number."""
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
        """A square table of counts, or nothing."""
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
        """Of the event loop of this process: a run that went on from a checkpoint has the wall time of
        the whole."""
        return max(0, self.count("wall_seconds") - self.began_seconds)

    @property
    def began_seconds(self):
        """0, if it did not go on from another."""
        return self._beginning("seconds")

    @property
    def restarted(self):
        return self.number("checkpoints.restarted_at") is not None

    def count_here(self, name):
        """Of what this process did itself, where it went on from another: some tables are of that alone.
        For what is known of each piece."""
        return max(0, self.count(name) - self._beginning(name))

    def _beginning(self, name):
        """A total at the beginning of this process."""
        # Of runs before there were pieces, the history is of one process.
        pieces = self.rows("checkpoints.pieces", name) or self.rows("history", name)[:1]
        return pieces[-1][name] if self.restarted and pieces else 0

    def restarts(self):
        """After how many seconds other processes went on with the run, one after the other."""
        return [piece["seconds"] for piece in self.rows("checkpoints.pieces", "seconds")[1:]]

    @property
    def parallel(self):
        return self.text("engine") != "sequential"

    def simulated(self):
        """What decides the result: runs that agree in all of this must have one digest."""
        engine = engine_options()
        options = {name: value for name, value in self.object("options").items()
                   if name not in engine or name in DECISIVE}
        return {"model": self.text("model"), "lps": self.number("lps"), **options}

    def finished(self):
        return self.text("end_reason") != "interrupted"


def as_number(value):
    """None for a value that is no number to draw."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number and abs(value) <= LARGEST else None  # NaN is not <= either


def drawable(digits):
    """The number in JSON; None for a number too large to draw, 0 for a number too small to draw."""
    value = float(digits)
    if abs(value) > LARGEST:
        return None
    return 0 if abs(value) < 1 / LARGEST else value if "." in digits or "e" in digits.lower() else int(digits)


def engine_options():
    """The names in the page that is made from the engine's table."""
    page = Path(__file__).resolve().parents[2] / "docs/reference/options.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    return {line.split("`--")[1].split("`")[0].split()[0] for line in lines
            if line.startswith("| `--")}


def described_figures():
    """(name, unit, meaning) of each, from the page that is made from the engine's descriptions."""
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
    legal = "allowed: a file written by --stats"
    try:
        data = json.loads(Path(file).read_text(encoding="utf-8"), parse_float=drawable, parse_int=drawable,
                          parse_constant=lambda name: None)
    except OSError as refused:
        raise Unreadable(f"report: {file}: {refused.strerror}; {legal}") from refused
    except (ValueError, RecursionError) as broken:
        raise Unreadable(f"report: {file}: not valid JSON; {legal}") from broken
    schema = data.get("schema") if isinstance(data, dict) else None
    if not isinstance(schema, str) or not schema.startswith(SCHEMA):
        raise Unreadable(f"report: {file}: JSON without the schema {SCHEMA}…; {legal}")
    return as_today(data) if schema == SCHEMA + "1" else data


# What options and figures were called in the first format.
FORMER_OPTIONS = {"checkpoint-every": "state-saving-interval",
                  "checkpoint-every-seconds": "checkpoint-period"}
FORMER_FIGURES = {"checkpoints": "saved_states", "run_checkpoints": "checkpoints"}


def as_today(data):
    """A file of the first format under the names of the present one."""
    renamed = {FORMER_FIGURES.get(name, name): value for name, value in data.items()}
    if isinstance(data.get("options"), dict):
        renamed["options"] = {FORMER_OPTIONS.get(name, name): value
                              for name, value in data["options"].items()}
    memory = data.get("memory")
    if isinstance(memory, dict) and "checkpoints_bytes_peak" in memory:
        renamed["memory"] = memory | {"saved_states_bytes_peak": memory["checkpoints_bytes_peak"]}
    return renamed
