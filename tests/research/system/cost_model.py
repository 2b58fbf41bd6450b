#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `./jobs/run cost-model`. The fit recovers known constants, and the tables in docs/results
are the program's output for the measurements beside the tables. The test does not measure."""

import re
import subprocess

from programs import CHECKOUT, Programs, python_with

programs = Programs()

KNOWN = """
import sys
sys.path.insert(0, sys.argv[1])
import model
true = model.ReduceFit(hop=2, waits=0.9, crowding=1.3, waking=0.4, error=0)
found = model.fit_reduce([(ranks, pause, true.time(ranks, pause, 4)) for ranks in range(2, 9)
                          for pause in (0, 5, 50)], 4)
assert all(abs(getattr(found, name) / getattr(true, name) - 1) < 1e-6
           for name in ("hop", "waits", "crowding", "waking")), found
engine = model.Engine(event=0.1, remote_event=0, batch_bytes=4000, waits=1)
free = model.Network("free", 0, 0, 0, 0, "assumed")
assert model.exchange(1023, 0.1, free, engine).share == 1
dear = model.Network("dear", 0, 2, 2, 0, "assumed")
alone, crowd = (model.exchange(peers, 0.1, dear, engine) for peers in (1, 1023))
assert 1 < crowd.events_a_batch < 1.3 and crowd.share < 0.25 < 0.8 < alone.share, (alone, crowd)
"""


def run(*arguments):
    return subprocess.run([python, *map(str, arguments)], capture_output=True, text=True)


python = python_with("matplotlib")
folder = CHECKOUT / "jobs/research/cost_model"

done = run("-c", KNOWN, folder)
programs.expect(done.returncode == 0, f"the fit finds known constants {done.stderr.strip()}")

for measurements in sorted((CHECKOUT / "docs/results").glob("cost-model-*.json")):
    done = run(folder, "--from", measurements, "--output", programs.work)
    programs.expect(done.returncode == 0
                    and done.stdout == measurements.with_suffix(".md").read_text(),
                    f"{measurements.name}: its tables {done.stderr.strip()}")
    figure = (programs.work / "cost-model.svg").read_text()
    programs.expect("A model, not a measurement" in figure,
                    "the figure states that it shows a model")

for wrong in ("ours", "ours:1:2", "ours:a:b:c", "ours:1:1:0"):
    done = run(folder, "--network", wrong)
    programs.expect(done.returncode == 2 and re.search(r"allowed: NAME:", done.stderr),
                    f"--network {wrong}: exit code {done.returncode}")
programs.leave()
