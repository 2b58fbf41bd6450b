#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models that are written as processes have the same digest and the same table on every engine, for
any number of workers, with rollbacks, and with rollbacks that --check-rollback forces. Rollback
methods that processes do not support are refused with one line."""

from programs import Programs

# For each model: its table, and options with which its LPs exchange events.
MODELS = {
    "bank": ("banks", ["--move", 0.9, "--until", 1000]),
    "car_wash": ("washes", ["--again", 0.5, "--until", 600]),
    "channel": ("hosts", ["--until", 500]),
    "gas_station": ("stations", ["--again", 0.5]),
    "machine_shop": ("shops", ["--share", 0.5, "--until", 2000]),
    "movies": ("films", ["--move", 0.9]),
}
# Workers execute beyond the lookahead, and keep history for safe events.
AHEAD = ["--window", "off", "--keep-safe-events", "on"]
VARIANTS = [["--engine", "sequential"], ["--engine", "conservative", "--workers", 2],
            ["--engine", "timewarp", "--workers", 2], ["--engine", "timewarp", "--workers", 2, *AHEAD],
            ["--workers", 4, "--lps-per-group", 1, "--state-saving-interval", 1, *AHEAD],
            ["--workers", 1, "--check-rollback", 0.2]]

programs = Programs()
for model, (table, options) in MODELS.items():
    reference, rolled_back = None, 0
    for number, variant in enumerate(VARIANTS):
        folder = programs.work / f"{model}{number}"
        run = programs.statistics_of(model, *options, *variant, "--output", folder)
        outcome = run["digest"], run["committed_events"], (folder / f"{table}.csv").read_bytes()
        reference = reference or outcome
        name = " ".join(map(str, [model, *variant]))
        programs.expect(outcome == reference, f"{name}: digest {run['digest']}")
        if "--check-rollback" in variant:
            programs.expect(run["forced_rollbacks"] > 0,
                            f"{name}: {run['forced_rollbacks']} events were rolled back immediately")
        else:
            rolled_back += run["rolled_back_events"]
    programs.expect(rolled_back > 0, f"{model}: {rolled_back} events were rolled back")
    for method in ("copy", "reverse"):
        done = programs.run(model, "--rollback", method)
        programs.expect((done.returncode, done.stderr)
                        == (2, f"numawarp: --rollback {method}: must be snapshot with model {model}\n"),
                        f"{model}: {done.stderr.strip()}")
programs.leave()
