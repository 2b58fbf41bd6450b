# SPDX-License-Identifier: Apache-2.0
"""Runs the modeled guest as a child process."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

UNAVAILABLE = 77


def timed(programs, topology, command, options=()):
    """(content of the --json file or None, the finished process with its output as text)"""
    with tempfile.TemporaryDirectory(prefix="numawarp-timed-") as folder:
        file = Path(folder) / "timed.json"
        done = subprocess.run([sys.executable, str(Path(__file__).resolve().parent), topology, "--programs", str(programs),
                               "--json", str(file), *map(str, options), "--", *map(str, command)],
                              capture_output=True, text=True)
        return json.loads(file.read_text()) if file.exists() else None, done
