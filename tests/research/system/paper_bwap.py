#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `./jobs/run paper-bwap`. The shares of the command equal the engine's decisions. In the
command's model, no other shares are faster. The tables in docs/results are the output for
the published machines of jobs/research/paper_bwap/machines.json."""

import json
import os
import random
import subprocess
import sys
from dataclasses import asdict, fields
from itertools import combinations
from types import SimpleNamespace

from programs import CHECKOUT, Programs, python_with

programs = Programs()
folder = CHECKOUT / "jobs/research/paper_bwap"
sys.path.insert(0, str(folder))
import model  # noqa: E402

described = json.loads((folder / "machines.json").read_text())
machines = {name: machine["bw"] for name, machine in described.items() if name != "convention"}

# --- the shares ---

cases = [{"machine": {"bw": bw}, "workers": list(workers), "dwp": dwp} for bw in machines.values()
         for count in (1, 2, 5, 8) for workers in list(combinations(range(len(bw)), count))[:20] for dwp in (0, 0.35)]
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
    workers = generator.sample(range(len(bw)), generator.randint(1, len(bw)))
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
import timed_page  # noqa: E402
from lib.series.records import Records  # noqa: E402
from placements import BWAP, shares  # noqa: E402
from research.timed import machines as timed_machines  # noqa: E402
from research.timed.arguments import CPUS_MAX, USABLE_CORES  # noqa: E402
from research.timed.series import TimedSettings  # noqa: E402


FACTS = {"cpu": "a CPU", "cores": 2, "nodes": 1, "kernel": "Linux", "commit": "0"}


def plan_of(topology, name, machine, **options):
    settings = dict.fromkeys([field.name for field in fields(TimedSettings)] + ["seed", "runs", "instruction", "quick"])
    return timed.new_plan(SimpleNamespace(timed=topology, machine={name: machine}, **(settings | options)), FACTS)


USUAL, XEON = timed_machines.USUAL, "xeon_e5_2660v4_4n"
for topology, name, runs, cores in (("n8", USUAL, 38, {1: 8, 2: 5, 4: 3, 8: 2}), ("n4", XEON, 29, {1: 7, 2: 7, 4: 4})):
    plan = plan_of(topology, name, described[name])
    for nodes, beside, long in plan.groups():
        cpus = plan.cpus(nodes)
        programs.expect(sum(cpus) <= CPUS_MAX and min(cpus) >= 1 and cpus[nodes[0]] == cores[len(nodes)],
                        f"{name}, nodes {nodes}: CPUs {cpus}")
        for placement, proximity, pages in plan.placements(nodes, beside, long):
            if proximity is not None:
                wanted = shares(plan.bw, nodes, placement, proximity)
                off = max(abs(weight / sum(pages.weights) - share) for weight, share in zip(pages.weights, wanted))
                programs.expect(off < 0.02, f"nodes {nodes}, {placement} at {proximity}: weights {pages.weights}")
    keys = [run.key for run in plan.variants()]
    programs.expect(len(keys) == len(set(keys)) == runs, f"{name}: {len(keys)} different runs")
    moved = [(pages, plan.until_of(pages)) for pages in plan.variants() if pages.autonuma]
    programs.expect([(len(pages.nodes), pages.weights) for pages, _ in moved] == [(2, ())]
                    and all(until > 30 for _, until in moved), f"{name}: AutoNUMA until {moved[0][1]}")
    programs.expect(not any(pages.long for options in ({"quick": True}, {"claims": True}) for pages in
                            plan_of(topology, name, described[name], **options).variants()), f"{name}: other long runs")

# The page of a series with invented results: AutoNUMA has a row, and a warning if the kernel moves no page.
for moved in (0, 4211):
    made = programs.work / f"moved-{moved}"
    made.mkdir()
    records = Records(made, timed.COLUMNS)
    for number, pages in enumerate(plan.variants(), 1):
        records.append({"workload": pages.key[0], "variant": pages.key[1], "run": 1, "exit_code": 0, "digest": "0",
                        "wall_seconds": number / 1000, "load_before": 0, "shares_off": 0.2 if pages.autonuma else 0,
                        "pages_migrated": moved if pages.autonuma else ""})
    page = timed_page.page({"machine": FACTS, "date": "2026-01-31", "settings": asdict(plan), "digests": {},
                            "warnings": timed.warnings(plan, records), **timed.results(plan, records)})
    programs.expect(f"With AutoNUMA the kernel moved {moved:,} pages" in page and "| AutoNUMA | – |" in page
                    and ("AutoNUMA had no effect" in page) == (moved == 0) and "not placed as intended" not in page,
                    f"the page after {moved} pages moved")

# The properties of a machine; a file without them has those of the usual machine.
usual, xeon = (plan_of("n4", name, described[name]) for name in (USUAL, XEON))
programs.expect((usual.lps, usual.modeled["caches"], usual.bw[0][0], "latency_ns" in usual.modeled) ==
                (5760, "opteron6272", 12500, False), f"{USUAL}: {usual.modeled}")
programs.expect((xeon.lps, xeon.modeled["cores"], xeon.bw, xeon.modeled["latency_ns"]) ==
                (16800, 7, described[XEON]["bw"], described[XEON]["latency_ns"]), f"{XEON}: {xeon.modeled}")
own = plan_of("n2", "own", {"bw": [[0, 3000], [4000, 9000]]}, instruction=0.3)
programs.expect(own.bw == [[12500, 3000], [4000, 9000]] and own.modeled["cores"] == 8
                and own.modeled["instruction_ns"] == 0.3 and own.modeled["source"] == "your machine",
                f"own: {own.modeled}")
for name, table in timed_machines.PAPER_TABLES.items():
    found, bw = timed_machines.MACHINES[name], machines[table]
    programs.expect(found.cores in USABLE_CORES and min(found.bandwidth) > 0 and all(
        found.link[c][m] == bw[c][m] for c in range(len(bw)) for m in range(len(bw)) if c != m),
        f"timed --machine {name}")
rows = [{"placement": BWAP, "proximity": at, "seconds": ms and {"median": ms}}
        for at, ms in ((0, 8), (0.25, 7), (0.5, 9), (0.75, 6), (1, None))]
programs.expect(timed.ends_at(rows, BWAP) == {"best": 0.75, "search": 0.25} and timed.ends_at(rows, timed.EVEN) is None,
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
(programs.work / "caches.json").write_text(json.dumps({"bw": [[0, 1], [1, 0]], "caches": "none"}))
for words, told in ((["--quick"], "unrecognized arguments: --quick"), (["--meter", "n5"], "topology 'n5'"),
                    (["--timed", "n5"], "topology 'n5'"), (["--timed", "n1"], "allowed: 2 to 16 nodes"),
                    (["--timed", "--latency-factor", 11], "0.1 to 10"), (["--timed", "--runs", 0], "--runs"),
                    (["--timed", "--machine", folder / "machines.json"], "3 machines; allowed with --timed: one"),
                    (["--timed", "--machine", f"{folder / 'machines.json'}#{XEON}"], f"{XEON} has 4 nodes"),
                    (["--timed", "n2", "--machine", programs.work / "caches.json"],
                     "caches 'none'; allowed: opteron6128"),
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
