# SPDX-License-Identifier: Apache-2.0
"""The experiments behind figures 2 to 9 of Carothers, Perumalla and Fujimoto (WSC 1999), and the
future work of that paper: large pages and prefetching. The third idea for future work in that paper
is to have an event and its saved state in one block. This idea is part of figures 2 to 9: with
`copy` at every event, the undo bytes are in the history entry of the event. With an interval above
1, and with `snapshot`, a saved state is a separate block."""

import dataclasses
import typing

import hardware
from cachegrind import demand_valgrind
from geometry import Geometry, this_machine
from lib.series.runner import rounds

# The paper's numbers of processors, and numbers for larger machines.
WORKERS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 16, 24, 32, 48, 64, 96, 128, 192, 256)
INTERVALS = ("1", "4", "16", "auto")

UNTIL = 3600
# cachegrind counts between these two times. Before the first one a cell executes about 30 events;
# `auto` adapts the interval from the 32nd event on.
COUNT_UNTIL = (240, 360)
# --quick only shows that everything works.
QUICK = {"cells": 12, "until": 300, "count_until": (20, 60), "runs": 2, "workers": 2}


@dataclasses.dataclass(frozen=True)
class Method:
    """The way to restore states in a rollback; or the sequential run, which has no rollbacks."""

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
        # Otherwise a single worker would keep no data for rollback.
        words += ["--rollback", self.rollback, "--keep-safe-events", "on"]
        return [*words, "--state-saving-interval", self.interval] if self.interval else words


SEQUENTIAL, REVERSE = Method("sequential"), Method("reverse")
METHODS = [SEQUENTIAL, REVERSE, *(Method("copy", interval) for interval in INTERVALS),
           *(Method("snapshot", interval) for interval in INTERVALS),
           Method("sequential", state="containers"),
           *(Method("snapshot", interval, "containers") for interval in INTERVALS)]
# The methods that cachegrind counts, which takes minutes for each.
COUNTED_METHODS = [SEQUENTIAL, REVERSE, Method("copy", "1"), Method("copy", "16"),
                   *(Method("snapshot", interval) for interval in INTERVALS)]
# The methods of the experiments for future work, and of a --quick series.
MAIN_METHODS = [SEQUENTIAL, REVERSE, Method("copy", "1"), Method("snapshot", "1")]


@dataclasses.dataclass(frozen=True)
class Variant:
    """One point of a figure. geometry: the caches that cachegrind simulates; None: not counted by
    cachegrind."""

    method: Method
    workers: int
    huge_pages: str = ""  # empty: the usual value of the series
    gvt_interval: str = ""  # empty: the engine's default
    past_log: str = ""  # empty: the engine's default
    prefetch: bool = True
    geometry: Geometry | None = None

    @property
    def change(self):
        """The difference from the usual run; empty if there is none."""
        words = [f"huge pages {self.huge_pages}"] if self.huge_pages else []
        if self.gvt_interval:
            words.append(f"GVT interval {self.gvt_interval}")
        if self.past_log:
            words.append(f"past log {self.past_log}")
        if not self.prefetch:
            words.append("no prefetch")
        return ", ".join(words)

    @property
    def key(self):
        words = [self.method.name]
        if self.method.rollback != "sequential":
            words.append(f"{self.workers} worker{'s' * (self.workers != 1)}")
        if self.change:
            words.append(self.change)
        return f"counts {self.geometry.name}" if self.geometry else "rates", ", ".join(words)


@dataclasses.dataclass
class Plan:
    """The complete settings of a series. They are stored next to the runs, so that the series can
    be resumed."""

    seed: int
    runs: int
    quick: bool
    only: str  # "rates", "counts", or "" for both
    cells: int  # the width and the height of the area
    until: float  # virtual seconds, of a run for rates
    count_until: list  # the two virtual times between which cachegrind counts
    worker_counts: list
    counts: str  # "hardware" or "cachegrind"
    geometries: list
    without_prefetch: str  # folder of a pcs that was built without prefetching; empty: none
    machine: dict
    usual_huge_pages: typing.ClassVar = "auto"

    def points(self):
        """Figures 2 and 3; with hardware counters, figures 4 to 9 as well."""
        return [Variant(method, workers) for method in (MAIN_METHODS if self.quick else METHODS)
                for workers in ([1] if method.rollback == "sequential" else self.worker_counts)]

    def changes(self):
        """The settings of later_points() that differ from the usual ones."""
        return [{"huge_pages": "off"}, {"huge_pages": "on"}, *[{"prefetch": False}] * bool(self.without_prefetch)]

    def later_points(self):
        """Large pages and other changes, with one worker and with the largest number of workers."""
        least_and_most = sorted({1, self.worker_counts[-1]})
        return [Variant(method, workers, **change) for change in self.changes() for method in MAIN_METHODS
                for workers in ([1] if method == SEQUENTIAL else least_and_most)]

    def counted(self):
        """Figures 4 to 9 by cachegrind, with one worker, because cachegrind runs one thread at a
        time."""
        methods, on_huge_pages = COUNTED_METHODS, MAIN_METHODS
        if self.quick:
            methods, on_huge_pages = [SEQUENTIAL, MAIN_METHODS[-1]], MAIN_METHODS[-1:]
        return [Variant(method, 1, geometry=Geometry(**geometry), huge_pages=pages)
                for geometry in self.geometries
                for pages, some in (("", methods), ("on", on_huge_pages)) for method in some]

    def schedule(self):
        """(run number, variant) in the order of execution: rates first. cachegrind counts each
        variant once, because its counts do not depend on the speed of the machine."""
        if self.only != "counts":
            yield from rounds(self.points() + self.later_points(), self.runs, self.seed)
        if self.only != "rates" and self.counts == "cachegrind":
            yield from ((1, variant) for variant in self.counted())

    def arguments(self, variant, until):
        """The command line of pcs without --stats."""
        return ["--width", self.cells, "--height", self.cells, "--until", f"{until:.17g}", "--seed",
                self.seed, "--engine", "timewarp", "--workers", variant.workers,
                "--huge-pages", variant.huge_pages or self.usual_huge_pages,
                *(["--gvt-interval", variant.gvt_interval] if variant.gvt_interval else []),
                *(["--past-log", variant.past_log] if variant.past_log else []), *variant.method.arguments()]


def counts_of(options):
    """The source of the counts. Raises ProgramFailed if there is none."""
    counts = options.counts or "auto"
    if counts == "auto":
        counts = "hardware" if hardware.is_there(options.programs / "pcs") else "cachegrind"
    if counts == "cachegrind" and options.only != "rates":
        demand_valgrind()
    return counts


def new_plan(options, machine):
    """A plan for this machine. options: those of the command line; None selects the default."""
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
