"""What the runs of a series come to: medians, spreads, speed-ups, and what a reader must know before
believing them."""

import statistics


def spread(values):
    """Median, least and most; None where there is nothing."""
    values = list(values)
    if not values:
        return None
    return {"median": statistics.median(values), "min": min(values), "max": max(values),
            "runs": len(values)}


def ratio(records, before, after, column):
    """Of `before` over `after`, from runs of the same round: what slows the machine down for a
    while slows both."""
    slow, fast = records.of(before, column), records.of(after, column)
    return spread(slow[run] / fast[run] for run in sorted(slow.keys() & fast.keys()))


def speed_up(records, before, after):
    return ratio(records, before, after, "wall_seconds")


def warnings_about_runs(plan, records):
    """One sentence each."""
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
