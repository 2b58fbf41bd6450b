"""What is run: the experiments behind figures 2 to 9 of Carothers, Perumalla and Fujimoto (WSC 1999),
and what that paper left for later: large pages, prefetching. Its third idea, event and saved state in
one block, is in figures 2 to 9: with `copy` at every event the undo bytes stand in the history entry of
the event, with an interval above 1 or by `snapshot` a saved state is a block of its own."""

import dataclasses

import hardware
from cachegrind import demand_valgrind
from geometry import Geometry, this_machine
from lib.series.runner import rounds

# The paper's numbers of processors, and on to larger machines.
WORKERS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 16, 24, 32, 48, 64, 96, 128, 192, 256)
INTERVALS = ("1", "4", "16", "auto")

UNTIL = 3600
# Between these two times cachegrind counts. Before the first a cell has some 30 events: the interval of
# `auto` is adapted from the 32nd on.
COUNT_UNTIL = (240, 360)
# --quick shows that everything works.
QUICK = {"cells": 12, "until": 300, "count_until": (20, 60), "runs": 2, "workers": 2}


@dataclasses.dataclass(frozen=True)
class Method:
    """How states come back after a rollback; or the sequential run, which needs none."""

    rollback: str
    interval: str = ""
    state: str = "plain"

    @property
    def name(self):
        words = [self.rollback, self.interval]
        return " ".join(filter(None, ["containers" if self.state == "containers" else "", *words]))

    @property
    def baseline(self):
        return Method("sequential", state=self.state)

    def arguments(self):
        words = ["--state", self.state]
        if self.rollback == "sequential":
            return [*words, "--engine", "sequential"]
        # One worker alone would keep nothing otherwise.
        words += ["--rollback", self.rollback, "--keep-safe-events", "on"]
        return [*words, "--state-saving-interval", self.interval] if self.interval else words


SEQUENTIAL, REVERSE = Method("sequential"), Method("reverse")
METHODS = [SEQUENTIAL, REVERSE, *(Method("copy", interval) for interval in INTERVALS),
           *(Method("snapshot", interval) for interval in INTERVALS),
           Method("sequential", state="containers"),
           *(Method("snapshot", interval, "containers") for interval in INTERVALS)]
# What is counted by cachegrind, which takes minutes for each.
COUNTED_METHODS = [SEQUENTIAL, REVERSE, Method("copy", "1"), Method("copy", "16"),
                   *(Method("snapshot", interval) for interval in INTERVALS)]
# What the later experiments are made with, and all of a --quick series.
MAIN_METHODS = [SEQUENTIAL, REVERSE, Method("copy", "1"), Method("snapshot", "1")]


@dataclasses.dataclass(frozen=True)
class Variant:
    """One point of a figure. geometry: that of the caches in which cachegrind counts, or None."""

    method: Method
    workers: int
    huge_pages: str = "auto"
    prefetch: bool = True
    geometry: Geometry | None = None

    @property
    def key(self):
        words = [self.method.name]
        if self.method.rollback != "sequential":
            words.append(f"{self.workers} worker{'s' * (self.workers != 1)}")
        if self.huge_pages != "auto":
            words.append(f"huge pages {self.huge_pages}")
        if not self.prefetch:
            words.append("no prefetch")
        return f"counts {self.geometry.name}" if self.geometry else "rates", ", ".join(words)


@dataclasses.dataclass
class Plan:
    """All that fixes a series; kept beside its runs, so that it can be resumed."""

    seed: int
    runs: int
    quick: bool
    only: str  # "rates", "counts", or "" for both
    cells: int  # in a row, and rows
    until: float  # virtual seconds, of a run for rates
    count_until: list  # between these two cachegrind counts
    worker_counts: list
    counts: str  # "hardware" or "cachegrind"
    geometries: list
    without_prefetch: str  # a folder with such a program; empty: none
    machine: dict

    def points(self):
        """Figures 2 and 3; with hardware counters, figures 4 to 9 as well."""
        return [Variant(method, workers) for method in (MAIN_METHODS if self.quick else METHODS)
                for workers in ([1] if method.rollback == "sequential" else self.worker_counts)]

    def later_points(self):
        """Large pages and prefetching, on as many workers as there are, and on one."""
        changes = [{"huge_pages": "off"}, {"huge_pages": "on"}]
        if self.without_prefetch:
            changes.append({"prefetch": False})
        least_and_most = sorted({1, self.worker_counts[-1]})
        return [Variant(method, workers, **change) for change in changes for method in MAIN_METHODS
                for workers in ([1] if method == SEQUENTIAL else least_and_most)]

    def counted(self):
        """Figures 4 to 9 by cachegrind, which runs one thread at a time: with one worker."""
        methods, on_huge_pages = COUNTED_METHODS, MAIN_METHODS
        if self.quick:
            methods, on_huge_pages = [SEQUENTIAL, MAIN_METHODS[-1]], MAIN_METHODS[-1:]
        return [Variant(method, 1, geometry=Geometry(**geometry), huge_pages=pages)
                for geometry in self.geometries
                for pages, some in (("auto", methods), ("on", on_huge_pages)) for method in some]

    def schedule(self):
        """(run number, variant), in the order of execution: rates first. cachegrind's counts do not depend on
        the machine's speed: one run of each."""
        if self.only != "counts":
            yield from rounds(self.points() + self.later_points(), self.runs, self.seed)
        if self.only != "rates" and self.counts == "cachegrind":
            yield from ((1, variant) for variant in self.counted())

    def arguments(self, variant, until):
        """The command line of pcs, but for where its statistics go."""
        return ["--width", self.cells, "--height", self.cells, "--until", f"{until:.17g}", "--seed",
                self.seed, "--workers", variant.workers, "--huge-pages", variant.huge_pages,
                *variant.method.arguments()]


def counts_of(options):
    """How counts are taken. Raises ProgramFailed where they cannot be."""
    counts = options.counts or "auto"
    if counts == "auto":
        counts = "hardware" if hardware.is_there(options.programs / "pcs") else "cachegrind"
    if counts == "cachegrind" and options.only != "rates":
        demand_valgrind()
    return counts


def new_plan(options, machine):
    """A plan for this machine. options: those of the command line; None is "as usual"."""
    cores = machine["cores"]
    quick = QUICK if options.quick else {}
    workers = sorted({count for count in WORKERS if count <= cores} | {cores})
    geometries = options.geometry or [this_machine()]
    return Plan(seed=1 if options.seed is None else options.seed,
                runs=options.runs or quick.get("runs", 5), quick=options.quick,
                only=options.only or "", cells=quick.get("cells", 120),
                until=options.until or quick.get("until", UNTIL),
                count_until=list(quick.get("count_until", COUNT_UNTIL)),
                worker_counts=options.workers or workers[:quick.get("workers")],
                counts=counts_of(options),
                geometries=[dataclasses.asdict(geometry) for geometry in geometries],
                without_prefetch=str(options.without_prefetch or ""), machine=machine)
