# SPDX-License-Identifier: Apache-2.0
"""Common parts of the series with the meter (./jobs/run paper-numa --meter, paper-bwap --meter):
the option, a run in the guest, and the columns with its counts. Requires: jobs/ and tests/guest are
in sys.path."""

import argparse
import json
import tempfile
from pathlib import Path

import images
import topology
from lib.series.machine import ProgramFailed
from lib.series.runner import run_programs
from research.qemu.call import job
from research.meter.counts import WORK
from research.meter.estimate import Estimate, Memory
from research.meter.presets import MACHINES

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
    """--meter: False if it is not given, None if it is given without a topology."""
    parser.add_argument("--meter", nargs="?", default=False, const=None, type=topology_name, metavar="TOPOLOGY",
                        help="run in an emulated machine that counts local and remote accesses to memory, not on this "
                             f"machine [{TOPOLOGY}]")


def demand_guest(name, programs):
    """Raises ProgramFailed if the plug-in or the guest is missing. May download the guest's kernel.
    `name`: of the series."""
    if not (programs / "meter_plugin.so").exists():
        raise ProgramFailed(4, f"no meter_plugin.so in {programs}; ./jobs/run {name} builds it")
    try:
        images.provide()
    except images.Unavailable as reason:
        raise ProgramFailed(77, f"--meter: {reason}") from reason


def run_metered(programs, topology_text, command, options, folder, on_tick):
    """(Outcome, the meter's JSON or None). `folder`: a folder to which the command may write."""
    file = Path(folder) / "meter.json"
    meter = [*job("meter", programs, topology_text, file), *options, "--rw", folder, "--timeout", 3600, "--", *command]
    outcome = run_programs([meter], on_tick, folder=Path(folder))
    return outcome, json.loads(file.read_text()) if outcome.code == 0 else None


def counted(found, counts):
    """{column: value} of COLUMNS for `counts`, a part of the meter's JSON `found`. The estimate
    covers execution, rollback and commit. The other phases contain waiting times, which depend on
    the load of the host."""
    loop = counts.of_loop()
    estimate = Estimate(counts.of_phases(WORK), MACHINES[found["caches"]],
                        Memory().completed(found["distances"], len(found["nodes"])))
    known = counts.committed
    return {"qemu_api": counts.api, "local_share": loop.local_share(),
            "memory_an_event": known and loop.sum("memory") / known,
            "passed_an_event": known and loop.sum("passed") / known,
            "estimate_ns": known and estimate.ns}
