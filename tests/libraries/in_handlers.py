#!/usr/bin/env python3
"""Models whose handlers use real libraries and keep what these make: one digest, whoever runs them, with
rollbacks, and an end without a word. Called with the folder of the programs and the names of those that
could be built here."""

import sys

from programs import Programs

models = sys.argv[2:]
programs = Programs()
if not models:
    print("skipped: neither libxml2 nor SQLite is here (Debian: libxml2-dev, libsqlite3-dev)")
    sys.exit(77)

variants = [["--workers", workers, "--state-saving-interval", every, "--lps-per-group", 1, "--window", "off"]
            for workers in (1, 2, 4) for every in (1, "auto")]
variants += [["--workers", 2, "--memory", "libc"]]
# Both libraries draw seeds of their own, so that an event that is executed again makes other bytes of the
# same content: they are compared where nothing is executed again.
variants += [["--workers", 2, "--state-saving-interval", 1, "--check-rollback", 0.1]]

for model in models:
    reference = programs.statistics_of(model, "--engine", "sequential")
    rolled_back = 0
    for variant in variants:
        run = programs.statistics_of(model, *variant)
        rolled_back += run["rolled_back_events"]
        name = " ".join(map(str, variant))
        programs.expect(run["digest"] == reference["digest"], f"{model} {name}: {run['digest']}")
    programs.expect(rolled_back > 0, f"{model}: {rolled_back} events were rolled back")

programs.leave()
