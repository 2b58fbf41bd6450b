#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A cycle of events with zero delay never ends, although each handler returns. The watchdog names
the virtual time and some of the events, on every engine, and a stop signal ends the run."""

import signal
import subprocess

from programs import Programs

programs = Programs()

for engine in ["sequential", "conservative", "timewarp"]:
    run = subprocess.Popen(
        [programs.bin / "slow_phases", "--slow", "cycle", "--engine", engine, "--workers", "2", "--quiet", "--watchdog", "0.2"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # Other notices may come first on a busy machine.
    line = next((line for line in run.stderr if "virtual time" in line), "")
    run.send_signal(signal.SIGTERM)
    try:
        run.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        run.kill()
        run.communicate()
    programs.expect("virtual time has not advanced from " in line and "from LP" in line, f"{engine}: {line.strip()}")
    programs.expect(run.returncode == 143, f"{engine}: exit code {run.returncode}")

programs.leave()
