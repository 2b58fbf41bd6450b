# SPDX-License-Identifier: Apache-2.0
"""Runs the meter as a child process."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

UNAVAILABLE = 77


def metered(programs, topology, command, options=()):
    """(content of the --json file or None, the finished process with its output as text)"""
    with tempfile.TemporaryDirectory(prefix="numawarp-meter-") as folder:
        file = Path(folder) / "meter.json"
        done = subprocess.run([*job(programs, topology, file), *map(str, options), "--",
                               *map(str, command)], capture_output=True, text=True)
        return json.loads(file.read_text()) if file.exists() else None, done


def job(programs, topology, file):
    """The beginning of the meter's command line."""
    return [sys.executable, str(Path(__file__).resolve().parent), topology, "--programs", str(programs),
            "--json", str(file)]
