#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models whose handlers use real libraries and keep objects of these libraries have the same digest
on every engine, with rollbacks. Arguments: the folder of the programs, and the names of the models
that could be built on this machine."""

import sys

from programs import Programs

models = sys.argv[2:]
programs = Programs()
if not models:
    print("skipped: neither libxml2 nor SQLite is here (Debian: libxml2-dev, libsqlite3-dev)")
    sys.exit(77)

variants = [["--workers", workers, "--state-saving-interval", every, "--lps-per-group", 1, "--window", "off"]
            for workers in (1, 2, 4) for every in (1, "auto")]
variants += [["--engine", "timewarp", "--workers", 2, "--memory", "libc"]]
# Both libraries draw their own seeds, so that an event that is executed again makes other bytes
# with the same content. --check-rollback compares bytes, and is therefore used only where no event
# is executed again.
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
