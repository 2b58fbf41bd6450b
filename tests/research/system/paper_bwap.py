#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `./jobs/run paper-bwap`. The shares of the command equal the engine's decisions. In the
command's model, no other shares are faster. The tables in docs/results are the output for
jobs/research/paper_bwap/machines.json."""

import json
import os
import random
import subprocess
import sys
from itertools import combinations

from programs import CHECKOUT, Programs, python_with

programs = Programs()
folder = CHECKOUT / "jobs/research/paper_bwap"
sys.path.insert(0, str(folder))
import model  # noqa: E402

described = json.loads((folder / "machines.json").read_text())
machines = {name: machine["bw"] for name, machine in described.items() if name != "convention"}

# --- the shares ---

cases = [{"machine": {"bw": bw}, "workers": list(workers), "dwp": dwp} for bw in machines.values()
         for count in (1, 2, 5, 8) for workers in list(combinations(range(8), count))[:20] for dwp in (0, 0.35)]
file = programs.work / "cases.json"
file.write_text(json.dumps({"bwap": cases}))
decided = subprocess.run([programs.bin / "placement", "decide", file], capture_output=True, text=True)
answers = json.loads(decided.stdout)["bwap"]
for case, answer in zip(cases, answers, strict=True):
    shares = model.at_proximity(model.canonical(case["machine"]["bw"], case["workers"]), case["workers"], case["dwp"])
    if not all(abs(100 * share - percent) < 0.051 for share, percent in zip(shares, answer["percent"], strict=True)):
        programs.expect(False, f"{case['workers']}: {shares}, decided: {answer['percent']}")
programs.expect(len(answers) == len(cases) > 100, f"{len(cases)} cases have the shares that the engine chooses")

# --- the model ---

generator = random.Random(5)
faster = 0
for _ in range(2000):
    bw = model.filled(machines[generator.choice(list(machines))])
    workers = generator.sample(range(8), generator.randint(1, 8))
    drawn = [generator.expovariate(1) for _ in bw]
    best = model.speed(bw, workers, model.canonical(bw, workers))
    faster += model.speed(bw, workers, [one / sum(drawn) for one in drawn]) > best * (1 + 1e-12)
programs.expect(faster == 0, f"{faster} of 2000 random distributions are faster than the canonical weights")
two = [[0, 10], [20, 0]]
expected = {"first touch": 10, "uniform workers": 10, "uniform all": 20, "without canonical tuner": 20, "BWAP": 20,
            "local": 10, "proximity without canonical tuner": 0, "proximity of BWAP": 0}
programs.expect(model.speeds(two, (0,)) == expected, f"two nodes by hand: {model.speeds(two, (0,))}")

# --- the command ---


def run(*arguments):
    return subprocess.run([python_with("matplotlib"), folder, *map(str, arguments)], capture_output=True, text=True)


done = run("--output", programs.work)
results = CHECKOUT / "docs/results/paper-bwap-2026-11-23"
programs.expect(done.returncode == 0 and done.stdout == results.with_suffix(".md").read_text()
                and (programs.work / "paper-bwap.json").read_text() == results.with_suffix(".json").read_text(),
                f"the tables equal those in docs/results {done.stderr.strip()}")
programs.expect("A model, not a measurement" in (programs.work / "paper-bwap.svg").read_text(),
                "the figure states that it shows a model")
own = programs.work / "own.json"
own.write_text(json.dumps({"source": "ours", "bw": [[9, 4, 2], [4, 9, 1], [2, 1, 9]]}))
done = run("--machine", own, "--output", programs.work / "own")
programs.expect(done.returncode == 0 and "## own\n\nFrom: ours." in done.stdout, f"a machine from the user's file {done.stderr}")
for wrong in ({"bw": [[0, 1]]}, {"bw": [[0, -1], [1, 0]]}, {"bw": [[0, 0], [1, 0]]}, {"bw": 3}, [], {"other": 1}):
    own.write_text(json.dumps(wrong))
    done = run("--machine", own)
    programs.expect(done.returncode == 2 and "allowed: a machine" in done.stderr and done.stderr.count("\n") == 1,
                    f"{wrong}: exit code {done.returncode}: {done.stderr}")
# Wrong input is reported before the preparation of a guest, which may have to download a kernel.
os.environ["NUMAWARP_GUEST_CACHE"] = str(programs.work / "kernels")
for words, told in ((["--quick"], "unrecognized arguments: --quick"), (["--meter", "n5"], "topology 'n5'"),
                    (["--meter", "--machine", "nowhere.json"], "allowed: a readable file"), (["--meter", "--runs", 0], "--runs"),
                    (["--meter", "--resume", programs.work], "no plan.json of a paper-bwap --meter series"),
                    (["--meter", "--resume", programs.work, "--machine", folder / "machines.json"],
                     "--resume: only --runs and --programs are allowed")):
    done = run(*words, "--programs", programs.bin) if "--meter" in words else run(*words)
    programs.expect(done.returncode == 2 and told in done.stderr and done.stderr.count("\n") == 1,
                    f"{words}: exit code {done.returncode}: {done.stderr}")
for wrong in ("nowhere.json", f"{folder / 'machines.json'}#nobody"):
    done = run("--machine", wrong)
    programs.expect(done.returncode == 2 and "allowed: " in done.stderr, f"{wrong}: exit code {done.returncode}")
programs.leave()
