# SPDX-License-Identifier: Apache-2.0
"""Common parts of the series whose runs take place in the guest: the option that selects the guest, and
one run by ./jobs/run meter or ./jobs/run timed. Requires: jobs/ and tests/guest are in sys.path."""

import argparse
import json
from pathlib import Path

import images
import topology
from lib.series.machine import ProgramFailed
from lib.series.runner import run_programs
from research.qemu.call import job

TOPOLOGY = "n8"
MODELED = ("All times are modeled, not measured: the runs took place in an emulated machine whose clock follows a "
           "model of caches, latencies and bandwidths.")  # the first warning of a series by ./jobs/run timed
SECONDS_MAX = 3600  # of one run, boot included


def topology_name(text):
    try:
        topology.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(error) from error
    return text


def add_option(parser, name, meaning, usual=TOPOLOGY):
    """The option --NAME: False if it is not given, None if it is given without a topology. `usual`: the
    topology of None, as text for the help."""
    parser.add_argument(f"--{name}", nargs="?", default=False, const=None, type=topology_name, metavar="TOPOLOGY",
                        help=f"{meaning} [{usual}]")


def demand_guest(name, series, programs, check_qemu=lambda qemu: None):
    """Raises ProgramFailed if the plug-in or the guest is missing, or check_qemu() raises Unavailable. May
    download the guest's kernel. `name`: meter or timed; `series`: Series.name; `qemu`: the words that start
    QEMU."""
    if not (programs / f"{name}_plugin.so").exists():
        raise ProgramFailed(4, f"no {name}_plugin.so in {programs}; ./jobs/run {series} builds it")
    try:
        check_qemu(images.provide().qemu)
    except images.Unavailable as reason:
        raise ProgramFailed(77, f"--{name}: {reason}") from reason


def run_in_guest(name, programs, topology_text, command, options, folder, on_tick):
    """(Outcome, content of the --json file or None). `name`: meter or timed; `folder`: a folder to which
    the command may write."""
    file = Path(folder) / "figures.json"
    words = [*job(name, programs, topology_text, file), *options, "--rw", folder, "--timeout", SECONDS_MAX, "--",
             *command]
    outcome = run_programs([words], on_tick, folder=Path(folder))
    return outcome, json.loads(file.read_text()) if outcome.code == 0 else None
