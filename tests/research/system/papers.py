#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests ./jobs/run papers with small programs instead of the series: the command lines, a series that fails, an
interruption that is continued, the page, and wrong options."""

import json
import shutil
import signal
import subprocess
import sys
import time

from programs import CHECKOUT, Programs

programs = Programs()
# A copy of the command beside series that only record their command line. The series `paper-asymsched` fails, and
# `paper-bwap` waits until a signal ends it, if a file with this name exists in the folder.
research = programs.work / "jobs/research"
for folder in ("lib", "research/series", "research/papers"):
    shutil.copytree(CHECKOUT / "jobs" / folder, programs.work / "jobs" / folder)
STAND_IN = """
import json, os, pathlib, signal, sys, time
name = pathlib.Path(sys.argv[0]).name
words = sys.argv[1:]
here = pathlib.Path({here!r})
with open(here / "calls", "a") as file:
    file.write(json.dumps([name, words]) + "\\n")
results = pathlib.Path(words[-1])
results.mkdir(parents=True, exist_ok=True)
(results / "plan.json").write_text("{{}}")
if name == "paper_asymsched":
    sys.exit(77)
if (here / name).exists():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    (here / "waiting").touch()
    time.sleep(60)
gain = 0.9 if "--overlap-factor" in words else 1.25
claims = [dict(claim="a gain", paper="2", value=dict(median=gain, min=1.2, max=1.3, runs=3))]
machine = dict(cpu="a CPU", cores=2, nodes=1, kernel="6.1", commit="0" * 12)
(results / "summary.json").write_text(json.dumps(
    dict(machine=machine, date="2026-01-31", warnings=["a warning of " + name], claims=claims)))
(results / "picture.svg").touch()
"""
SERIES = ["paper_numa", "paper_asymsched", "paper_bwap", "paper_state_saving"]
for name in SERIES:
    (research / name).mkdir()
    (research / name / "__main__.py").write_text(STAND_IN.format(here=str(programs.work)))
command = [sys.executable, research / "papers", "--programs", "bin"]


def papers(*arguments):
    done = subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, cwd=programs.work)
    return done, calls()


def calls():
    """The calls of series since the last call of this function: [name, words without --programs]."""
    file = programs.work / "calls"
    found = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    file.unlink(missing_ok=True)
    for name, words in found:
        if words[:2] != ["--programs", "bin"]:
            programs.expect(False, f"{name} gets --programs: {words}")
    return [[name, *words[2:]] for name, words in found]


out = programs.work / "out"
done, found = papers("--quick", "--output", out)
programs.expect(found == [["paper_numa", "--timed", "--quick", "--only", "memory-bound", "--output",
                           f"{out}/numa-time-warp"],
                          ["paper_asymsched", "--quick", "--only", "two-nodes", "--output", f"{out}/asymsched"],
                          ["paper_bwap", "--timed", "--quick", "--output", f"{out}/bwap"],
                          ["paper_state_saving", "--quick", "--output", f"{out}/state-saving"],
                          ["paper_state_saving", "--timed", "--quick", "--output", f"{out}/state-saving-timed"]],
                f"quick: {found}")
page = (out / "summary.md").read_text()
programs.expect(done.returncode == 77 and "paper-asymsched` ended with exit code 77" in page
                and "a warning of paper_state_saving" in page and "![picture](bwap/picture.svg)" in page
                and "a CPU" in page, f"one series fails, the others have results: exit code {done.returncode}")

done, found = papers("--resume", out)
programs.expect([words[1:] for words in found] == [["--timed", "--resume", f"{out}/numa-time-warp"],
                                                   ["--resume", f"{out}/asymsched"],
                                                   ["--timed", "--resume", f"{out}/bwap"],
                                                   ["--resume", f"{out}/state-saving"],
                                                   ["--timed", "--resume", f"{out}/state-saving-timed"]], f"resumed: {found}")

# Claims: the series in modeled time, first with the original model, then with each changed model.
claims = programs.work / "claims"
done, found = papers("--claims", "--output", claims, "--only", "bwap")
programs.expect([words for words in found if "--latency-factor" not in words] == [
    ["paper_bwap", "--timed", "--claims", "--runs", "3", "--output", f"{claims}/bwap"],
    *(["paper_bwap", "--timed", "--claims", "--overlap-factor", factor, "--runs", "1", "--output",
       f"{claims}/bwap-overlap-factor-{factor}"] for factor in ("0.7", "1.3"))] and len(found) == 5, f"claims: {found}")
page = (claims / "summary.md").read_text()
programs.expect("| a gain | 2 | 1.25 (1.20–1.30) | 1.25 (1.20–1.30) | 1.25 (1.20–1.30) | 0.90 (1.20–1.30) |" in page
                and "| no |" in page and "paper-numa` was not run" in page and done.returncode == 0, "the page of the claims")
done, found = papers("--resume", claims, "--only", "state-saving")
programs.expect(len(found) == 5 and found[0] == ["paper_state_saving", "--timed", "--claims", "--runs", "3", "--output",
                                                 f"{claims}/state-saving-timed"], f"claims of another paper: {found}")

# An interruption ends the series that runs, and --resume continues with the same kind of runs.
(programs.work / "paper_bwap").touch()
whole = programs.work / "whole"
with subprocess.Popen([*command, "--output", whole], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                      cwd=programs.work) as run:
    end = time.monotonic() + 60
    while not (programs.work / "waiting").exists() and run.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    run.send_signal(signal.SIGTERM)
    told = run.communicate()[1]
found = calls()
programs.expect(run.returncode == 143 and f"--resume {whole}" in told and [call[0] for call in found] == SERIES[:3],
                f"interrupted: exit code {run.returncode}, {told.splitlines()[-1:]}")
programs.expect(found[0] == ["paper_numa", "--timed", "--output", f"{whole}/numa-time-warp"], f"not quick: {found[0]}")
(programs.work / "paper_bwap").unlink()
done, found = papers("--resume", whole)
programs.expect(found[2] == ["paper_bwap", "--timed", "--resume", f"{whole}/bwap"]
                and found[3] == ["paper_state_saving", "--output", f"{whole}/state-saving"], f"continued: {found}")

for fragment, arguments in [("papers.json", ["--resume", programs.work / "absent"]),
                            ("--resume continues", ["--output", out]), ("--quic", ["--quic"]),
                            ("only --only and --programs", ["--resume", out, "--quick"]),
                            ("exclude each other", ["--quick", "--claims"]), ("numa-time-warp", ["--only", "nothing"]),
                            ("plot", ["--output", "/proc/plot"])]:
    done, found = papers(*arguments)
    programs.expect(done.returncode == 2 and fragment in done.stderr and len(done.stderr.splitlines()) == 1
                    and not found,
                    f"{' '.join(map(str, arguments))}: exit code {done.returncode}, {done.stderr.strip()}")
programs.leave()
