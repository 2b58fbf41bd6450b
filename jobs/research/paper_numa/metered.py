# SPDX-License-Identifier: Apache-2.0
"""./jobs/run paper-numa --meter: the runs of figures 6 to 9 in a guest with several nodes, where
the meter counts local and remote accesses to memory. The results are shares and estimates, not
times, because the speed of an emulated machine has no meaning. The load is shifted artificially:
half of the groups, chosen at random, change their worker every `rebind` seconds. The results of
figures 7 to 9 are counted after the first change."""

import dataclasses
import tempfile

from experiments import PAPER_PERIODS, Plan, Variant, guest_settings
from lib.series.runner import common_row
from research.meter import series
from research.meter.counts import Counts, since_moved, together
from research.series.summary import ratio, spread, warnings_about_runs

COLUMNS = ["daemons", "period_s", "rebind_s", "groups_moved", "pages_moved", *series.COLUMNS]
CACHES = "opteron6128"  # the caches of the paper's machine
# Virtual seconds. A run has 147,000 events with the unbalanced load, and 5,754 to 15,228 events
# with the balanced load. On n8 on a host with two cores, 49,001 events of the unbalanced load took
# 3 s if the host was idle, and 50 s if it was busy. So the load shifts at least twice in a run.
UNTIL = {"balanced": 3600, "unbalanced": 1800}
REBIND, SHARE_MOVED = 3, 0.5
PERIODS = [period / 4 for period in PAPER_PERIODS]  # the runs are shorter by a factor of 4, too
PERIODS_BETWEEN = 8  # periods of the meter from one shift to the next
QUICK = {"until": {"balanced": 600, "unbalanced": 200}, "rebind": 0.25, "periods": (0.1,)}


@dataclasses.dataclass(frozen=True)
class Metered(Variant):
    def arguments(self, workers, seed):
        words = super().arguments(workers, seed)
        return [*words, "--check-rebind", SHARE_MOVED] if self.rebind else words


@dataclasses.dataclass
class MeterPlan(Plan):
    topology: str

    def balanced(self):
        return self._parallel(super().balanced())

    def unbalanced(self):
        return self._parallel(super().unbalanced())

    def _parallel(self, variants):
        """The variants without the sequential one, which uses only one CPU."""
        return [Metered(**vars(variant)) for variant in variants if variant.memory]


def new_plan(options, machine):
    settings = guest_settings(options, machine, options.meter, {
        "until": UNTIL, "rebind": REBIND, "periods": PERIODS, "experiments": ["balanced", "unbalanced"],
        "runs": 1} | (QUICK if options.quick else {}))
    return MeterPlan(**settings, balanced_period=1)


def run_once(traffic, plan, variant, run, on_tick):
    """(the row for runs.csv, the message if the run failed)."""
    period = max(0.1, plan.rebind / PERIODS_BETWEEN)
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        outcome, found = series.run_metered(
            traffic.parent, plan.topology, [traffic, *variant.arguments(plan.workers, plan.seed)],
            ["--caches", CACHES, "--period", period], folder, on_tick)
    numa = outcome.stats[0].get("numa", {})
    return {**common_row(plan, variant, run, outcome, plan.workers, variant.workload.until),
            "daemons": variant.daemons, "period_s": variant.period, "rebind_s": variant.rebind,
            **{name: numa.get(name, "") for name in ("groups_moved", "pages_moved")},
            **(counted(found, bool(variant.rebind)) if found else {})}, outcome.message


def counted(found, after_move):
    """The columns from the meter's JSON; empty if after_move is set and no groups moved."""
    periods = [Counts(fields) for fields in found["periods"]]
    counts = since_moved(periods) if after_move else together(periods)
    return {} if counts is None else series.counted(found, counts)


# --- Results -----------------------------------------------------------------------------------

def results(plan, records):
    variants = {variant.key: variant for variant in plan.variants()}
    found = {"metered": [{"workload": workload, "variant": name,
                          **{column: spread(records.of(variant, column).values())
                             for column in ("local_share", "memory_an_event", "passed_an_event",
                                            "estimate_ns", "groups_moved", "pages_moved")}}
                         for (workload, name), variant in variants.items()]}
    if "unbalanced" in plan.experiments:
        shares, gains = {}, {"numa": {}, "libc": {}, "libc owners": {}}
        for daemons in plan.daemons:
            for surface in (shares, *gains.values()):
                surface[daemons] = {}
            for period in plan.periods:
                variant = variants["unbalanced", f"numa {daemons}@{period:g}"]
                shares[daemons][period] = spread(records.of(variant, "local_share").values())
                for base, surface in gains.items():
                    surface[daemons][period] = ratio(records, variants["unbalanced", base], variant,
                                                     "estimate_ns")
        found |= {"figure_7": shares, "figure_8": gains["numa"], "figure_9": gains["libc"],
                  "figure_9b": gains["libc owners"]}
    return found


def warnings(plan, records):
    found = [series.EMULATED, *warnings_about_runs(plan, records)]
    unmoved = {" ".join(variant.key) for variant in plan.variants()
               if variant.rebind and records.of(variant) and not records.of(variant, "local_share")}
    if unmoved:
        found.append(f"These runs ended before groups had changed their worker: {', '.join(sorted(unmoved))}. "
                     "Use a larger --until or a smaller --rebind.")
    return found
