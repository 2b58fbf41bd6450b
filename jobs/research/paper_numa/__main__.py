# SPDX-License-Identifier: Apache-2.0
"""./jobs/run paper-numa: the experiments of figures 6 to 9 of "NUMA Time Warp" (Di Gennaro,
Pellegrini, Quaglia and others, PADS 2015), on this machine. docs/how-to/paper-numa.md describes how
to make and read them.

    experiments.py  the experiments, scaled to the machine
    runs.py         one run, as a row of runs.csv
    results.py      medians, spreads, speed-ups
    plots.py        figure-6 … figure-9
    report.py       summary.md
    metered.py      --meter: the experiments in a guest with several nodes, with metered_page.py and
                    ../meter/series.py
    ../series/       the parts that all series share, with ../../lib/series/
"""

import sys
from pathlib import Path

JOBS = Path(__file__).resolve().parents[2]
sys.path += [str(JOBS), str(JOBS.parent / "tests/guest")]
import metered  # noqa: E402
import metered_page  # noqa: E402
from research.meter import series  # noqa: E402
from research.series.command import Series, main, number_in, parsed, parser_of  # noqa: E402
from experiments import Plan, new_plan  # noqa: E402
from report import page  # noqa: E402
from results import results, warnings  # noqa: E402
from runs import COLUMNS, run_once  # noqa: E402


def rebind_period(text):
    return 0 if text == "off" else number_in(1e-3, "at least 0.001 seconds, or off")(text)


def read(arguments):
    """(series, options) for the arguments of the command line."""
    parser = parser_of("paper-numa", "The experiments of figures 6 to 9 of 'NUMA Time Warp' (PADS "
                       "2015), scaled to this machine", "traffic", runs="5; --quick 2; --meter 1",
                       codes="77 --meter: the guest cannot run here; ")
    parser.add_argument("--only", choices=["balanced", "unbalanced"],
                        help="figure 6, or figures 7 to 9 [both]")
    parser.add_argument("--until", type=number_in(1e-9, "above 0"), metavar="T",
                        help="end of each run in virtual seconds [balanced 20 days, unbalanced 12 "
                             "hours, multiplied by the number of cores; "
                             "--meter {balanced}, {unbalanced}]".format(**metered.UNTIL))
    parser.add_argument("--rebind", type=rebind_period, metavar="SECONDS|off",
                        help=f"period of rebalancing in the unbalanced runs [2; --meter {metered.REBIND}]")
    series.add_option(parser)
    options = parsed(parser, arguments)
    if options.meter is False:
        return SERIES, options
    options.meter = options.meter or series.TOPOLOGY
    return METERED, options


SERIES = Series(name="paper-numa", program="traffic", plan=Plan, new_plan=new_plan, columns=COLUMNS,
                run_once=run_once, warnings=warnings, results=results, page=page)
METERED = Series(name="paper-numa --meter", program="traffic", plan=metered.MeterPlan,
                 new_plan=metered.new_plan, columns=metered.COLUMNS, run_once=metered.run_once,
                 warnings=metered.warnings, results=metered.results, page=metered_page.page,
                 prepare=series.demand_guest)
sys.exit(main(read))
