# SPDX-License-Identifier: Apache-2.0
"""Counts of one run by the counters of the machine (--hardware-counters)."""

import json
import subprocess
import tempfile
from pathlib import Path

# Column of runs.csv -> name in the statistics.
FIGURES = {"instructions": "instructions", "loads": "loads", "stores": "stores",
           "l1_misses": "l1d_misses", "l2_misses": "last_level_misses", "tlb_misses": "dtlb_misses"}
OPTIONS = ["--hardware-counters"]


def figures_of(stats):
    """The FIGURES that the machine has counted."""
    counted = stats.get("hardware", {})
    figures = {column: counted[name] for column, name in FIGURES.items()
               if counted.get(name) is not None}
    return {**figures, "counted_events": stats["committed_events"]} if figures else {}


def is_there(pcs):
    """Whether this machine has a counter of instructions and allows this process to use it."""
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        file = Path(folder) / "stats.json"
        done = subprocess.run([pcs, "--width", "2", "--height", "2", "--until", "1", "--quiet",
                               "--stats", file, *OPTIONS], capture_output=True, check=False)
        return done.returncode == 0 and "instructions" in figures_of(json.loads(file.read_text()))
