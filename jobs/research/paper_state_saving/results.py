# SPDX-License-Identifier: Apache-2.0
"""Computes the values of the paper's figures from the runs. Writes no files and no pictures."""

from research.series.summary import speed_up, spread, warnings_about_runs

import hardware
from experiments import Variant

# Figure number -> (column, name) of a count per committed event.
COUNTS = {4: ("l1_misses", "misses of the first-level data cache"),
          5: ("l2_misses", "data misses of the last level"), 6: ("tlb_misses", "TLB misses"),
          7: ("instructions", "instructions"), 8: ("stores", "stores"), 9: ("loads", "loads")}


def rate(records, variant):
    """Committed events per second."""
    events, seconds = records.of(variant, "committed_events"), records.of(variant)
    return spread(events[run] / seconds[run] for run in seconds)


def measured(records, variant):
    baseline = Variant(variant.method.baseline, 1)
    return {"rate": rate(records, variant), "speed_up": speed_up(records, baseline, variant),
            "efficiency": spread(records.of(variant, "efficiency").values())}


def rates(plan, records):
    """{method: {workers: values of figures 2 and 3}}."""
    found = {}
    for variant in plan.points():
        found.setdefault(variant.method.name, {})[variant.workers] = measured(records, variant)
    return found


def later(plan, records):
    """The future work of the paper: each variant compared with the run with the defaults."""
    found = []
    for variant in plan.later_points():
        usual = Variant(variant.method, variant.workers)
        found.append({"method": variant.method.name, "workers": variant.workers,
                      "change": variant.change, "rate": rate(records, variant),
                      "speed_up": speed_up(records, usual, variant)})
    return found


def an_event(records, variant):
    """Figures 4 to 9: {column: spread over the runs} of the columns that were counted."""
    events = records.of(variant, "counted_events")
    found = {}
    for column in hardware.FIGURES:
        counted = records.of(variant, column)
        if counted:
            found[column] = spread(counted[run] / events[run] for run in counted)
    return found


def counted_figures(summary):
    """COUNTS without the figures whose column was not counted."""
    columns = {column for methods in summary["counts"].values() for points in methods.values()
               for point in points.values() for column in point}
    return {number: count for number, count in COUNTS.items() if count[0] in columns}


def counts(plan, records):
    """{source: {method, with huge pages or not: {workers: counts per event}}}. The source is a simulated geometry, or
    Plan.counts."""
    variants = plan.counted() if plan.counts == "cachegrind" else plan.points()
    found = {}
    for variant in variants:
        where = variant.geometry.name if variant.geometry else plan.counts
        name = variant.method.name + (", huge pages" if variant.huge_pages == "on" else "")
        figures = an_event(records, variant)
        if figures:
            found.setdefault(where, {}).setdefault(name, {})[variant.workers] = figures
    return found


def warnings(plan, records):
    found = warnings_about_runs(plan, records)
    if plan.counts == "cachegrind" and plan.only != "rates":
        found.append("Counts are from cachegrind, in simulated caches, with one worker: this machine has "
                     "no usable hardware counters, or --counts selected cachegrind.")
    if len(plan.worker_counts) > 1 and plan.worker_counts[-1] > plan.machine["cores"]:
        found.append("There were more workers than cores.")
    return found


def results(plan, records):
    found = {"counts": counts(plan, records)}
    if plan.only != "counts":
        found |= {"rates": rates(plan, records), "later": later(plan, records)}
    return found
