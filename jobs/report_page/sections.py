# SPDX-License-Identifier: Apache-2.0
"""The parts of the page that show one run. Every run has every part; if the file lacks the data,
the part reports that."""

from lib.number_text import NONE, count, many, percent, plain, seconds, short, size

from . import charts
from .advice import advise
from .curves import efficiencies, rates, thinned, values
from .load import as_number, described_figures
from .words import escape, with_options

SPOTS_SHOWN = 8
ROWS_SHOWN = 16  # of an array that is shown as text, and bars of a chart


def section(name, heading, *parts):
    body = "".join(parts)
    return f'<section class="part {name}"><h3>{escape(heading)}</h3>{body}</section>'


def absent(words):
    return f'<p class="absent">{escape(words)}</p>'


def grid(*figures):
    return f'<div class="grid-of-figures">{"".join(figures)}</div>'


def tiles(*pairs):
    return '<dl class="tiles">' + "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in pairs) \
        + "</dl>"


def run_parts(run):
    parts = [advice_part, measure_part, time_part, kind_part, rollback_part, worker_part, memory_part,
             node_part, communication_part, figure_part, option_part]
    return "".join(part(run) for part in parts)


def summary(run):
    rollbacks = run.count("rollbacks")
    return tiles(
        ("events per second", count(run.number("events_per_second"))),
        ("efficiency", percent(run.number("efficiency"))),
        ("wall time", seconds(run.number("wall_seconds"))),
        ("committed events", count(run.number("committed_events"))),
        ("undone by a rollback",
         many(round(run.count("rolled_back_events") / rollbacks, 1), "event") if rollbacks else "–"),
        ("peak memory", size(run.number("memory.resident_peak_bytes"))))


def advice_part(run):
    pieces = advise(run)
    notices = "".join(f'<p class="notice">{escape(notice)}</p>' for notice in run.list("notices"))
    if pieces:
        body = "<ul>" + "".join(f"<li>{escape(piece.finding)} <strong>Try:</strong> "
                                f"{with_options(piece.try_this)}</li>" for piece in pieces) + "</ul>"
    else:
        body = "<p>The figures of this run suggest no change.</p>"
    return section("advice", "What stands out", body, notices)


# --- over time ---------------------------------------------------------------------------------

def time_part(run):
    curves = [("Committed events per second", rates(run), {}),
              ("Efficiency: the share of executed events that were not undone", efficiencies(run),
               {"value": percent, "y_max": 1}),
              ("Global virtual time", values(run, "gvt"), {})]
    if run.text("engine") == "timewarp":
        curves.append(("Window: how far beyond GVT workers may run (powers of ten)",
                       values(run, "window", least=0), {"log": True}))
    drawn = [(title, points, how) for title, points, how in curves if points]
    if not drawn:
        return section("time", "Over time", absent("This file has no samples over time."))
    end = max(points[-1][0] for _, points, _ in drawn)
    return section("time", "Over time", grid(*(
        charts.figure(title, charts.lines([("s0", "", points)], title, end, **how))
        for title, points, how in drawn)))


# --- measures of the model, kinds and events -----------------------------------------------------

MEASURES_DRAWN = 24


