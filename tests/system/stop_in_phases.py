#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A stop signal ends a run also in phases in which no engine reads the signal: while LPs are built
and started, in on_end(), and while LPs are destroyed. After a signal no destructor is called, and
the results of the run are complete."""

import json
import signal
import subprocess

from programs import Programs

programs = Programs()
stats = programs.work / "stats.json"

WORDS = {"constructor": "during set-up", "on_start": "during set-up", "on_end": "in on_end()"}

for engine in ["sequential", "conservative", "timewarp"]:
    for phase in ["constructor", "on_start", "on_end", "destructor"]:
        stats.unlink(missing_ok=True)
        run = subprocess.Popen(
            [programs.bin / "slow_phases", "--engine", engine, "--workers", "2", "--slow", phase, "--stats", stats],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first = run.stderr.readline()
        run.send_signal(signal.SIGTERM)
        try:
            report, errors = run.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            run.kill()
            report, errors = run.communicate()
        name = f"{engine}, {phase}"
        programs.expect(first == "slow\n", f"{name}: the phase began")
        if phase == "destructor":
            programs.expect(run.returncode == 0 and errors == "", f"{name}: exit code {run.returncode} {errors!r}")
            programs.expect("digest" in report and json.loads(stats.read_text())["committed_events"] == 6000,
                            f"{name}: results are complete")
        else:
            programs.expect(run.returncode == 143, f"{name}: exit code {run.returncode}")
            programs.expect(WORDS[phase] in errors and len(errors.splitlines()) == 1, f"{name}: {errors!r}")

programs.leave()
