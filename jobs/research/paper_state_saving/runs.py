# SPDX-License-Identifier: Apache-2.0
"""One run of pcs, or the counts of cachegrind in several runs, as a row of runs.csv."""

from pathlib import Path

from lib.series.runner import common_row, run_programs

import cachegrind
import hardware

COUNTS = list(hardware.FIGURES)
COLUMNS = ["method", "huge_pages", "gvt_interval", "prefetch", "counted_events", *COUNTS]


def run_for_rate(pcs, plan, variant, on_tick):
    """(Outcome, counts of the hardware in this run)."""
    program = pcs if variant.prefetch else Path(plan.without_prefetch) / pcs.name
    counting = hardware.OPTIONS if plan.counts == "hardware" else []
    outcome = run_programs([[program, *plan.arguments(variant, plan.until), *counting]], on_tick)
    return outcome, hardware.figures_of(outcome.stats[0]) if counting and outcome.code == 0 else {}


def run_once(pcs, plan, variant, run, on_tick):
    """(the row for runs.csv, the message if the run failed)."""
    outcome, counts = (cachegrind.count if variant.geometry else run_for_rate)(pcs, plan, variant,
                                                                               on_tick)
    until = plan.count_until[-1] if variant.geometry else plan.until
    return row_of(plan, variant, run, outcome, until, counts), outcome.message


def row_of(plan, variant, run, outcome, until, counts):
    """The row for runs.csv. `counts`: of COUNTS, and counted_events."""
    return {**common_row(plan, variant, run, outcome, variant.workers, until),
            "method": variant.method.name, "huge_pages": variant.huge_pages or plan.usual_huge_pages,
            "gvt_interval": variant.gvt_interval or "auto", "prefetch": "on" if variant.prefetch else "off", **counts}
