#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Handlers call every function of libc that the list allows (src/memory/interpose/libc_functions.txt).
The digest is the same for any number of workers, with rollbacks. Every function of the list that
needs code is called or refused."""

import sys

from programs import CHECKOUT, Programs

sys.path.insert(0, str(CHECKOUT / "tests/checks"))
from libc_table import LIST, exported, loaded_libraries, read_list  # noqa: E402

programs = Programs()

variants = [["--workers", workers, "--state-saving-interval", every, "--lps-per-group", 1, "--window", "off"]
            for workers in (1, 2) for every in (1, "auto")]
variants += [["--workers", 2, "--state-saving-interval", 1, "--check-rollback", 0.2]]
reference = programs.statistics_of("libc_caller", "--engine", "sequential")
rolled_back = 0
for variant in variants:
    run = programs.statistics_of("libc_caller", *variant)
    rolled_back += run["rolled_back_events"]
    programs.expect(run["digest"] == reference["digest"], f"{' '.join(map(str, variant))}: {run['digest']}")
programs.expect(rolled_back > 0, f"{rolled_back} events were rolled back")
done = programs.run("libc_caller", "--check-model=2000")
programs.expect(done.returncode == 0 and "BROKEN" not in done.stdout, f"--check-model: {done.stdout}")

# This function may ask DNS for an address.
NOT_CALLED = {"gethostid"}
called = set(programs.run("libc_caller", "--list").stdout.split())
refused = set(programs.run("libc_caller", "--refused").stdout.split())
here = {name for library in loaded_libraries() for name in exported(library)}
for section in read_list(CHECKOUT / LIST):
    names = {name for line in section.lines for name in line.names if "*" not in name} & here
    if section.kind in ("lp", "platform", "worker"):
        missing = names - called - NOT_CALLED
        programs.expect(not missing, f"{section.title}: not called: {sorted(missing)}")
    elif section.kind == "refused":
        programs.expect(not names - refused, f"{section.title}: not tried: {sorted(names - refused)}")

programs.leave()
