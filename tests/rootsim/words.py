#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model in the style of classic ROOT-Sim that continues from a checkpoint receives the same
command-line words."""

import json
import subprocess

from checkpoints import restart_hint, start, stop
from programs import Programs

programs = Programs()
checkpoint, stats = programs.work / "checkpoint", programs.work / "stats.json"
MODEL = [programs.bin / "rootsim_queue", "--lp", 64, "-ce", 20000, "--quiet", "--stats", stats]


def digest():
    return json.loads(stats.read_text())["digest"]


programs.run(*MODEL, "--engine", "sequential")
reference = digest()
code, errors = stop(start(programs, *MODEL, "--workers", 2, "--checkpoint", checkpoint, "--checkpoint-period", 0.02),
                    checkpoint)
shell = restart_hint(errors)
programs.expect(code == 0 and shell is not None and " -ce 20000 " in shell,
                f"the line contains the model's message: {errors}")
other = programs.run(*MODEL[:-5], "-ce", 25000, "--restart", checkpoint)
programs.expect(other.returncode == 2 and "the part of the command line that the model reads" in other.stderr,
                f"other arguments are refused: {other.stderr}")
done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, cwd=programs.work)
programs.expect((done.returncode, digest()) == (0, reference), f"the run ends as without a stop: {done.stderr}")

# A model for version 3 receives the words before the first word that begins with "--".
for options in ([], ["--engine", "sequential"]):
    run = programs.run("rootsim_ferries", 2, 50, 1000, *options)
    programs.expect(run.returncode == 0, f"2 50 1000 {' '.join(options)}: {run.stderr}")
programs.leave()
