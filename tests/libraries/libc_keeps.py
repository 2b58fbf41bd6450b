#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory that libc and its loader keep is not memory of an LP, also if they allocate it in a
handler. A signal handler of the program that interrupts an event handler may do everything that it
may do elsewhere. The sequential engine and Time Warp have the same digest, with rollbacks."""

import json
import sys

from programs import Programs

programs = Programs()
folder = sys.argv[2]

common = ["--state-saving-interval", 1, "--lps-per-group", 1, "--window", "off", "--workers", 2]
variants = [common, [*common, "--check-rollback", 0.2], ["--workers", 1, "--check-rollback", 0.2]]
cases = ["popen", "freopen", "wide", "wide-reopened", "wide-stdout", "stdin", "backtrace", "plugin-main", "plugin-process",
         "plugin-handler", "keys", "tss", "signal", "sigaction", "line-buffered"]
rolled_back = 0
for case in cases:
    reference = None
    for variant in [["--engine", "sequential"], *variants]:
        stats = programs.work / "stats.json"
        stats.unlink(missing_ok=True)
        done = programs.run("libc_keeper", case, folder, *variant, "--quiet", "--stats", stats)
        name = f"{case}: {' '.join(map(str, variant))}"
        if done.returncode != 0 or not stats.exists():
            programs.expect(False, f"{name}: exit code {done.returncode}: {done.stderr[-300:]}")
            continue
        run = json.loads(stats.read_text())
        reference = reference or run["digest"]
        rolled_back += run.get("rolled_back_events", 0)
        programs.expect(run["digest"] == reference, f"{name}: {run['digest']}")
programs.expect(rolled_back > 0, f"{rolled_back} events were rolled back")
programs.leave()
