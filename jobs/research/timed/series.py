# SPDX-License-Identifier: Apache-2.0
"""Common parts of the series in modeled time: their options, a run, and what a run needs. Requires: jobs/ and
tests/guest are in sys.path."""

import dataclasses
import functools

from research.qemu import guest_series
from research.timed.arguments import OVERLAP, OVERLAP_MAX, number_in
from research.timed.version import check_version

demand_guest = functools.partial(guest_series.demand_guest, "timed", check_qemu=check_version)


@dataclasses.dataclass(kw_only=True)
class TimedSettings:
    """The part of a plan that all series in modeled time have."""

    latency_factor: float
    overlap_factor: float
    claims: bool  # only the runs that decide the claims


def add_options(parser, requires=""):
    """The options for TimedSettings. `requires`: the option that these options need, as text for the help."""
    parser.add_argument("--latency-factor", metavar="F", type=number_in(0.1, 10),
                        help=f"{requires}all latencies of memory are multiplied by F [1]")
    parser.add_argument("--overlap-factor", metavar="F", type=number_in(0.5, 2),
                        help=f"{requires}the number of misses that overlap is multiplied by F [1]")
    parser.add_argument("--claims", action="store_true",
                        help=f"{requires}only the runs that decide the claims of the paper (docs/papers.md)")


def refuse_options(parser, options):
    """Refuses the options for TimedSettings in a series that is not in modeled time."""
    for name in (field.name for field in dataclasses.fields(TimedSettings)):
        if getattr(options, name):
            parser.error(f"--{name.replace('_', '-')} is allowed only with --timed")


def settings_of(options):
    """The fields of TimedSettings."""
    return {"latency_factor": options.latency_factor or 1, "overlap_factor": options.overlap_factor or 1,
            "claims": options.claims}


def factors(settings):
    """A text about the factors of a plan, for a page; empty if both are 1. `settings`: the plan as a dictionary."""
    return "".join(f" {what} multiplied by {settings[name]:g}." for name, what in (
        ("latency_factor", "All latencies are"), ("overlap_factor", "The number of misses that overlap is"))
        if settings[name] != 1)


def run_timed(plan, programs, topology, command, options, folder, on_tick, overlap=OVERLAP):
    """(Outcome, content of the --json file or None) of `command` in the modeled guest. `plan`: with TimedSettings;
    `options`: of ./jobs/run timed; `overlap`: the number of misses that overlap, before it is multiplied."""
    overlap = min(OVERLAP_MAX, max(1, round(overlap * plan.overlap_factor)))
    return guest_series.run_in_guest("timed", programs, topology, command, [
        *options, "--latency-factor", plan.latency_factor, "--overlap", overlap], folder, on_tick)


def claim(text, value, paper):
    """A claim for summary.json. `value`: a spread or None; `paper`: the value of the paper, as text."""
    return {"claim": text, "value": value, "paper": paper}
