# SPDX-License-Identifier: Apache-2.0
"""The page: a title, the comparison if there are several runs, and each run."""

from pathlib import Path

from lib.number_text import NONE, count, many, plain, seconds, size

from .comparison import comparison, how
from .sections import run_parts, summary
from .words import escape

# A browser must not load anything for this page.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page_of(runs):
    models = ", ".join(dict.fromkeys(run.text("model") or "a model" for run in runs))
    title = f"{models}: {how(runs[0]) if len(runs) == 1 else f'{len(runs)} runs'}"
    body = comparison(runs) if len(runs) > 1 else ""
    for run in runs:
        heading = f"<h2>{escape(run.name)}: {escape(how(run))}</h2>" if len(runs) > 1 else ""
        body += f'<article class="run">{heading}{facts(run)}{summary(run)}{run_parts(run)}</article>'
    return document(title, "numawarp run report", body)


def document(title, brand, body):
    """A whole page, which contains its style sheet."""
    style = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
    page = (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta name="color-scheme" content="light dark">'
            f"<title>{escape(title)} – numawarp</title>\n<style>\n{style}</style></head>\n"
            f'<body><main><header><p class="brand">{brand}</p><h1>{escape(title)}</h1>'
            f"</header>\n{body}\n</main></body></html>\n")
    # A text in JSON may contain half of a surrogate pair, which UTF-8 cannot encode.
    return page.encode("utf-8", "replace").decode("utf-8")


def restarts(run):
    """Text about checkpoints and restarts of the run."""
    at, written = run.number("checkpoints.restarted_at"), run.count("checkpoints.written")
    said = "" if at is None else f"; continued from a checkpoint at virtual time {plain(at)}"
    if begun := run.restarts():
        said += (f", in {many(len(begun) + 1, 'piece')}, restarted after "
                 + ", ".join(seconds(at) for at in begun))
    if written:
        said += f"; {many(written, 'checkpoint')} written"
    return said


def facts(run):
    """The origin of the figures. A reader needs the origin to compare the figures with others."""
    ended = {"until": "the end time was reached", "no_events": "no events were left",
             "all_can_end": "all LPs can end",
             "interrupted": "INTERRUPTED before its end"}.get(run.text("end_reason"), NONE)
    memory = sum(row["total_bytes"] for row in run.rows("numa.topology", "total_bytes"))
    cpus, nodes = run.number("machine.cpus"), run.number("numa.nodes")
    machine = ", ".join(filter(None, [
        run.text("machine.cpu"), cpus and many(cpus, "hardware thread"),
        nodes and many(nodes, "NUMA node"), memory and size(memory),
        run.text("machine.kernel")]))
    built = ", ".join(filter(None, [
        f"numawarp {run.text('version')}" if run.text("version") else None,
        f"commit {run.text('commit')}" if run.text("commit") else None,
        run.text("machine.compiler")]))
    extent = (f"{count(run.number('lps'))} LPs in {many(run.count('groups'), 'group')}, seed "
              f"{plain(run.number('seed'))}, to virtual time {plain(run.number('gvt'))}")
    rows = [("model", f"{run.text('model') or NONE}: {extent}"), ("run", f"{how(run)}; {ended}; "
            f"wall time {seconds(run.number('wall_seconds'))}, "
            f"set-up {seconds(run.number('setup_seconds'))}{restarts(run)}"),
            ("machine", machine or NONE), ("program", built or NONE),
            ("date", (run.text("date") or NONE).replace("T", " ").replace("Z", " UTC"))]
    listed = "".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in rows)
    return (f'<dl class="facts">{listed}<dt>digest</dt>'
            f"<dd><code>{escape(run.text('digest') or NONE)}</code></dd></dl>")
