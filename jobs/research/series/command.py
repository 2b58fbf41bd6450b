# SPDX-License-Identifier: Apache-2.0
"""The command of a series of runs: its options, results folder and exit codes. Each series has a
folder in jobs/research/, which defines what is run, recorded and reported. plots.plot_all() in that folder
draws the figures."""

import argparse
import dataclasses
import datetime
import importlib
import importlib.util
import json
import sys
import typing
from pathlib import Path

from lib.arguments import Parser
from lib.series.machine import ProgramFailed, machine_facts
from lib.series.records import Records, load_plan, save_plan, write_atomically
from lib.series.runner import DigestConflict, Interrupted, raise_on_signals, run_all

ROOT = Path(__file__).resolve().parent.parent.parent.parent
# Runs that differ in one of these facts must not be in one series.
SAME_MACHINE = ("cpu", "cores", "nodes", "kernel", "commit")


class Refused(Exception):
    """A wrong option; the text is one line."""


@dataclasses.dataclass(frozen=True)
class Series:
    """The properties in which series differ."""

    name: str  # ./jobs/run NAME
    program: str
    plan: type
    new_plan: typing.Callable  # options, machine -> plan
    columns: list  # of runs.csv, in addition to COMMON_COLUMNS
    run_once: typing.Callable  # program, plan, variant, run, on_tick -> row, message
    warnings: typing.Callable  # plan, records -> sentences
    results: typing.Callable  # plan, records -> content of summary.json that only this series has
    page: typing.Callable  # summary -> text of summary.md
    # Called with Series.name and the folder of programs after the plan was made, and before the
    # folder of results is created. Provides everything else that the runs need, or raises
    # ProgramFailed.
    prepare: typing.Callable = lambda name, programs: None


def number_in(least, what, kind=float):
    def parse(text):
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not least <= value < float("inf"):
            raise argparse.ArgumentTypeError(f"'{text}': must be {what}")
        return value
    return parse


def folder_name(name):
    """Returns the name of a series in a form for file names: 'paper-numa --timed' becomes 'paper-numa-timed'."""
    return name.replace(" --", "-")


def new_folder(name):
    """The folder for the results of a series that begins now."""
    return ROOT / "results" / f"{folder_name(name)}-{datetime.datetime.now():%Y-%m-%d-%H%M%S}"


def parser_of(name, description, program, runs="5; --quick 2", codes=""):
    """A parser with the options that all series have. `runs`: the help text for the default of
    --runs; `codes`: additional exit codes."""
    parser = Parser(
        name, description=f"{description}: runs.csv, figures and a page in results/{folder_name(name)}-<date>.",
        epilog="Exit codes: 0 done; 1 two runs had different digests, or a run failed; 2 wrong "
               f"option; 4 a package or the programs are missing; {codes}130, 143 interrupted; continue with "
               "--resume.")
    parser.add_argument("--runs", type=number_in(1, "a whole number of at least 1", int), metavar="N",
                        help=f"runs of each kind [{runs}]")
    parser.add_argument("--seed", type=number_in(0, "a whole number of at least 0", int), metavar="N",
                        help="random seed of all runs [1]")
    parser.add_argument("--quick", action="store_true",
                        help="short runs of a small model, to check that everything works; no speed measurements")
    parser.add_argument("--output", type=Path, metavar="DIR", help="new folder for the results")
    parser.add_argument("--resume", type=Path, metavar="DIR",
                        help="continue an interrupted series; with --runs: add runs")
    parser.add_argument("--programs", type=Path, metavar="DIR", default=ROOT / "build/bin",
                        help=f"folder of {program} [build/bin]")
    return parser


def parsed(parser, arguments):
    options = parser.parse_args(arguments)
    free = ("runs", "resume", "programs")
    fixed = [value for name, value in vars(options).items() if name not in free]
    if options.resume and any(value is not None and value is not False for value in fixed):
        raise Refused("--resume: only --runs and --programs are allowed with it; all other settings of the series "
                      "stay the same")
    return options


def resumed_plan(series, options, machine):
    try:
        plan = load_plan(options.resume, series.plan, series.name)
    except ValueError as error:
        raise Refused(f"--resume {options.resume}: {error}") from error
    for name in SAME_MACHINE:
        if plan.machine[name] != machine[name]:
            raise Refused(f"--resume {options.resume}: that series has {name} "
                          f"'{plan.machine[name]}', but here it is '{machine[name]}'; start a new series")
    plan.runs = options.runs or plan.runs
    return options.resume, plan


def started_plan(series, options, machine):
    folder = options.output or new_folder(series.name)
    if (folder / "plan.json").exists():
        raise Refused(f"--output {folder}: already has a series; --resume continues it")
    return folder, series.new_plan(options, machine)


def write_results(series, folder, plan, records):
    date = datetime.date.today().isoformat()
    if records.good():
        date = max(row["ended"] for row in records.good())[:10]
    settings = dataclasses.asdict(plan)
    summary = {"schema": f"numawarp.{folder_name(series.name)}/1", "date": date,
               "machine": settings.pop("machine"), "settings": settings,
               "warnings": series.warnings(plan, records),
               "digests": {row["workload"]: row["digest"] for row in records.good()},
               **series.results(plan, records)}
    # Imported here, because matplotlib is slow to load and only the figures need it.
    importlib.import_module("plots").plot_all(folder, summary)
    write_atomically(folder / "summary.json", json.dumps(summary, indent=2) + "\n")
    write_atomically(folder / "summary.md", series.page(summary))
    for warning in summary["warnings"]:
        print(f"notice   {warning}")
    print(f"results  {folder / 'summary.md'}")
    return 1 if any(row["exit_code"] != "0" for row in records.rows()) else 0


def run_series(series, options):
    if importlib.util.find_spec("matplotlib") is None:
        raise ProgramFailed(4, "this python3 has no matplotlib (Debian: python3-matplotlib)")
    program = options.programs / series.program
    if not program.exists():
        raise ProgramFailed(4, f"no {series.program} in {options.programs}; ./jobs/run {series.name} "
                               "builds it")
    machine = machine_facts(program)
    folder, plan = (resumed_plan if options.resume else started_plan)(series, options, machine)
    series.prepare(series.name, options.programs)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refused(f"--output {folder}: {error.strerror}") from error
    save_plan(folder, plan)
    records = Records(folder, series.columns)
    conflict = records.digest_conflict()
    if conflict:
        raise DigestConflict(conflict)
    try:
        run_all(plan, records, lambda *which: series.run_once(program, plan, *which))
    except Interrupted:
        print(f"interrupted; continue with: ./jobs/run {series.name} --resume {folder}", file=sys.stderr)
        raise
    return write_results(series, folder, plan, records)


def main(read):
    """Runs a series and returns the exit code. read: command line -> (series, options)."""
    raise_on_signals()
    try:
        return run_series(*read(sys.argv[1:]))
    except Interrupted as interrupted:
        return interrupted.exit_code
    except (Refused, DigestConflict, ProgramFailed) as error:
        print(f"numawarp: {error}", file=sys.stderr)
        return {Refused: 2, DigestConflict: 1}.get(type(error)) or error.code
