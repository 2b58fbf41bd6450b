# SPDX-License-Identifier: Apache-2.0
"""Results that are computed from the runs of a series: medians, spreads, speed-ups, and warnings
for the reader."""

import statistics


def spread(values):
    """Median, minimum, maximum and number of the values; None if there are no values."""
    values = list(values)
    if not values:
        return None
    return {"median": statistics.median(values), "min": min(values), "max": max(values),
            "runs": len(values)}


def ratio(records, before, after, column):
    """The spread of before / after over pairs of runs. Both runs of a pair are from the same round,
    because a temporary slowdown of the machine affects both runs of a round."""
    slow, fast = records.of(before, column), records.of(after, column)
    return spread(slow[run] / fast[run] for run in sorted(slow.keys() & fast.keys()))


def speed_up(records, before, after):
    return ratio(records, before, after, "wall_seconds")


def warnings_about_runs(plan, records):
    """Warnings of one sentence each."""
    found = []
    missing = len(records.missing(plan))
    if missing:
        failed = sum(row["exit_code"] != "0" for row in records.rows())
        found.append(f"The series is incomplete. Missing runs: {missing}; failed runs: "
                     f"{failed}.")
    if plan.quick:
        found.append("A --quick series shows that everything works; it does not measure speed.")
    busy = sum(float(row["load_before"]) > 1.5 * plan.machine["cores"] for row in records.good())
    if busy:
        found.append(f"Before {busy} runs the load of the machine was above 1.5 per core: another program "
                     "was running.")
    return found
