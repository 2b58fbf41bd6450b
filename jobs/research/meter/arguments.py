# SPDX-License-Identifier: Apache-2.0
"""Counts the accesses of a program to the memory of each NUMA node, in a guest with several nodes.

The guest of `./jobs/run guest` runs the command in QEMU's emulator. A plug-in counts each access of
user programs by node of the CPU, node of the page, kind of memory and phase of the run. It also
counts the misses in a model of caches and TLBs. Kinds and phases are known for programs of
numawarp; for other programs only nodes are known. A table goes to stderr, and all counts go to
results/ as JSON. docs/how-to/meter.md describes the counts.

Exit codes: those of ./jobs/run guest. The code 125 is also used if nothing was counted.
"""

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "jobs"), str(ROOT / "tests/guest")]
import run as guest  # noqa: E402
from lib.machine_file import BadMachine  # noqa: E402
from research.meter.counts import Counts  # noqa: E402
from research.meter.estimate import Memory, read_memory  # noqa: E402
from research.meter.presets import MACHINES  # noqa: E402
from research.qemu import plugin_job  # noqa: E402

NODES_MAX, CPUS_MAX = 16, 126  # limits of the plug-in


def period(text):
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0.1 <= seconds <= 3600:
        raise argparse.ArgumentTypeError(f"'{text}'; allowed: seconds from 0.1 to 3600")
    return seconds


def arguments():
    parser = guest.Parser("meter", __doc__)
    parser.add_argument("--caches", metavar="NAME", choices=MACHINES, default="opteron6128",
                        help=f"machine whose caches are modeled: {', '.join(MACHINES)} (opteron6128)")
    parser.add_argument("--json", metavar="FILE", type=Path,
                        help="file for the counts (results/meter-<date-time>.json)")
    parser.add_argument("--period", metavar="SECONDS", type=period,
                        help="divide the event loop into periods of this length, and also report the counts of each "
                             "period (from 0.1 to 3600)")
    parser.add_argument("--report", action="store_true",
                        help="also write a page with charts; its file is named as the one of --json, with the ending "
                             ".html")
    parser.add_argument("--programs", metavar="DIR", type=guest.folder, default=ROOT / "build/bin",
                        help="folder of the plug-in (build/bin)")
    parser.add_argument("--machine", metavar="FILE[#NAME]",
                        help="bandwidth and latency between nodes, for the estimate: JSON with rows `bw` (MB/s, one "
                             "row per node of CPUs) and optionally `latency_ns`, as ./jobs/run machine writes it")
    parser.add_argument("--against", metavar="FILE", type=Path,
                        help="the --json file of an earlier run with another placement; prints how much faster or "
                             "slower this run is, by the estimated times")
    given = parser.parse_words(sys.argv[1:])
    plugin_job.check_size(parser, given, NODES_MAX, CPUS_MAX)
    nodes = len(given.topology.nodes)
    try:
        given.memory = read_memory(given.machine, nodes) if given.machine else Memory()
        given.against = given.against and read_against(parser, given.against, nodes, given.caches)
    except BadMachine as error:
        parser.error(f"--machine {given.machine}: {error}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else error
        parser.error(f"--against: {what}; allowed: a file written by --json")
    given.memory = given.memory.completed(given.topology.distances, nodes)
    return given


def read_against(parser, file, nodes, caches):
    """The Counts in the --json file of an earlier run."""
    found = json.loads(file.read_text())
    if (len(found["nodes"]), found["caches"]) != (nodes, caches):
        parser.error(f"--against: the file has {len(found['nodes'])} nodes and the caches of {found['caches']}; "
                     f"allowed: {nodes} nodes and {caches}, as in this run")
    return Counts(found)


if __name__ == "__main__":
    arguments()  # jobs/run checks the arguments before it builds anything
