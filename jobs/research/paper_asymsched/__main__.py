# SPDX-License-Identifier: Apache-2.0
"""./jobs/run paper-asymsched: measurements of slides 4, 5, 10 and 11 of "Thread and Memory Placement on NUMA Systems:
Asymmetry Matters" (Lepers, Quéma, Fedorova, USENIX ATC 2015), in modeled time.
docs/how-to/paper-asymsched.md describes how to make and read them.

    experiments.py  the runs on two nodes, and the paper's values
    nodes.py        the runs on three nodes, and of three programs
    together.py     starts three programs, in the guest
    runs.py         one run in the modeled guest (../timed), as a row of runs.csv; ratios and warnings
    plots.py        pairs.svg
    report.py       summary.md
    ../series/      the parts that all series share, with ../../lib/series/
"""

import sys
from pathlib import Path

JOBS = Path(__file__).resolve().parents[2]
sys.path += [str(JOBS), str(JOBS.parent / "tests/guest")]
from research.series.command import Series, main, number_in, parser_of, parsed  # noqa: E402
from research.timed.arguments import number_in as factor_in  # noqa: E402
from research.timed.series import add_options, demand_guest  # noqa: E402
from experiments import EXPERIMENTS, INSTRUCTION_NS, Plan, ends, new_plan  # noqa: E402
from report import page  # noqa: E402
from runs import COLUMNS, results, run_once, warnings  # noqa: E402


def read(arguments):
    """(series, options) for the arguments of the command line."""
    parser = parser_of("paper-asymsched", "One program on two or three nodes, and three programs, on the machine of AsymSched (USENIX ATC 2015), "
                       "in modeled time", "phold", runs="3; --quick 1", codes="77 the guest cannot run here; ")
    parser.add_argument("--only", choices=EXPERIMENTS, help="one program on two or on three nodes, or three programs at the same time [all]")
    parser.add_argument("--until", type=number_in(1e-9, "above 0"), metavar="T",
                        help="end of each run in virtual time ["
                             + "; ".join(f"{name} {end}, --quick {ends(True)[name]}" for name, end in ends(False).items()) + "]")
    add_options(parser)
    parser.add_argument("--instruction", metavar="NS", type=factor_in(0.01, 100, " ns"),
                        help=f"time of an instruction [{INSTRUCTION_NS}]")
    return SERIES, parsed(parser, arguments)


SERIES = Series(name="paper-asymsched", program="phold", plan=Plan, new_plan=new_plan, columns=COLUMNS,
                run_once=run_once, warnings=warnings, results=results, page=page, prepare=demand_guest)
sys.exit(main(read))
