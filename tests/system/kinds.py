#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests a model with three kinds of LPs, typed events, processes and measures, as a user writes it
(print_shops, the external project of tests/checks/install). The digest, the tables, and the counts
by kind and type are the same on every engine, with forced rollbacks, and in a run that is saved and
continued by another engine. The names of kinds and types appear in statistics, report and trace."""

import json
import os

from checkpoints import latest, start, stop
from programs import Programs

programs = Programs()
expect = programs.expect
MODEL = ["--until", 400, "--warm-up", 20, "--measure-interval", 35]
AHEAD = ["--window", "off", "--keep-safe-events", "on"]
VARIANTS = [["--engine", "sequential"], ["--engine", "conservative", "--workers", 2],
            ["--engine", "conservative", "--workers", 3, "--lps-per-group", 1],
            ["--workers", 2, *AHEAD], ["--workers", 4, "--lps-per-group", 1, *AHEAD],
            ["--workers", 2, "--rollback", "snapshot", "--state-saving-interval", 1, *AHEAD],
            ["--workers", 1, "--check-rollback", 0.3], ["--memory", "libc", "--workers", 2, *AHEAD]]


def counts(run):
    """The numbers of committed events by kind, and by kind and type."""
    return ([(row["kind"], row["lps"], row["committed_events"]) for row in run["kinds"]],
            [(row["kind"], row["event"], row["type"], row["committed_events"]) for row in run["event_types"]])


def outcome(run, folder):
    return run["digest"], counts(run), run["measures"], {
        path.name: path.read_bytes() for path in sorted(folder.iterdir())}


reference, rolled_back = None, 0
for number, variant in enumerate(VARIANTS):
    folder = programs.work / f"out{number}"
    run = programs.statistics_of("print_shops", *MODEL, *variant, "--output", folder)
    found = outcome(run, folder)
    reference = reference or found
    rolled_back += run["rolled_back_events"]
    expect(found == reference, f"{' '.join(map(str, variant))}: digest {run['digest']}, tables and counts")
expect(rolled_back > 0, f"{rolled_back} events were rolled back")
kinds, events = reference[1]
expect([name for name, _, _ in kinds] == ["customer", "dispatcher", "shop"]
       and sum(committed for _, _, committed in kinds) == run["committed_events"]
       and {(kind, event) for kind, event, _, _ in events} == {
           ("customer", "Wish"), ("customer", "Delivery"), ("dispatcher", "Order"), ("shop", "Job"),
           ("shop", "WakeUp")}, f"every event is counted for its kind and type: {events}")
expect(all(one["name"].split()[0] in ("customer", "dispatcher", "shop") and one["name"].split()[1].isdigit()
           for one in run["most_rolled_back_lps"]), "LPs that were rolled back have the names of their kinds")

# --- saved, and continued by another engine

folder, saved = programs.work / "parts", programs.work / "saved"
long = ["--until", 100000, "--warm-up", 20, "--measure-interval", 1350]
plain = programs.work / "plain"
run = programs.statistics_of("print_shops", *long, "--engine", "sequential", "--output", plain)
reference = run["digest"], run["measures"], {path.name: path.read_bytes() for path in sorted(plain.iterdir())}
beyond = 0.0
for engine in (["--workers", 2, *AHEAD], ["--engine", "sequential"], ["--engine", "conservative", "--workers", 2]):
    again = ["--restart", saved] if beyond else []
    code, errors = stop(start(programs, programs.bin / "print_shops", *long, *engine, "--quiet", "--output", folder,
                              "--checkpoint", saved, "--checkpoint-period", 0.05, *again), saved, beyond)
    expect(code == 0 and latest(saved)["gvt"] > beyond, f"saved by {' '.join(map(str, engine))}: {errors.strip()}")
    beyond = latest(saved)["gvt"]
run = programs.statistics_of("print_shops", *long,
                             "--engine", "timewarp", "--workers", 2, "--output", folder, "--restart", saved)
found = run["digest"], run["measures"], {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
expect(found == reference and run["checkpoints"]["restarted_at"] == beyond,
       f"a run in four pieces on all engines equals the run in one piece: from {beyond:.0f} digest {run['digest']}")

# Other kinds, with the same number of LPs, program and options.
refused = programs.work / "refused"
kinds_of = {kinds: {**os.environ, "BAD_MODEL": kinds} for kinds in ("kinds-1-3", "kinds-2-2")}
words = [programs.bin / "bad_model", "--workers", 2, "--quiet", "--until", 1e9]
code, errors = stop(start(programs, *words, "--checkpoint", refused, "--checkpoint-period", 0.05,
                          env=kinds_of["kinds-1-3"]), refused)
expect(code == 0, f"1 + 3 LPs are saved: {errors.strip()}")
for kinds, wanted in (("kinds-2-2", 2), ("kinds-1-3", 0)):
    run = start(programs, *words[:-1], latest(refused)["gvt"] + 1, "--restart", refused, env=kinds_of[kinds])
    errors = run.communicate(timeout=60)[1]
    line = (f"numawarp: --restart {refused}: the division into kinds is 2 few, 2 many here and was 1 few, 3 many "
            "when the checkpoint was written; allowed: the same value\n")
    expect((run.returncode, errors) == (wanted, line if wanted else ""), f"{kinds}: {run.returncode} {errors.strip()}")

# --- names in report and trace

trace = programs.work / "trace.json"
done = programs.run("print_shops", *MODEL[:2], "--workers", 2, "--lps-per-group", 4, *AHEAD, "--trace", trace)
expect(all(words in done.stdout for words in ("dispatcher Order", "shop WakeUp", "by snapshot (customer), copy"))
       and done.returncode == 0, "the report has kinds and events by their names")
spans = [event for event in json.loads(trace.read_text())["traceEvents"] if event["ph"] == "X"]
named = {(span["name"], span["args"]["lp"].split()[0]) for span in spans if span["name"] in (
    "Wish", "Delivery", "Order", "Job", "WakeUp")}
expect(named and named <= {("Wish", "customer"), ("Delivery", "customer"), ("Order", "dispatcher"), ("Job", "shop"),
                           ("WakeUp", "shop")}, f"events that were timed are spans with their names: {sorted(named)}")
rollbacks = [span["args"] for span in spans if span["name"] == "rollback"]
expect(rollbacks and all(args["from"] in ("Wish", "Delivery", "Order", "Job", "WakeUp") for args in rollbacks)
       and len({args["lp"] for args in rollbacks}) > 1,
       f"{len(rollbacks)} rollbacks name the LP and the first undone event: {rollbacks[:1]}")
done = programs.run("print_shops", "--until", 100, "--check-model")
expect(done.returncode == 0 and "BROKEN" not in done.stdout, f"--check-model is silent: {done.stdout[-200:]}")
programs.leave()
