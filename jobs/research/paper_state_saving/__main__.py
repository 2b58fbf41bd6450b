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
    timed.py        the runs in the modeled guest; timed_page.py their page
    plots.py        figure-2 … figure-9
    report.py       summary.md
    ../series/       the parts that all series share, with ../../lib/series/
"""

import argparse
import sys
from pathlib import Path

JOBS = Path(__file__).resolve().parents[2]
sys.path += [str(JOBS), str(JOBS.parent / "tests/guest")]
import timed  # noqa: E402
import timed_page  # noqa: E402
import topology  # noqa: E402
from research.qemu import guest_series  # noqa: E402
from research.series.command import Series, main, number_in, parsed, parser_of  # noqa: E402
from research.timed.arguments import CPUS_MAX  # noqa: E402
from research.timed.machines import MACHINES  # noqa: E402
from research.timed.series import add_options, demand_guest, refuse_options  # noqa: E402
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


def read(arguments):
    """(series, options) for the arguments of the command line."""
    parser = parser_of("paper-state-saving", "Figures 2 to 9 of 'The effect of state-saving in "
                       "optimistic simulation on a CC-NUMA architecture' (WSC 1999)", "pcs",
                       runs="5; --quick 2; --timed 3; --timed --quick 1",
                       codes="77 --timed: the guest cannot run here; ")
    parser.add_argument("--only", choices=["rates", "counts"],
                        help="rates and speed-ups, or the counts of cachegrind [both]")
    parser.add_argument("--until", type=number_in(1e-9, "above 0"), metavar="T",
                        help=f"end of each run for rates in virtual seconds [3600; --timed {timed.UNTIL}]")
    parser.add_argument("--workers", type=worker_counts, metavar="N,N,...",
                        help="numbers of workers [those of the paper, up to the number of cores; --timed "
                             f"{','.join(map(str, timed.WORKERS))}]")
    parser.add_argument("--counts", choices=["auto", "hardware", "cachegrind"],
                        help="source of the counts of misses and instructions; auto: the hardware if possible")
    parser.add_argument("--geometry", type=parsed_geometry, action="append", metavar="GEOMETRY",
                        help="caches and TLB that cachegrind simulates: this-machine, origin2000, "
                             "or NAME:SIZE,WAYS,LINE:SIZE,WAYS,LINE:ENTRIES,PAGE,HUGE_PAGE; may be "
                             "given several times [this-machine]")
    parser.add_argument("--without-prefetch", type=folder_with_pcs, metavar="DIR",
                        help="folder of a pcs that was built with NUMAWARP_PREFETCH=OFF; it is "
                             "also measured [none]")
    guest_series.add_option(parser, "timed", "run in an emulated machine with 8 nodes in modeled time",
                            f"{timed.NODES} nodes {timed.NODE}")
    add_options(parser, "--timed: ")
    options = parsed(parser, arguments)
    options.timed = timed.TOPOLOGY if options.timed is None else options.timed
    check(parser, options)
    return TIMED if options.timed else SERIES, options


def check(parser, options):
    """Refuses options that need --timed, exclude it, or do not fit the topology."""
    if not options.timed:
        refuse_options(parser, options)
        return
    for name in ("only", "counts", "geometry", "without_prefetch"):
        if getattr(options, name):
            parser.error(f"--{name.replace('_', '-')} is not allowed with --timed, which counts in each run")
    nodes = topology.parse(options.timed).nodes
    expected, cpus = len(MACHINES[timed.MACHINE].bandwidth), sum(node.cpus for node in nodes)
    if len(nodes) != expected or cpus > CPUS_MAX:
        parser.error(f"--timed {options.timed}: {len(nodes)} nodes with {cpus} CPUs; allowed: {expected} nodes with at "
                     f"most {CPUS_MAX} CPUs together")
    if options.workers and options.workers[-1] > cpus:
        parser.error(f"--workers {options.workers[-1]}: the topology has {cpus} CPUs")


SERIES = Series(name="paper-state-saving", program="pcs", plan=Plan, new_plan=new_plan,
                columns=COLUMNS, run_once=run_once, warnings=warnings, results=results, page=page)
TIMED = Series(name="paper-state-saving --timed", program="pcs", plan=timed.TimedPlan, new_plan=timed.new_plan,
               columns=COLUMNS, run_once=timed.run_once, warnings=timed.warnings, results=timed.results,
               page=timed_page.page, prepare=demand_guest)
sys.exit(main(read))
