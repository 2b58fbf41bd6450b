# SPDX-License-Identifier: Apache-2.0
"""One run of traffic, as a row of runs.csv."""

from lib.series.runner import common_row, run_programs

COLUMNS = ["objects", "inter_arrival_s", "daemons", "period_s", "rebind_s", "groups_moved",
           "pages_moved", "remote_page_share"]


def run_once(traffic, plan, variant, run, on_tick):
    """(the row for runs.csv, the message if the run failed)."""
    outcome = run_programs([[traffic, *variant.arguments(plan.workers, plan.seed)]], on_tick)
    return row_of(plan, variant, run, outcome), outcome.message


def row_of(plan, variant, run, outcome):
    numa = outcome.stats[0].get("numa", {})
    workload = variant.workload
    return {**common_row(plan, variant, run, outcome, plan.workers if variant.memory else 1,
                         workload.until),
            "objects": workload.objects, "inter_arrival_s": workload.inter_arrival,
            "daemons": variant.daemons, "period_s": variant.period, "rebind_s": variant.rebind,
            **{name: numa.get(name, "") for name in ("groups_moved", "pages_moved",
                                                     "remote_page_share")}}
