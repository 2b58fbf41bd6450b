# SPDX-License-Identifier: Apache-2.0
"""./jobs/run paper-bwap: the tables of "Bandwidth-Aware Page Placement in NUMA Systems" (Gureya et
al., IPDPS 2020) for numawarp's placements. The tables contain the speed of memory reads with each
placement of pages, for 1 to 8 worker nodes, on two published machines or on yours. The tables are
computed by the paper's model (model.py); nothing is run.

Writes paper-bwap.json, paper-bwap.svg, paper-bwap.png and paper-bwap.md into a folder.

With --meter [TOPOLOGY], the placements are run in an emulated machine that counts accesses to
memory (metered.py). With --timed [TOPOLOGY], they are run in an emulated machine in modeled time
(timed.py). They take half an hour and an hour and a half, and have their own options; see --meter --help and
--timed --help."""

import argparse
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parents[1]), str(HERE.parents[2] / "tests/guest")]
from lib import machine_file  # noqa: E402
from lib.arguments import Parser  # noqa: E402

MACHINES = str(HERE / "machines.json")
PUBLISHED = ("opteron_8n", "opteron6272_8n")  # the machines of MACHINES whose bandwidths are published
NODES_MAX = 16
MODEL = ("The model: a worker reads from all nodes at the same time, and from each node the share of the pages that "
         "are on this node. The speed is the minimum of bandwidth / share over all workers and nodes, in MB/s per "
         "worker. If the bandwidth of a node to its own memory is unknown, the bandwidth of the fastest link of the "
         "node is used.")


def is_machine(machine):
    bw = machine.get("bw") if isinstance(machine, dict) else None
    if not isinstance(bw, list) or not 1 < len(bw) <= NODES_MAX:
        return False
    return all(isinstance(row, list) and len(row) == len(bw)
               and all(isinstance(value, int | float) and not isinstance(value, bool)
                       and (value > 0 or value == 0 and a == b) for b, value in enumerate(row))
               for a, row in enumerate(bw))


def machines_of(text):
    """{name: machine} of FILE or FILE#NAME."""
    allowed = ("allowed: a machine file as written by ./jobs/run machine, with 2 to 16 nodes and every bandwidth above 0 "
             "except on the diagonal, or FILE#NAME")
    try:
        name, found = machine_file.read(text)
    except machine_file.BadMachine as error:
        raise argparse.ArgumentTypeError(f"{text}: {error}") from None
    if name or isinstance(found, dict) and "bw" in found:
        found = {name or Path(text).stem: found}
    elif isinstance(found, dict):
        found = {key: value for key, value in found.items() if isinstance(value, dict)}
    if not found or not isinstance(found, dict) or not all(map(is_machine, found.values())):
        raise argparse.ArgumentTypeError(f"{text}: {allowed}")
    return found


def published():
    return {name: machine for name, machine in machines_of(MACHINES).items() if name in PUBLISHED}


def arguments():
    parser = Parser("paper-bwap", description=__doc__,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", type=machines_of, metavar="FILE[#NAME]",
                        help="file of the machines; default: two published machines")
    parser.add_argument("--output", type=Path, default=Path("results"), metavar="DIR",
                        help="folder for the results (results)")
    return parser.parse_args()


def predict():
    given = arguments()
    # Imported here, so that --help needs no package.
    import plots
    from model import table
    from page import page

    result = {"schema": "numawarp.paper-bwap/1", "model": MODEL,
              "machines": {name: {"source": machine.get("source") or "your machine",
                                  "rows": table(machine["bw"])}
                           for name, machine in (given.machine or published()).items()}}
    given.output.mkdir(parents=True, exist_ok=True)
    (given.output / "paper-bwap.json").write_text(json.dumps(result, indent=1) + "\n")
    text = page(result)
    (given.output / "paper-bwap.md").write_text(text)
    plots.draw(given.output / "paper-bwap", result)
    print(text, end="")
    return 0


def read_metered(words):
    """(series, options) for the words of the command line."""
    import metered
    import metered_page
    from research.meter import series
    from research.qemu.guest_series import TOPOLOGY
    from research.series.command import Series, parsed, parser_of

    parser = parser_of("paper-bwap --meter", "The placements of 'Bandwidth-Aware Page Placement in NUMA Systems' "
                       "(IPDPS 2020) in an emulated machine", "phold", runs="1",
                       codes="77 the guest cannot run here; ")
    parser.add_argument("--machine", type=machines_of, metavar="FILE[#NAME]",
                        help="machines for the calculation; the topology has their first nodes [two published machines]")
    series.add_option(parser)
    options = parsed(parser, words)
    options.meter = options.meter or TOPOLOGY
    options.machine = options.machine or published()
    return Series(name="paper-bwap --meter", program="phold", plan=metered.MeterPlan, new_plan=metered.new_plan,
                  columns=metered.COLUMNS, run_once=metered.run_once, warnings=metered.warnings,
                  results=metered.results, page=metered_page.page, prepare=series.demand_guest), options


def read_timed(words):
    """(series, options) for the words of the command line."""
    import timed
    import timed_page
    from research.qemu import guest_series
    from research.series.command import Series, parsed, parser_of
    from research.timed import machines
    from research.timed.arguments import number_in
    from research.timed.series import add_options, demand_guest

    parser = parser_of("paper-bwap --timed", "The placements of 'Bandwidth-Aware Page Placement in NUMA Systems' "
                       "(IPDPS 2020) in an emulated machine, in modeled time", "phold", runs="1",
                       codes="77 the guest cannot run here; ")
    parser.add_argument("--machine", type=machines_of, metavar="FILE#NAME",
                        help=f"the modeled machine; the topology has its first nodes [{machines.USUAL}]")
    add_options(parser)
    parser.add_argument("--instruction", metavar="NS", type=number_in(0.04, 100, " ns"),
                        help="time of an instruction of a core [that of --machine]")
    guest_series.add_option(parser, "timed", "nodes of the modeled machine, and their memory")
    options = parsed(parser, words)
    options.timed = options.timed or guest_series.TOPOLOGY
    options.machine = options.machine or machines_of(f"{MACHINES}#{machines.USUAL}")
    return Series(name="paper-bwap --timed", program="phold", plan=timed.TimedPlan, new_plan=timed.new_plan,
                  columns=timed.COLUMNS, run_once=timed.run_once, warnings=timed.warnings, results=timed.results,
                  page=timed_page.page, prepare=demand_guest), options


def main():
    given = {word.partition("=")[0] for word in sys.argv[1:]}
    if not given & {"--meter", "--timed"}:
        return predict()
    from research.series.command import main as run_series

    return run_series(read_metered if "--meter" in given else read_timed)


sys.exit(main())