def table(columns, rows):
    """A table. `columns`: the names of its columns."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table class="rows"><tr>{head}</tr>{body}</table></div>'


def figure_text(value):
    number = as_number(value)
    return NONE if number is None else f"{number:,.6g}".replace(",", "\u202f")


def measure_part(run):
    heading = "Measures"
    measures = {name: one for name, one in run.object("measures").items() if isinstance(one, dict)}
    if not measures:
        return section("measures", heading, absent(
            "The run was interrupted." if not run.finished() else "The model has no measures (nw::measure)."))
    quantiles = ("p50", "p95", "p99")
    rows = []
    for name, one in measures.items():
        of = one.get("quantiles") if isinstance(one.get("quantiles"), dict) else {}
        rows.append([name, one.get("kind") or NONE, plain(as_number(one.get("count"))),
                     *(figure_text(one.get(column)) for column in ("mean", "deviation", "min")),
                     *(figure_text(of.get(share)) for share in quantiles), figure_text(one.get("max"))])
    body = table(["measure", "of", "count", "mean", "deviation", "min", *quantiles, "max"], rows)
    drawn = [(name, points) for name, one in measures.items() if (points := means_at_intervals(one))]
    curves = grid(*(charts.figure(f"{name}: mean of each interval", charts.lines(
        [("s0", "mean", points)], name, points[-1][0], figure_text, virtual=True))
        for name, points in drawn[:MEASURES_DRAWN]))
    note = ("" if drawn else '<p class="note">--measure-interval shows the measures over virtual time.</p>')
    return section("measures", heading, body, curves if drawn else "", note)


def means_at_intervals(measure):
    """(virtual time, mean) as steps: each interval gives a point at its beginning and one at its
    end."""
    points = []
    intervals = measure.get("intervals") if isinstance(measure.get("intervals"), list) else []
    for row in intervals:
        cells = [as_number(row.get(key)) for key in ("from", "to", "mean")] if isinstance(row, dict) else [None]
        if None in cells or not 0 <= cells[0] <= cells[1] or (points and cells[0] < points[-1][0]):
            continue
        points += [(cells[0], cells[2]), (cells[1], cells[2])]
    return points


def kind_part(run):
    """The kinds of LPs, and the cost of each type of event."""
    heading = "Kinds of LPs, types of events"
    kinds = run.rows("kinds", "lps", "committed_events", "rolled_back_events", "state_bytes")
    events = run.rows("event_types", "committed_events", "rolled_back_events")
    if not events:
        return section("kinds", heading, absent(
            "The model neither has kinds of LPs nor declares its events (nw::kinds, nw::Handles), or the file is old."))
    parts = []
    if kinds:
        parts.append(table(
            ["kind", "LPs", "rollback by", "committed", "rolled back", "state", "per LP"],
            [[row.get("kind") or NONE, plain(row["lps"]), row.get("rollback") or NONE,
              plain(row["committed_events"]), plain(row["rolled_back_events"]), size(row["state_bytes"]),
              size(row["state_bytes"] / row["lps"]) if row["lps"] > 0 else NONE] for row in kinds]))

    def named(row):
        return f"{row.get('kind')} {row.get('event')}" if kinds else str(row.get("event"))

    def cost(row):
        """The seconds of all executions of an event type, including those that were rolled back."""
        return 1e-9 * max(0, as_number(row.get("mean_ns")) or 0) * max(
            0, row["committed_events"] + row["rolled_back_events"])

    whole = sum(cost(row) for row in events)
    dearest = sorted(events, key=cost, reverse=True)
    if whole > 0:
        title = "Time in handlers, by type of event: mean time and number of executions"
        parts.append(grid(charts.figure(title, charts.rows(
            [(named(row), [("s2", "handlers", cost(row))]) for row in dearest[:ROWS_SHOWN]], title,
            lambda number: f"{seconds(number)} ({percent(number / whole)})"))))
    parts.append(table(
        ["event", "mean time", "committed", "rolled back", "share of executions rolled back"],
        [[named(row), NONE if as_number(row.get("mean_ns")) is None else seconds(1e-9 * row["mean_ns"]),
          plain(row["committed_events"]), plain(row["rolled_back_events"]),
          percent(as_number(row.get("rolled_back_share")))] for row in dearest]))
    return section("kinds", heading, *parts)


# --- rollbacks, workers ------------------------------------------------------------------------

def rollback_part(run):
    heading = "Rollback lengths"
    rows = run.rows("rollback_lengths", "events_max", "rollbacks")
    total = sum(row["rollbacks"] for row in rows)
    if not total:
        counted = 0 if run.restarted else run.count("rollbacks")
        return section("rollbacks", heading, absent(
            f"This file has no lengths of its {plain(counted)} rollbacks." if counted
            else "No rollbacks since the restart." if run.restarted else "No rollbacks."))
    bars, low = [], 0
    for row in rows:
        high = int(row["events_max"])
        bars.append((plain(high) if high <= low + 1 else f"{short(low + 1)}–{short(high)}",
                     row["rollbacks"]))
        low = high
    undone, executed = run.count_here("rolled_back_events"), run.count_here("executed_events")
    title = "Rollbacks by the number of events that each undid"
    words = (f"{many(total, 'rollback')} undid {plain(undone)} of {plain(executed)} executed events, "
             f"{plain(round(undone / total, 1))} on average{', since the restart' * run.restarted}.")
    executed = run.count("executed_events")
    figures = [charts.figure(title, charts.columns(bars, title), note=words)]
    where = [("undone", run.count("rolled_back_events")),
             ("executed again", run.count("coasted_events")),
             ("canceled (anti-messages)", run.count("anti_messages"))]
    title = "Events relative to all executed events"
    figures.append(charts.figure(title, charts.rows(
        [(name, [("s1", "events", number)]) for name, number in where], title,
        lambda number: f"{short(number)} ({percent(number / executed) if executed else '–'})",
        whole=max(executed, *(number for _, number in where))) + spots(run)))
    return section("rollbacks", heading, grid(*figures))


def spots(run):
    """A chart of the LPs that were rolled back most. The chart is shown below another chart, and is
    empty if it would contain all LPs."""
    worst = run.rows("most_rolled_back_lps", "lp", "worker", "rolled_back_events")[:SPOTS_SHOWN]
    undone = run.count_here("rolled_back_events")
    if not worst or not undone or run.count("lps") <= len(worst):
        return ""
    ranks = run.count("ranks")
    title = f"Undone events by LP: the {len(worst)} LPs with the most undone events"
    return f'<p class="caption">{escape(title)}</p>' + charts.rows(
        [(f"{row.get('name') or 'LP ' + plain(row['lp'])} (worker {worker_number(row, row['worker'], ranks)})",
          [("s1", "undone", row["rolled_back_events"])]) for row in worst], title,
        lambda number: f"{short(number)} ({percent(number / undone)})")


def worker_name(row, place, ranks):
    core = row.get("core")
    name = worker_number(row, place, ranks)
    return f"{name} (core {core})" if isinstance(core, int) else name


def worker_number(row, place, ranks):
    rank = row.get("rank")
    return f"{place}" if ranks <= 1 or rank is None else f"{rank}.{place}"


def worker_part(run):
    heading = "Load by worker"
    rows = run.rows("workers_detail", "busy_seconds", "committed_events", "rolled_back_events")
    if not rows:
        return section("workers", heading, absent("This file has no data about its workers."))
    ranks, each = int(run.count("ranks") or 1), max(1, int(run.count("workers") or 1))
    names = [worker_name({"rank": i // each, **row}, i % each, ranks) for i, row in enumerate(rows)]
    busy = "CPU time; a bar of full width is the wall time of the event loop"
    work = "Events"
    figures = [
        charts.figure(busy, charts.rows(
            [(name, [("s2", "busy", row["busy_seconds"])]) for name, row in zip(names, rows)], busy,
            seconds, max([run.loop_seconds, *(row["busy_seconds"] for row in rows)]))),
        charts.figure(work, charts.rows(
            [(name, [("s0", "committed", row["committed_events"]),
                     ("s1", "rolled back", row["rolled_back_events"])])
             for name, row in zip(names, rows)], work),
            legend=[("s0", "committed"), ("s1", "rolled back")])]
    note = "" if ranks <= 1 else '<p class="note">Workers are numbered as rank.worker.</p>'
    if run.began_seconds:
        note += ('<p class="note">These values count from the restart from a checkpoint, at '
                 f"{escape(seconds(run.began_seconds))} of wall time.</p>")
    return section("workers", heading, grid(*figures), note)


# --- memory, nodes, ranks ----------------------------------------------------------------------

def memory_part(run):
    heading = "Memory by kind"
    kinds = {name: number for name in run.object("memory.by_kind")
             if (number := run.number(f"memory.by_kind.{name}")) is not None}
    figures = []
    if any(kinds.values()):
        title = "Memory by kind, for each worker at the time when its sum was largest"
        figures.append(charts.figure(title, charts.rows(
            [(name.replace("_", " "), [("s3", "most", number)]) for name, number in kinds.items()],
            title, size)))
    resident = values(run, "resident_bytes", least=0)
    if resident:
        title = "Resident memory" + (" of all ranks" if run.count("ranks") > 1 else "")
        figures.append(charts.figure(title, charts.lines(
            [("s3", "resident", resident)], title, resident[-1][0], size, base=2)))
    facts = tiles(("resident, peak", size(run.number("memory.resident_peak_bytes"))),
                  ("in segments at the end", size(run.number("memory.segments_bytes"))),
                  ("saved states, peak", size(run.number("memory.saved_states_bytes_peak"))),
                  ("--memory-cap", run.option("memory-cap") or NONE))
    said = "" if any(kinds.values()) else absent(
        "This file has no data about the use of memory. Only newer files of Time Warp runs contain such data.")
    return section("memory", heading, facts, grid(*figures), said)


def node_part(run):
    heading = "Pages by node"
    nodes = [row["node"] for row in run.rows("numa.topology", "node")]
    placement = run.object("numa.placement")
    kinds = [(kind, run.list(f"numa.placement.{kind}.bytes_by_node")) for kind in placement]
    kinds = [(kind, [max(0, as_number(cell) or 0) for cell in cells]) for kind, cells in kinds
             if len(cells) == len(nodes)]
    if not kinds or not nodes:
        words = "The machine has one node: all memory is local." if len(nodes) <= 1 else \
            "The nodes of the pages were not measured, because the run used one node."
        return section("nodes", heading, absent(words if run.count("numa.nodes") else
                                                "This file has no data about nodes."))
    title = "Resident memory of the LPs at the end"
    figures = [charts.figure(title, charts.rows(
        [(f"node {node}", [(f"s{k}", kind, cells[i]) for k, (kind, cells) in enumerate(kinds)])
         for i, node in enumerate(nodes)], title, size),
        legend=[(f"s{k}", kind) for k, (kind, _) in enumerate(kinds)])]
    history = [(row["seconds"], row["remote_page_share"]) for row in
               thinned(run.rows("numa.placement_history", "seconds", "remote_page_share"))]
    if history:
        title = "Share of pages on a different node than their worker"
        figures.append(charts.figure(title, charts.lines(
            [("s1", "remote", history)], title, history[-1][0], percent, 1)))
    facts = tiles(("remote at the end", percent(run.number("numa.remote_page_share"))),
                  ("pages moved", count(run.number("numa.pages_moved"))),
                  ("groups moved", count(run.number("numa.groups_moved"))))
    return section("nodes", heading, facts, grid(*figures))


def communication_part(run):
    heading = "Communication"
    crossed = ("between workers of a rank", count(run.number("events_crossed")))
    if run.count("ranks") <= 1:
        return section("communication", heading, tiles(crossed), absent("There was one rank."))
    batches, sent = run.count("mpi.batches_sent"), run.count("mpi.bytes_sent")
    facts = tiles(crossed, ("between ranks", count(run.number("mpi.events_sent"))),
                  ("batches", count(batches)),
                  ("bytes per batch", size(sent / batches) if batches else "–"))
    cells = run.table("communication")
    if not cells:
        return section("communication", heading, facts, absent(
            "This file has no data about the communication between pairs of ranks."))
    title = "Events and anti-messages between ranks"
    return section("communication", heading, facts,
                   grid(charts.figure(title, charts.matrix(cells, title, "from rank", "to rank"))))


def figure_part(run):
    """All figures of the file, also those without a chart, with their meanings from the
    reference."""
    rows = "".join(f"<tr><td>{escape(name)}</td><td>{shown(run.at(name), unit)}</td>"
                   f"<td>{escape(meaning)}</td></tr>"
                   for name, unit, meaning in described_figures() if name != "options")
    return section("figures", "Every figure", "<details><summary>the statistics with "
                   f'their meanings</summary><table class="options">{rows}</table></details>')


def shown(value, unit="", depth=3):
    """HTML of any value of a statistics file. `depth`: levels of nesting that are shown."""
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, list) and depth <= 1 and value and isinstance(value[-1], dict):
        # A series over virtual time; measure_part() draws it.
        return f"{count(len(value))} rows, the last with {shown(value[-1], unit)}"
    if isinstance(value, (dict, list)) and depth == 0:
        return f"{count(len(value))} entries"
    if isinstance(value, dict):
        return ", ".join(f"{escape(name)} {shown(part, unit, depth - 1)}"
                         for name, part in value.items()) or NONE
    if isinstance(value, list):
        rows = [shown(row, unit, depth - 1) for row in value[:ROWS_SHOWN]]
        more = [f"… {len(value)} in total"] if len(value) > ROWS_SHOWN else []
        return ("<br>" if isinstance(value[0], dict) else " ").join(rows + more) if value else NONE
    text = {"bytes": size, "seconds": seconds, "share": percent}.get(unit, plain)
    return text(as_number(value))


def option_part(run):
    options = "".join(f"<tr><td>--{escape(name)}</td><td>{escape(value)}</td></tr>"
                      for name, value in run.object("options").items())
    if not options:
        return section("options", "Options", absent("This file has no options."))
    return section("options", "Options", "<details><summary>each option with its value in the "
                   f'run</summary><table class="options">{options}</table></details>')
