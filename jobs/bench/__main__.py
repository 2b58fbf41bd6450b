# SPDX-License-Identifier: Apache-2.0
"""Measures the speed of the engines as ratios, and the instructions per event. Compared are PHOLD
with a plain loop without an engine, Time Warp with the sequential engine on all models, and MPI
ranks with workers. Other cases are kinds of rollback, many LPs, large states, and workers beside
foreign processes on too few cores. Each ratio is printed with its target.

In each round, everything is measured once, so that noise of the machine affects all measurements.
The medians over the rounds are compared."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
from lib.arguments import Parser  # noqa: E402
from lib.series.machine import cpu_model  # noqa: E402

import measure  # noqa: E402
import results  # noqa: E402
import rows  # noqa: E402


def sections(text):
    names = text.split(",")
    for name in names:
        if name not in rows.SECTIONS:
            raise argparse.ArgumentTypeError(f"'{name}'; allowed: {', '.join(rows.SECTIONS)}")
    return names


def rounds(text):
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}'; allowed: a number from 1")
    return int(text)


def arguments():
    parser = Parser("bench", description=__doc__,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=rounds, default=5, metavar="N",
                        help="number of measurements of each figure (5)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--sections", type=sections, default=list(rows.SECTIONS), metavar="NAME,...",
                       help=f"what to measure, of {', '.join(rows.SECTIONS)} (all)")
    which.add_argument("--crowded", action="store_const", dest="sections", const=["crowded"],
                       help="as --sections crowded: only workers beside foreign processes, compared with "
                            "their fair share of the cores")
    parser.add_argument("--programs", type=Path, default=Path("build/bin"), metavar="DIR",
                        help="folder of the programs (build/bin)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="file for the figures")
    return parser.parse_args()


def facts(programs):
    """Machine, commit, compiler and date of the figures, from a run of PHOLD."""
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        stats = Path(folder) / "stats.json"
        subprocess.run([programs / "phold", "--until", "1", "--quiet", "--stats", stats], check=True)
        found = json.loads(stats.read_text())
    return {"machine": f"{cpu_model()}, {os.cpu_count()} CPUs", "commit": found["commit"],
            "compiler": found["machine"]["compiler"], "date": found["date"][:10]}


def main():
    given = arguments()
    wanted_rows = [row for name in given.sections for row in rows.SECTIONS[name]()]
    samples = results.Samples(wanted_rows)
    about = facts(given.programs)
    for number in range(1, given.rounds + 1):
        for row in wanted_rows:
            for column, run in row.columns.items():
                print(f"\rround {number} of {given.rounds}: {row.name}, {column:40.40}"[:100],
                      end="", file=sys.stderr, flush=True)
                found = samples.of[row.name, column]
                # Instructions are the same in each round.
                found.append(found[0] if run.lengths and found else measure.take(run, given.programs))
    print(f"\r{'':100}\r", end="", file=sys.stderr)
    print(f"medians of {given.rounds} rounds; ratios of medians, with the smallest and the largest ratio of a round")
    print("\n".join(results.lines(samples)))
    if given.json:
        found = {**about, "rounds": given.rounds, "rows": samples.json()}
        given.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
