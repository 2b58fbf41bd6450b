# SPDX-License-Identifier: Apache-2.0
"""Compares several runs with the first one. Runs that simulated the same model must have equal
digests. If they do not, the page begins with an alarm, because this is the most important
result."""

from lib.number_text import count, percent, plain, seconds, size

from . import charts
from .curves import efficiencies, rates, values
from .sections import grid, section
from .words import escape

# The maximum number of curves that a reader can distinguish.
CURVES_MAX = 6


def comparison(runs):
    return section("comparison", "Comparison", verdict(runs), speeds(runs), table(runs), figures(runs))


def verdict(runs):
    judged, said = 0, ""
    for group in comparable(runs):
        digests = {run.text("digest") for run in group}
        judged += len(group)
        if len(digests) == 1:
            continue
        rows = "".join(f"<li>{escape(run.name)}: <code>{escape(run.text('digest'))}</code></li>"
                       for run in group)
        said += ('<div class="alarm" role="alert"><strong>DIGESTS DIFFER.</strong> These runs '
                 "simulated the same model and have different results. At least one result is wrong. "
                 f"Do not use any of them before you know the reason.<ul>{rows}</ul></div>")
    if said:
        return said
    if judged == len(runs) and len(comparable(runs)) == 1:
        return '<p class="agreed">All digests are equal: all runs have the same result.</p>'
    others = differences(runs)
    reason = f" They differ in {', '.join(others)}." if others else \
        " Some were interrupted, or have no digest."
    agreed = " The runs that simulated the same model to the end have equal digests." if judged else ""
    return (f'<p class="note">Not all of these runs simulated the same model to the end.{escape(reason)}'
            f"{agreed}</p>")


def speeds(runs):
    """The fastest of the comparable runs, and the gain from several workers."""
    said = ""
    for group in comparable(runs):
        timed = [run for run in group if run.count("events_per_second") > 0]
        if len(timed) < 2:
            continue
        ranking = sorted(timed, key=lambda run: -run.number("events_per_second"))
        best, worst = ranking[0], ranking[-1]
        rate = best.number("events_per_second")
        words = (f"{shortened(best.name)} was fastest: {count(rate)} events per second, "
                 f"{plain(round(rate / worst.number('events_per_second'), 2))} times {shortened(worst.name)}.")
        alone = max((run.number("events_per_second") for run in timed if not run.parallel), default=0)
        together = [run for run in ranking if run.parallel and run.threads > 1]
        if alone and together:
            gain = together[0].number("events_per_second") / alone
            words += (f" {shortened(together[0].name)}, with {together[0].threads} workers, reached "
                      f"{plain(round(gain, 2))} times the speed of the sequential engine")
            words += "." if gain > 1 else (": events have too little work, or other programs use the machine, "
                                           "so that more workers give no gain.")
        said += f"<p>{escape(words)}</p>"
    return said


def comparable(runs):
    """Groups of two or more runs that must have equal digests."""
    groups = []
    for run in runs:
        if not run.finished() or run.text("digest") is None:
            continue
        for group in groups:
            if group[0].simulated() == run.simulated():
                group.append(run)
                break
        else:
            groups.append([run])
    return [group for group in groups if len(group) > 1]


def differences(runs):
    """The names of the options that affect the result and differ between the runs."""
    facts = [run.simulated() for run in runs]
    if len({run.text("model") for run in runs}) > 1:
        return ["the model"]
    names = sorted({name for fact in facts for name in fact})
    return [name for name in names if any(fact.get(name) != facts[0].get(name) for fact in facts)]


def how(run):
    """The engine, ranks and workers of a run, in a few words."""
    if not run.parallel:
        return "sequential"
    ranks = f"{plain(run.number('ranks'))} ranks × " if run.count("ranks") > 1 else ""
    workers = run.number("workers")
    return f"{run.text('engine')}, {ranks}{plain(workers)} worker{'s' * (workers != 1)}"


def table(runs):
    base = runs[0].count("events_per_second")
    rows = ""
    for run in runs:
        rate = run.number("events_per_second")
        digest = run.text("digest") or "–"
        cells = [how(run), count(rate), f"{rate / base:.2f} ×" if rate and base else "–",
                 seconds(run.number("wall_seconds")), percent(run.number("efficiency")),
                 count(run.number("rollbacks")), size(run.number("memory.resident_peak_bytes"))]
        rows += (f"<tr><th>{escape(run.name)}</th>"
                 + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
                 + f'<td><code title="{escape(digest)}">{escape(digest[:8])}</code></td></tr>')
    heads = ["file", "run", "events/s", "vs. first", "wall time", "efficiency", "rollbacks",
             "peak memory", "digest"]
    return ('<div class="scroll"><table class="runs"><thead><tr>'
            + "".join(f"<th>{head}</th>" for head in heads)
            + f"</tr></thead><tbody>{rows}</tbody></table></div>")


def figures(runs):
    title = "Committed events per second"
    drawn = [charts.figure(title, charts.rows(
        [(shortened(run.name), [(style(i), how(run), run.count("events_per_second"))])
         for i, run in enumerate(runs)], title))]
    drawn += [curves(runs, "Committed events per second, over time", rates),
              curves(runs, "Efficiency over time", efficiencies, value=percent, y_max=1),
              curves(runs, "Global virtual time", lambda run: values(run, "gvt"))]
    return grid(*drawn)


def style(i):
    return f"s{i}" if i < CURVES_MAX else "rest"


def curves(runs, title, points_of, **how_drawn):
    series = [(style(i), run.name, points) for i, run in enumerate(runs[:CURVES_MAX])
              if (points := points_of(run))]
    if not series:
        return ""
    end = max(points[-1][0] for _, _, points in series)
    left_out = f"The first {CURVES_MAX} files." if len(runs) > CURVES_MAX else ""
    return charts.figure(title, charts.lines(series, title, end, **how_drawn),
                         [(key, shortened(name)) for key, name, _ in series], left_out)


def shortened(name, most=28):
    """Removes the middle of a long file name: the names in a sweep differ near their end."""
    return name if len(name) <= most else f"{name[:most // 2 - 2]}…{name[1 - most // 2:]}"
