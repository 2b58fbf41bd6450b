# SPDX-License-Identifier: Apache-2.0
"""Runs a model with independent seeds and computes how precise its measures are. The results are
means over the runs, with Student's confidence intervals. If options vary, the results also contain
the differences from the first variant, over pairs of runs with the same seed.

Options that do not belong to this command go to MODEL. Finished runs are kept in the folder. A run
with the same model, options, seed and program is not repeated. Repeat the command to continue an
interrupted series, or to add runs to a series."""

import argparse
import itertools
import math
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
from lib.arguments import Parser  # noqa: E402
from lib.series.machine import ProgramFailed  # noqa: E402
from lib.series.runner import Interrupted, raise_on_signals  # noqa: E402

# Options that this command sets, or with which one run would overwrite the files of another.
OURS = ("--seed", "--stats", "--output", "--quiet", "--trace", "--checkpoint", "--restart", "--help",
        "--version")


def number(kind, low, high, allowed):
    def parsed(text):
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"'{text}'; allowed: {allowed}")
        return value
    return parsed


def share(text):
    value = number(float, 0, 1, "a number above 0 and below 1")(text)
    if value in (0, 1):
        raise argparse.ArgumentTypeError(f"'{text}'; allowed: a number above 0 and below 1")
    return value


def varied(text):
    name, equals, values = text.partition("=")
    values = values.split(",")
    if not name or name.startswith("-") or not equals or not all(values):
        raise argparse.ArgumentTypeError(f"'{text}'; allowed: OPTION=VALUE,VALUE,... without dashes")
    if len(set(values)) < len(values):
        raise argparse.ArgumentTypeError(f"'{text}': a value is given twice; allowed: each value once")
    return name, values


def part(text):
    index, slash, parts = text.partition("/")
    if not (slash and index.isascii() and index.isdigit() and parts.isascii() and parts.isdigit()
            and 1 <= int(index) <= int(parts)):
        raise argparse.ArgumentTypeError(f"'{text}'; allowed: I/N with I from 1 to N")
    return int(index), int(parts)


def arguments():
    parser = Parser("replicate", description=__doc__,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("--runs", type=number(int, 2, 100_000, "a number from 2 to 100000"),
                        default=20, metavar="N", help="runs of each variant, with seeds from 1 (20)")
    parser.add_argument("--until-precision", type=share, metavar="P",
                        help="add runs until, for each measure, half the width of the interval is at most this "
                             "share of the mean")
    parser.add_argument("--runs-max", type=number(int, 2, 100_000, "a number from 2 to 100000"),
                        default=1000, metavar="N", help="maximum number of runs for --until-precision (1000)")
    parser.add_argument("--vary", type=varied, action="append", default=[], metavar="OPTION=V,V,...",
                        help="a variant for each value of this option of the model; if repeated, for each "
                             "combination")
    parser.add_argument("--confidence", type=share, default=0.95, metavar="P",
                        help="confidence level of the intervals (0.95)")
    parser.add_argument("--part", type=part, metavar="I/N",
                        help="make only part I of N of the runs, and no tables; default in an array of SLURM jobs: "
                             "the part of the task")
    parser.add_argument("--output", type=Path, metavar="DIR",
                        help="folder for the runs and results (results/replicate-MODEL)")
    parser.add_argument("--programs", type=Path, default=Path("build/bin"), metavar="DIR",
                        help="folder of MODEL (build/bin)")
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    given, options = parser.parse_known_args()
    for word in options:
        name = word.partition("=")[0]
        if name in OURS:
            parser.error(f"{name}: set by replicate; must be left out")
        if name.startswith("--") and name[2:] in dict(given.vary):
            parser.error(f"{name}: varied by --vary; must be left out")
    names = [name for name, _ in given.vary]
    for name in names:
        if names.count(name) > 1 or f"--{name}" in OURS:
            parser.error(f"--vary {name}; allowed: an option of the model, once")
    if given.part and given.until_precision:
        parser.error("--until-precision: with --part no task has all runs; allowed: --runs")
    given.options = options
    given.output = given.output or Path("results") / f"replicate-{given.model}"
    return given


def replicate(given):
    # Imported here, so that --help needs no package.
    try:
        import matplotlib  # noqa: F401
        import scipy  # noqa: F401
    except ImportError as error:
        print(f"numawarp: replicate: {sys.executable} has no {error.name}; allowed: a Python with matplotlib and "
              "scipy, as ./jobs/run uses", file=sys.stderr)
        return 4
    import runs
    import tables

    variants = [dict(zip([name for name, _ in given.vary], values))
                for values in itertools.product(*(values for _, values in given.vary))]
    series = runs.Series(given, variants)
    series.make(given.runs)
    if series.part:
        return 0
    while given.until_precision:
        wanted = tables.runs_needed(series, given)
        if wanted <= series.count:
            break
        series.make(wanted)
    tables.write(series, given)
    return 0


def main():
    given = arguments()
    if given.check:
        return 0
    raise_on_signals()
    try:
        return replicate(given)
    except ProgramFailed as failure:
        print(f"numawarp: replicate: {failure}", file=sys.stderr)
        return failure.code
    except Interrupted as interrupted:
        print(f"numawarp: replicate: interrupted; the same command continues from {given.output}",
              file=sys.stderr)
        return interrupted.exit_code
    except OSError as error:
        print(f"numawarp: replicate: {error}", file=sys.stderr)
        return 4


if __name__ == "__main__":
    sys.exit(main())
