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

# --- the runs in modeled time ---

sys.path[:0] = [str(CHECKOUT / "jobs"), str(CHECKOUT / "tests/guest")]
import timed  # noqa: E402
from placements import BWAP, EVEN, shares  # noqa: E402

bw = [[rate or timed.OWN_MB_S for rate in row] for row in machines[timed.MACHINE]]
plan = timed.TimedPlan("n8", {"bw": bw}, [1, 2, 4, 8], [1], {EVEN: [0, 0.5, 1], BWAP: [0, 0.5, 1]}, {BWAP: [0]},
                       1000, 4, 1, 1, False, 1, {}, latency_factor=1, overlap_factor=1, claims=False)
for nodes, beside in plan.groups():
    cpus = plan.cpus(nodes)
    programs.expect(sum(cpus) <= 16 and min(cpus) >= 1, f"nodes {nodes}: CPUs {cpus}")
    for placement, proximity, pages in plan.placements(nodes, beside):
        if proximity is not None:
            wanted = shares(bw, nodes, placement, proximity)
            off = max(abs(weight / sum(pages.weights) - share) for weight, share in zip(pages.weights, wanted))
            programs.expect(off < 0.02, f"nodes {nodes}, {placement} at {proximity}: weights {pages.weights}")
keys = [run.key for run in plan.variants()]
programs.expect(len(keys) == len(set(keys)) == 26, f"{len(keys)} different runs")
rows = [{"placement": BWAP, "proximity": at, "seconds": ms and {"median": ms}}
        for at, ms in ((0, 8), (0.25, 7), (0.5, 9), (0.75, 6), (1, None))]
programs.expect(timed.ends_at(rows, BWAP) == {"best": 0.75, "search": 0.25} and timed.ends_at(rows, EVEN) is None,
                f"a search ends in the first valley: {timed.ends_at(rows, BWAP)}")

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
                    (["--timed", "n5"], "topology 'n5'"), (["--timed", "n1"], "allowed: 2 to 16 nodes"),
                    (["--timed", "--latency-factor", 11], "0.1 to 10"), (["--timed", "--runs", 0], "--runs"),
                    (["--timed", "--machine", folder / "machines.json"], "2 machines; allowed with --timed: one"),
                    (["--timed", "--meter"], "unrecognized arguments: --timed"),
                    (["--timed", "--resume", programs.work], "no plan.json of a paper-bwap --timed series"),
                    (["--meter", "--machine", "nowhere.json"], "allowed: a readable file"), (["--meter", "--runs", 0], "--runs"),
                    (["--meter", "--resume", programs.work], "no plan.json of a paper-bwap --meter series"),
                    (["--meter", "--resume", programs.work, "--machine", folder / "machines.json"],
                     "--resume: only --runs and --programs are allowed")):
    done = run(*words, "--programs", programs.bin) if words[0] != "--quick" else run(*words)
    programs.expect(done.returncode == 2 and told in done.stderr and done.stderr.count("\n") == 1,
                    f"{words}: exit code {done.returncode}: {done.stderr}")
for wrong in ("nowhere.json", f"{folder / 'machines.json'}#nobody"):
    done = run("--machine", wrong)
    programs.expect(done.returncode == 2 and "allowed: " in done.stderr, f"{wrong}: exit code {done.returncode}")
programs.leave()
