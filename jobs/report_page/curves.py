# SPDX-License-Identifier: Apache-2.0
"""The samples of a run over time, as points (seconds, value)."""

# The maximum number of points of a curve; more points would not be visible.
POINTS_MAX = 250


def thinned(rows):
    """Every n-th row and the last one, of the rows whose seconds increase."""
    rising, last = [], -1.0
    for row in rows:
        if row["seconds"] > last:
            rising.append(row)
            last = row["seconds"]
    step = -(-len(rising) // POINTS_MAX) or 1
    kept = rising[::step]
    if rising and kept[-1] is not rising[-1]:
        kept.append(rising[-1])
    # The last sample is taken at the end of the run, possibly very soon after the previous one. A
    # rate over such a short time would have no meaning, so the previous sample is removed.
    if len(kept) > 3 and kept[-1]["seconds"] - kept[-2]["seconds"] < \
            (kept[-2]["seconds"] - kept[-3]["seconds"]) / 2:
        del kept[-2]
    return kept


def rates(run):
    """Committed events per second between two samples."""
    rows = thinned(run.rows("history", "seconds", "committed_events"))
    return from_the_start(rows, [
        (b["seconds"], max(0, b["committed_events"] - a["committed_events"])
         / (b["seconds"] - a["seconds"])) for a, b in zip(rows, rows[1:])])


def from_the_start(rows, points):
    """Adds a point at the beginning of the first interval, with the value of the interval."""
    return [(rows[0]["seconds"], points[0][1]), *points] if points else []


def efficiencies(run):
    rows = thinned(run.rows("history", "seconds", "executed_events", "rolled_back_events"))
    points = []
    for a, b in zip(rows, rows[1:]):
        executed = b["executed_events"] - a["executed_events"]
        undone = b["rolled_back_events"] - a["rolled_back_events"]
        if executed > 0:
            points.append((b["seconds"], min(1.0, max(0.0, 1 - undone / executed))))
    return from_the_start(rows, points)


def values(run, column, least=None):
    rows = thinned(run.rows("history", "seconds", column))
    return [(row["seconds"], row[column]) for row in rows
            if row[column] >= 0 and (least is None or row[column] > least)]
