"""Runs a model with independent seeds and says how sure its measures are: means over the runs, with
Student's confidence intervals, and where options vary also the differences from the first variant, over
pairs of runs with the same seed.

Everything that is not an option of this command goes to MODEL. Runs are kept in the folder, by model, options, seed
and program, and are not made again; so a series that was interrupted, or is to have more runs, goes on."""

import argparse
import itertools
import math
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
from lib.arguments import Parser  # noqa: E402
from lib.series.machine import ProgramFailed  # noqa: E402
from lib.series.runner import Interrupted, raise_on_signals  # noqa: E402

# What this command decides, or what one run would write over another's.
OURS = ("--seed", "--stats", "--output", "--quiet", "--trace", "--checkpoint", "--restart", "--help",
        "--version")


def number(kind, low, high, legal):
    def parsed(text):
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"'{text}': legal is {legal}")
        return value
    return parsed


def share(text):
    value = number(float, 0, 1, "a number above 0 and below 1")(text)
    if value in (0, 1):
        raise argparse.ArgumentTypeError(f"'{text}': legal is a number above 0 and below 1")
    return value


def varied(text):
    name, equals, values = text.partition("=")
    values = values.split(",")
    if not name or name.startswith("-") or not equals or not all(values):
        raise argparse.ArgumentTypeError(f"'{text}': legal is OPTION=VALUE,VALUE,... without dashes")
    if len(set(values)) < len(values):
        raise argparse.ArgumentTypeError(f"'{text}': a value is there twice; legal is each once")
    return name, values


def part(text):
    index, slash, parts = text.partition("/")
    if not (slash and index.isascii() and index.isdigit() and parts.isascii() and parts.isdigit()
            and 1 <= int(index) <= int(parts)):
        raise argparse.ArgumentTypeError(f"'{text}': legal is I/N with I from 1 to N")
    return int(index), int(parts)


def arguments():
    parser = Parser("replicate", description=__doc__,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("--runs", type=number(int, 2, 100_000, "a number from 2 to 100000"),
                        default=20, metavar="N", help="runs of each variant, with seeds from 1 (20)")
    parser.add_argument("--until-precision", type=share, metavar="P",
                        help="more runs, until half the interval of each measure is at most this share "
                             "of its mean")
    parser.add_argument("--runs-max", type=number(int, 2, 100_000, "a number from 2 to 100000"),
                        default=1000, metavar="N", help="but no more than so many (1000)")
    parser.add_argument("--vary", type=varied, action="append", default=[], metavar="OPTION=V,V,...",
                        help="a variant for each value of this option of the model; again: for each combination")
    parser.add_argument("--confidence", type=share, default=0.95, metavar="P",
                        help="of the intervals (0.95)")
    parser.add_argument("--part", type=part, metavar="I/N",
                        help="make only a share of the runs, and no tables; in an array of SLURM jobs the "
                             "task's own")
    parser.add_argument("--output", type=Path, metavar="DIR",
                        help="where runs and results are kept (results/replicate-MODEL)")
    parser.add_argument("--programs", type=Path, default=Path("build/bin"), metavar="DIR",
                        help="where MODEL is (build/bin)")
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    given, options = parser.parse_known_args()
    for word in options:
        name = word.partition("=")[0]
        if name in OURS:
            parser.error(f"{name}: replicate decides it; must be left out")
        if name.startswith("--") and name[2:] in dict(given.vary):
            parser.error(f"{name}: is varied; must be left out beside --vary")
    names = [name for name, _ in given.vary]
    for name in names:
        if names.count(name) > 1 or f"--{name}" in OURS:
            parser.error(f"--vary {name}: legal is an option of the model, once")
    if given.part and given.until_precision:
        parser.error("--until-precision: with --part no task knows all runs; legal is --runs")
    given.options = options
    given.output = given.output or Path("results") / f"replicate-{given.model}"
    return given


def replicate(given):
    # Only now, so that --help needs no package.
    try:
        import matplotlib  # noqa: F401
        import scipy  # noqa: F401
    except ImportError as error:
        print(f"numawarp: replicate: {sys.executable} has no {error.name}; legal: a python with matplotlib and "
              "scipy, such as ./jobs/run finds", file=sys.stderr)
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
        print(f"numawarp: replicate: interrupted; the same command goes on from {given.output}",
              file=sys.stderr)
        return interrupted.exit_code
    except OSError as error:
        print(f"numawarp: replicate: {error}", file=sys.stderr)
        return 4


if __name__ == "__main__":
    sys.exit(main())
