"""What series of runs by the meter have in common (./jobs/run paper-numa --meter, paper-bwap --meter): their option,
a run in the guest, and the columns that its counts give. Requires: jobs/ and tests/guest are in sys.path."""

import argparse
import json
import tempfile
from pathlib import Path

import images
import topology
from lib.series.machine import ProgramFailed
from lib.series.runner import run_programs
from meter.call import job
from meter.counts import WORK
from meter.estimate import Estimate, Memory
from meter.presets import MACHINES

COLUMNS = ["local_share", "memory_an_event", "passed_an_event", "estimate_ns", "qemu_api"]
TOPOLOGY = "n8"
EMULATED = ("Counted in an emulated machine, with a model of its caches; values in nanoseconds, and ratios of these "
            "values, are estimates and not measured.")


def topology_name(text):
    try:
        topology.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(error) from error
    return text


def add_option(parser):
    """--meter: False without it, None with it and no name."""
    parser.add_argument("--meter", nargs="?", default=False, const=None, type=topology_name, metavar="TOPOLOGY",
                        help="run in an emulated machine that counts local and remote accesses to memory, not on this "
                             f"machine [{TOPOLOGY}]")


def demand_guest(name, programs):
    """Raises ProgramFailed where there is nothing to count in or by. May fetch the guest's kernel. `name`: of the series."""
    if not (programs / "meter_plugin.so").exists():
        raise ProgramFailed(4, f"no meter_plugin.so in {programs}; ./jobs/run {name} builds it")
    try:
        images.provide()
    except images.Unavailable as reason:
        raise ProgramFailed(77, f"--meter: {reason}") from reason


def run_metered(programs, topology_text, command, options, folder, on_tick):
    """(Outcome, the meter's JSON or None). `folder`: one that the command may write to."""
    file = Path(folder) / "meter.json"
    meter = [*job(programs, topology_text, file), *options, "--rw", folder, "--timeout", 3600, "--", *command]
    outcome = run_programs([meter], on_tick, folder=Path(folder))
    return outcome, json.loads(file.read_text()) if outcome.code == 0 else None


def counted(found, counts):
    """COLUMNS as a dictionary, of a part of what the meter has found. The estimate is of executing, rolling back and
    committing: how long workers wait, in the other phases, depends on how busy the host is."""
    loop = counts.of_loop()
    estimate = Estimate(counts.of_phases(WORK), MACHINES[found["caches"]],
                        Memory().completed(found["distances"], len(found["nodes"])))
    known = counts.committed
    return {"qemu_api": counts.api, "local_share": loop.local_share(),
            "memory_an_event": known and loop.sum("memory") / known,
            "passed_an_event": known and loop.sum("passed") / known,
            "estimate_ns": known and estimate.ns}
