# SPDX-License-Identifier: Apache-2.0
"""Runs ./jobs/run meter or ./jobs/run timed as a child process. `name` is `meter` or `timed`."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

UNAVAILABLE = 77


def called(name, programs, topology, command, options=()):
    """(content of the --json file or None, the finished process with its output as text)"""
    with tempfile.TemporaryDirectory(prefix=f"numawarp-{name}-") as folder:
        file = Path(folder) / "figures.json"
        done = subprocess.run([*job(name, programs, topology, file), *map(str, options), "--", *map(str, command)],
                              capture_output=True, text=True)
        return json.loads(file.read_text()) if file.exists() else None, done


def job(name, programs, topology, file):
    """The beginning of the command line."""
    return [sys.executable, str(Path(__file__).resolve().parents[1] / name), topology, "--programs", str(programs),
            "--json", str(file)]
