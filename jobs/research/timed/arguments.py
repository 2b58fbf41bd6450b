# SPDX-License-Identifier: Apache-2.0
"""Runs a program on an emulated machine with several NUMA nodes. The time of this machine is
modeled.

The guest of `./jobs/run guest` runs the command in QEMU's emulator. A plug-in owns the clock of the
guest: each instruction takes a fixed time, and each access to memory takes the time that a model of
caches, TLBs, latencies and bandwidths computes. Programs in the guest measure these times with the
usual functions, so `wall time` in the report of a model is modeled time. The load of the host, on
which QEMU runs, hardly changes the modeled time. docs/how-to/timed.md describes the model and its
limits.

Every time that a program measures in this guest is a modeled time, and not a time of real hardware.

Exit codes: those of ./jobs/run guest; 77 also if this QEMU cannot be used; 125 also if nothing was
counted.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "jobs"), str(ROOT / "tests/guest")]
import run as guest  # noqa: E402
from lib.machine_file import BadMachine  # noqa: E402
from research.meter.presets import MACHINES as CORES  # noqa: E402
from research.qemu import plugin_job  # noqa: E402
from research.timed import machines  # noqa: E402

NODES_MAX, CPUS_MAX = 16, 16  # limits of the plug-in
DEFAULT_CORES = "opteron6128"
TIMEOUT = 3600
OVERLAP, OVERLAP_MAX = 10, 128  # misses at the same time
LINE_BYTES = 64
# The cost model has one size of lines.
USABLE_CORES = {name: cores for name, cores in CORES.items() if all(cache.line == LINE_BYTES for cache in cores.caches)}


def number_in(low, high, unit="", whole=False):
    def parse(text):
        try:
            number = int(text) if whole else float(text)
        except ValueError:
            number = float("nan")
        if not low <= number <= high:
            raise argparse.ArgumentTypeError(f"'{text}'; allowed: {'whole numbers from ' * whole}{low:g} to {high:g}{unit}")
        return number
    return parse


def arguments():
    parser = guest.Parser("timed", __doc__, timeout=TIMEOUT)
    add = parser.add_argument
    add("--machine", metavar="NAME|FILE[#NAME]",
        help=f"latency and bandwidth between nodes: {', '.join(machines.MACHINES)}, or JSON as ./jobs/run machine "
             "writes it (default: the distances of the topology)")
    add("--caches", metavar="NAME", choices=USABLE_CORES,
        help=f"caches and speed of a core: {', '.join(USABLE_CORES)} (those of --machine, or {DEFAULT_CORES})")
    add("--instruction", metavar="NS", type=number_in(0.01, 100, " ns"),
        help="time of an instruction (the time of --caches)")
    add("--overlap", metavar="N", type=number_in(1, OVERLAP_MAX, whole=True), default=OVERLAP,
        help="number of misses that overlap: the latency of a miss is divided by N if the access is a store or if the "
             f"lines of the misses are consecutive ({OVERLAP})")
    add("--latency-factor", metavar="F", type=number_in(0.1, 10),
        help="all latencies of memory are multiplied by F (1)", default=1)
    add("--skew", metavar="NS", type=number_in(100, 1e6, " ns"),
        help="how far a CPU may be ahead of the slowest one (1000)", default=1000)
    add("--json", metavar="FILE", type=Path, help="file for the counts (results/timed-<date-time>.json)")
    add("--programs", metavar="DIR", type=guest.folder, default=ROOT / "build/bin",
        help="folder of the plug-in (build/bin)")
    given = parser.parse_words(sys.argv[1:])
    plugin_job.check_size(parser, given, NODES_MAX, CPUS_MAX)
    if re.search(r"[ :]", str(given.programs)):
        parser.error(f"--programs {given.programs}: the path contains a space or a colon; allowed: a path without them, "
                     "because QEMU loads the plug-in with LD_PRELOAD")
    try:
        given.machine_name = given.machine or "the distances of the topology"
        given.machine = (machines.read(given.machine, given.topology, given.caches or DEFAULT_CORES) if given.machine
                         else machines.of_topology(given.topology, given.caches or DEFAULT_CORES))
    except BadMachine as error:
        parser.error(f"--machine {given.machine}: {error}; or one of {', '.join(machines.MACHINES)}")
    given.caches = given.caches or given.machine.cores
    if not given.dist:
        given.topology = machines.with_distances(given.topology, given.machine)
    return given


if __name__ == "__main__":
    arguments()  # jobs/run checks the arguments before it builds anything
