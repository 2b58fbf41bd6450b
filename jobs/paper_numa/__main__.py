"""./jobs/run paper-numa: the experiments of figures 6 to 9 of "NUMA Time Warp" (Di Gennaro,
Pellegrini, Quaglia and others, PADS 2015), on this machine. docs/how-to/paper-numa.md tells how to
run and read them.

    experiments.py  what is run, scaled to the machine     machine.py  which machine that is
    runner.py       runs it, in rounds, with an ETA        records.py  plan.json and runs.csv
    results.py      medians, spreads, speed-ups            plots.py    figure-6 … figure-9
    report.py       summary.md
"""

import argparse
import datetime
import importlib.util
import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
import results  # noqa: E402
from experiments import new_plan  # noqa: E402
from machine import ProgramFailed, machine_facts  # noqa: E402
from records import Records, load_plan, save_plan, write_atomically  # noqa: E402
from report import page  # noqa: E402
from runner import DigestConflict, Interrupted, raise_on_signals, run_all  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
# Runs on something else than this are not runs of one series.
SAME_MACHINE = ("cpu", "cores", "nodes", "kernel", "commit")


class Refused(Exception):
    """A wrong option, said in one line."""


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Refused(message.removeprefix("argument "))


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


def rebind_period(text):
    return 0 if text == "off" else number_in(1e-3, "seconds from 0.001 up, or off")(text)


def read_options(arguments):
    parser = Parser(
        prog="./jobs/run paper-numa", allow_abbrev=False,
        description="The experiments of figures 6 to 9 of 'NUMA Time Warp' (PADS 2015), scaled to "
                    "this machine: runs.csv, figures and a page in results/paper-numa-<date>.",
        epilog="Exit codes: 0 done; 1 two runs had different digests, or a run failed; 2 wrong "
               "option; 4 matplotlib or the programs are missing; 130, 143 interrupted: go on with "
               "--resume.")
    parser.add_argument("--runs", type=number_in(1, "a whole number from 1 up", int), metavar="N",
                        help="runs of each kind [5; --quick 2]")
    parser.add_argument("--only", choices=["balanced", "unbalanced"],
                        help="figure 6, or figures 7 to 9 [both]")
    parser.add_argument("--until", type=number_in(1e-9, "above 0"), metavar="T",
                        help="end of each run, virtual seconds [balanced 20 days, unbalanced 12 "
                             "hours, times cores]")
    parser.add_argument("--rebind", type=rebind_period, metavar="SECONDS|off",
                        help="how often groups are rebalanced in the unbalanced runs [2]")
    parser.add_argument("--seed", type=number_in(0, "a whole number from 0 up", int), metavar="N",
                        help="the same for all runs [1]")
    parser.add_argument("--quick", action="store_true",
                        help="short runs on a small grid: shows that it works, not how fast it is")
    parser.add_argument("--output", type=Path, metavar="DIR", help="a new folder for the results")
    parser.add_argument("--resume", type=Path, metavar="DIR",
                        help="go on with an interrupted series; with --runs: with more runs")
    parser.add_argument("--programs", type=Path, metavar="DIR", default=ROOT / "build/bin",
                        help="where traffic is [build/bin]")
    options = parser.parse_args(arguments)
    if options.resume:
        fixed = {name: getattr(options, name) for name in ("only", "until", "rebind", "seed",
                                                           "output")}
        if options.quick or any(value is not None for value in fixed.values()):
            raise Refused("--resume goes with --runs only: all else stays as the series has it")
    return options


def resumed_plan(options, machine):
    try:
        plan = load_plan(options.resume)
    except ValueError as error:
        raise Refused(f"--resume {options.resume}: {error}") from error
    for name in SAME_MACHINE:
        if plan.machine[name] != machine[name]:
            raise Refused(f"--resume {options.resume}: that series has {name} "
                          f"'{plan.machine[name]}', here it is '{machine[name]}'; start a new one")
    plan.runs = options.runs or plan.runs
    return options.resume, plan


def started_plan(options, machine):
    folder = options.output
    if folder is None:
        now = datetime.datetime.now().strftime("%Y-%m-%d-%H%M%S")
        folder = ROOT / "results" / f"paper-numa-{now}"
    if (folder / "plan.json").exists():
        raise Refused(f"--output {folder}: has a series already; --resume goes on with it")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refused(f"--output {folder}: {error.strerror}") from error
    return folder, new_plan(options, machine)


def write_results(folder, plan, records):
    """The figures need matplotlib, which is slow to load and not needed for anything else."""
    from plots import plot_all  # pylint: disable=import-outside-toplevel
    date = datetime.date.today().isoformat()
    if records.good():
        date = max(row["ended"] for row in records.good())[:10]
    summary = results.summary(plan, records, date)
    plot_all(folder, summary)
    write_atomically(folder / "summary.json", json.dumps(summary, indent=2) + "\n")
    write_atomically(folder / "summary.md", page(summary))
    for warning in summary["warnings"]:
        print(f"notice   {warning}")
    print(f"results  {folder / 'summary.md'}")
    return 1 if any(row["exit_code"] != "0" for row in records.rows()) else 0


def run_series(options):
    if importlib.util.find_spec("matplotlib") is None:
        raise ProgramFailed(4, "no matplotlib for this python3 (Debian: python3-matplotlib)")
    traffic = options.programs / "traffic"
    if not traffic.exists():
        raise ProgramFailed(4, f"no traffic in {options.programs}; ./jobs/run paper-numa builds it")
    machine = machine_facts(traffic)
    folder, plan = (resumed_plan if options.resume else started_plan)(options, machine)
    save_plan(folder, plan)
    records = Records(folder)
    conflict = records.digest_conflict()
    if conflict:
        raise DigestConflict(conflict)
    try:
        run_all(traffic, plan, records)
    except Interrupted:
        print(f"interrupted; go on with: ./jobs/run paper-numa --resume {folder}", file=sys.stderr)
        raise
    return write_results(folder, plan, records)


def main():
    raise_on_signals()
    try:
        return run_series(read_options(sys.argv[1:]))
    except Interrupted as interrupted:
        return interrupted.exit_code
    except (Refused, DigestConflict, ProgramFailed) as error:
        print(f"numawarp: {error}", file=sys.stderr)
        return {Refused: 2, DigestConflict: 1}.get(type(error)) or error.code


sys.exit(main())
