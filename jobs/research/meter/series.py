# SPDX-License-Identifier: Apache-2.0
"""Common parts of the series with the meter (./jobs/run paper-numa --meter, paper-bwap --meter): a run,
and the columns with its counts."""

import functools

from research.meter.counts import WORK
from research.meter.estimate import Estimate, Memory
from research.meter.presets import MACHINES
from research.qemu import guest_series

COLUMNS = ["local_share", "memory_an_event", "passed_an_event", "estimate_ns", "qemu_api"]
EMULATED = ("Counted in an emulated machine, with a model of its caches; values in nanoseconds, and ratios of these "
            "values, are estimates and not measured.")

demand_guest = functools.partial(guest_series.demand_guest, "meter")
run_metered = functools.partial(guest_series.run_in_guest, "meter")


def add_option(parser):
    guest_series.add_option(parser, "meter", "run in an emulated machine that counts local and remote accesses to "
                            "memory, not on this machine")


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
