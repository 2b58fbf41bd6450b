# SPDX-License-Identifier: Apache-2.0
"""./jobs/run paper-numa: the experiments of figures 6 to 9 of "NUMA Time Warp" (Pellegrini and
Quaglia, PADS 2015), on this machine. docs/how-to/paper-numa.md describes how
to make and read them.

    experiments.py  the experiments, scaled to the machine
    runs.py         one run, as a row of runs.csv
    results.py      medians, spreads, speed-ups
    plots.py        figure-6 … figure-9
    report.py       summary.md
    metered.py      --meter: the experiments in a guest with several nodes, with metered_page.py and
                    ../meter/series.py
    timed.py        --timed: the experiments in the modeled guest, with timed_page.py
    ../series/       the parts that all series share, with ../../lib/series/
"""

import argparse
import sys
from pathlib import Path

JOBS = Path(__file__).resolve().parents[2]
sys.path += [str(JOBS), str(JOBS.parent / "tests/guest")]
import metered  # noqa: E402
import topology  # noqa: E402
import metered_page  # noqa: E402
import timed  # noqa: E402
import timed_page  # noqa: E402
from research.meter import series  # noqa: E402
from lib.machine_file import BadMachine  # noqa: E402
from research.qemu import guest_series, plugin_job  # noqa: E402
from research.series.command import Series, main, number_in, parsed, parser_of  # noqa: E402
from research.timed import machines  # noqa: E402
from research.timed import series as timed_series  # noqa: E402
from research.timed.arguments import CPUS_MAX, DEFAULT_CORES, NODES_MAX  # noqa: E402
from experiments import Plan, REBIND_POLICIES, new_plan  # noqa: E402
from report import page  # noqa: E402
from results import results, warnings  # noqa: E402
from runs import COLUMNS, run_once  # noqa: E402


def rebind_period(text):
    return 0 if text == "off" else number_in(1e-3, "at least 0.001 seconds, or off")(text)


def read(arguments):
    """(series, options) for the arguments of the command line."""
    parser = parser_of("paper-numa", "The experiments of figures 6 to 9 of 'NUMA Time Warp' (PADS "
                       "2015), scaled to this machine", "traffic and phold",
                       runs="5; --quick 2; --meter 1; --timed 3; --timed --quick 1",
                       codes="77 --meter and --timed: the guest cannot run here; ")
    parser.add_argument("--only", choices=timed.EXPERIMENTS,
                        help="figure 6, figures 7 to 9, or with --timed PHOLD with large states, the same while groups move, "
                             "or one process beside one rank per node [all]")
    parser.add_argument("--until", type=number_in(1e-9, "above 0"), metavar="T",
                        help="end of each run in virtual seconds [balanced 20 days, unbalanced 12 "
                             "hours, multiplied by the number of cores; "
                             "--meter {balanced}, {unbalanced}; --timed {0[balanced]}, {0[unbalanced]}, memory-bound "
                             "{0[memory-bound]}, moved {0[moved]}, ranks {0[ranks]}]".format(timed.UNTIL, **metered.UNTIL))
    parser.add_argument("--rebind", type=rebind_period, metavar="SECONDS|off",
                        help=f"period of rebalancing in the unbalanced runs [2; --meter {metered.REBIND}; --timed "
                             f"{timed.REBIND}]")
    parser.add_argument("--rebind-policy", choices=REBIND_POLICIES,
                        help="how a rebalancing assigns groups to workers; knapsack is the policy of the paper "
                             f"[{REBIND_POLICIES[0]}]")
    parser.add_argument("--lps-per-group", metavar="N", type=number_in(1, "at least 1", int),
                        help="objects that share memory pages and move together in the runs of traffic; 1 is the grain "
                             "of the paper [chosen by the engine]")
    series.add_option(parser)
    guest_series.add_option(parser, "timed", "run in an emulated machine in modeled time")
    parser.add_argument("--machine", choices=machines.MACHINES,
                        help="--timed: the modeled machine [opteron6128 if the topology has 8 nodes]")
    timed_series.add_options(parser, "--timed: ")
    options = parsed(parser, arguments)
    options.meter, options.timed = (guest_series.TOPOLOGY if value is None else value
                                    for value in (options.meter, options.timed))
    check(parser, options)
    return (METERED if options.meter else TIMED if options.timed else SERIES), options


def check(parser, options):
    """Refuses options that need --timed, exclude it, or do not fit the topology."""
    if options.meter and options.timed:
        parser.error("--meter and --timed exclude each other")
    if options.meter and options.rebind_policy:
        parser.error("--rebind-policy is not allowed with --meter, because groups then move at random")
    if not options.timed:
        timed_series.refuse_options(parser, options)
        for name, given in ((f"--only {options.only}", options.only in timed.ONLY_TIMED), ("--machine", options.machine)):
            if given:
                parser.error(f"{name} is allowed only with --timed")
    if options.timed:
        if options.until is not None and not options.only:
            parser.error("--timed --until is allowed only with --only, because the models have different units of time")
        nodes = topology.parse(options.timed)
        plugin_job.check_size(parser, argparse.Namespace(topology=nodes, topology_name=options.timed), NODES_MAX,
                              CPUS_MAX)
        try:
            if options.machine:
                machines.read(options.machine, nodes, DEFAULT_CORES)
        except BadMachine as error:
            parser.error(f"--machine: {error}")


SERIES = Series(name="paper-numa", program="traffic", plan=Plan, new_plan=new_plan, columns=COLUMNS,
                run_once=run_once, warnings=warnings, results=results, page=page)
METERED = Series(name="paper-numa --meter", program="traffic", plan=metered.MeterPlan,
                 new_plan=metered.new_plan, columns=metered.COLUMNS, run_once=metered.run_once,
                 warnings=metered.warnings, results=metered.results, page=metered_page.page,
                 prepare=series.demand_guest)
TIMED = Series(name="paper-numa --timed", program="traffic", plan=timed.TimedPlan, new_plan=timed.new_plan,
               columns=COLUMNS, run_once=timed.run_once, warnings=timed.warnings, results=timed.results,
               page=timed_page.page, prepare=timed.demand_guest)
sys.exit(main(read))
