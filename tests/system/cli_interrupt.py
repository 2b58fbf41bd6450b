#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SIGINT and SIGTERM end a run in order: with a report, with statistics that record the
interruption, and with the exit code that shells assign to the signal. A second signal right after
the first, as `timeout` sends it, changes nothing."""

import json
import signal
import subprocess

from processes import wait_until_computing
from programs import Programs

programs = Programs()
stats = programs.work / "stats.json"

for engine in ["sequential", "conservative", "timewarp", "auto"]:
    for number, code in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
        stats.unlink(missing_ok=True)
        run = subprocess.Popen(
            [programs.bin / "phold", "--engine", engine, "--workers", "2", "--until", "1e12",
             "--stats", stats], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_until_computing(run, engine)
        run.send_signal(number)
        run.send_signal(number)
        try:
            report, errors = run.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            run.kill()
            report, errors = run.communicate()
        name = f"{engine}, {signal.Signals(number).name}"
        programs.expect(run.returncode == code, f"{name}: exit code {run.returncode}")
        programs.expect("interrupted by " + signal.Signals(number).name in report,
                        f"{name}: the report names the interruption")
        programs.expect(errors == "", f"{name}: standard error is empty {errors!r}")
        result = json.loads(stats.read_text()) if stats.exists() else {}
        programs.expect(result.get("end_reason") == "interrupted", f"{name}: statistics name the interruption")
        programs.expect(result.get("committed_events", 0) > 0, f"{name}: events are committed")

programs.leave()
