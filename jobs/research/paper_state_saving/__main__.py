# SPDX-License-Identifier: Apache-2.0
"""./jobs/run paper-state-saving: figures 2 to 9 of "The effect of state-saving in optimistic
simulation on a cache-coherent non-uniform memory access architecture" (Carothers, Perumalla,
Fujimoto, WSC 1999), on this machine. docs/how-to/paper-state-saving.md describes how to make and
read them.

    experiments.py  the experiments
    runs.py         one run, as a row of runs.csv
    cachegrind.py   counts of a simulated machine
    hardware.py     counts of the hardware
    geometry.py     caches and TLBs for cachegrind
    results.py      medians, spreads, speed-ups
    plots.py        figure-2 … figure-9
    report.py       summary.md
    ../series/       the parts that all series share, with ../../lib/series/
"""

import argparse
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))
from research.series.command import Series, main, number_in, parsed, parser_of  # noqa: E402
from experiments import Plan, new_plan  # noqa: E402
from geometry import parsed_geometry  # noqa: E402
from report import page  # noqa: E402
from results import results, warnings  # noqa: E402
from runs import COLUMNS, run_once  # noqa: E402


def worker_counts(text):
    try:
        counts = sorted({int(word) for word in text.split(",")})
    except ValueError:
        counts = [0]
    if counts[0] < 1:
        raise argparse.ArgumentTypeError(f"'{text}': must be whole numbers of at least 1, as in 1,2,4")
    return counts


def folder_with_pcs(text):
    if not (Path(text) / "pcs").exists():
        raise argparse.ArgumentTypeError(f"'{text}': the folder has no program pcs")
    return Path(text).resolve()


def read_options(arguments):
    parser = parser_of("paper-state-saving", "Figures 2 to 9 of 'The effect of state-saving in "
                       "optimistic simulation on a CC-NUMA architecture' (WSC 1999)", "pcs")
    parser.add_argument("--only", choices=["rates", "counts"],
                        help="rates and speed-ups, or the counts of cachegrind [both]")
    parser.add_argument("--until", type=number_in(1e-9, "above 0"), metavar="T",
                        help="end of each run for rates in virtual seconds [3600]")
    parser.add_argument("--workers", type=worker_counts, metavar="N,N,...",
                        help="numbers of workers [those of the paper, up to the number of cores]")
    parser.add_argument("--counts", choices=["auto", "hardware", "cachegrind"],
                        help="source of the counts of misses and instructions; auto: the hardware if possible")
    parser.add_argument("--geometry", type=parsed_geometry, action="append", metavar="GEOMETRY",
                        help="caches and TLB that cachegrind simulates: this-machine, origin2000, "
                             "or NAME:SIZE,WAYS,LINE:SIZE,WAYS,LINE:ENTRIES,PAGE,HUGE_PAGE; may be "
                             "given several times [this-machine]")
    parser.add_argument("--without-prefetch", type=folder_with_pcs, metavar="DIR",
                        help="folder of a pcs that was built with NUMAWARP_PREFETCH=OFF; it is "
                             "also measured [none]")
    return parsed(parser, arguments)


SERIES = Series(name="paper-state-saving", program="pcs", plan=Plan, new_plan=new_plan,
                columns=COLUMNS, run_once=run_once, warnings=warnings, results=results, page=page)
sys.exit(main(lambda words: (SERIES, read_options(words))))
