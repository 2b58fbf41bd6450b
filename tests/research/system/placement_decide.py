#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `placement decide`: the decisions for cases that were computed independently of this
program, on the machine of the BWAP paper (jobs/research/paper_bwap/machines.json), and the line
that is printed for each kind of invalid file."""

import json
import math
import shutil

from programs import CHECKOUT, Programs

programs = Programs()
shutil.copy(CHECKOUT / "jobs/research/paper_bwap/machines.json", programs.work)
MACHINE = "opteron_8n"
MANY = 1e9  # remote accesses


def clusters(*nodes, gigabytes=None, remote_accesses=MANY):
    return [{"nodes": list(nodes), "gigabytes": gigabytes or [1] * len(nodes),
             "remote_accesses": remote_accesses}]


# The best pair of links is between nodes 6 and 7, 10,318 MB/s both ways. The pairs 0-1, 2-3 and 4-5
# are within 2 % of this value; all other pairs have less than 7,700 MB/s.
BEST_SCORE = round(math.log1p(MANY) * 10318, 1)
STAYS = {"gigabytes": 0, "cost_s": 0, "apply": False}
ASYMSCHED = [
    ("badly connected: one node changes, and the better of two such pairs is taken", clusters(0, 3),
     100, 0, {"placements": 28, "admissible": 4, "map": [[2, 3]], "gigabytes": 1, "cost_s": 0.3,
              "apply": True, "best_score": BEST_SCORE}),
    ("the part of the cluster with less memory moves", clusters(0, 3, gigabytes=[4, 1]), 100, 0,
     {"map": [[0, 1]], "gigabytes": 1, "apply": True}),
    ("the present placement is good enough", clusters(0, 1, gigabytes=[8, 8]), 100, 0,
     {"map": [[0, 1]], **STAYS, "best_score": BEST_SCORE}),
    ("beyond the budget of 5 %", clusters(0, 3, gigabytes=[1, 8]), 5.9, 0,
     {"map": [[2, 3]], "cost_s": 0.3, "apply": False}),
    ("just within the budget of 5 %", clusters(0, 3, gigabytes=[1, 8]), 6.1, 0, {"apply": True}),
    ("the time of earlier moves counts toward the budget", clusters(0, 3, gigabytes=[1, 8]), 100, 4.8, {"apply": False}),
    ("the machine is full: there is one placement", clusters(*range(8)), 1000, 0,
     {"placements": 1, "admissible": 1, "map": [list(range(8))], **STAYS}),
    ("no traffic: all placements are equal, and the cluster stays", clusters(0, 3, remote_accesses=0), 1000, 0,
     {"placements": 28, "admissible": 28, "map": [[0, 3]], **STAYS, "score": 0, "best_score": 0}),
    ("two clusters get a pair each", clusters(0, 2) + clusters(1, 3), 1000, 0,
     {"placements": 28 * 15, "admissible": 12, "map": [[0, 1], [2, 3]], "gigabytes": 2}),
]
# (workers, dwp, percent). With dwp 0: the bandwidth from the worst worker to each node, in percent
# of the sum over all nodes.
BWAP = [([0, 1], 0, [20.5, 20.6, 7.4, 7.3, 14.4, 14.4, 7.8, 7.6]),
        ([0, 1], 0.5, [35.3, 35.3, 3.7, 3.7, 7.2, 7.2, 3.9, 3.8]),
        ([0, 1], 1, [50.0, 50.0, 0, 0, 0, 0, 0, 0])]


def decide(content):
    file = programs.work / "cases.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return programs.run("placement", "decide", file)


def answers(content):
    done = decide(content)
    programs.expect(done.returncode == 0 and done.stderr == "", f"the program answers: {done.stderr}")
    return json.loads(done.stdout)


answered = answers({
    "asymsched": [{"name": name, "machine": MACHINE, "clusters": of, "elapsed_s": elapsed,
                   "migrated_s": migrated} for name, of, elapsed, migrated, _ in ASYMSCHED],
    "bwap": [{"machine": MACHINE, "workers": workers, "dwp": dwp} for workers, dwp, _ in BWAP]})
for (name, *_, expected), case in zip(ASYMSCHED, answered["asymsched"], strict=True):
    for figure, value in expected.items():
        programs.expect(case["decision"][figure] == value,
                        f"{name}: {figure} is {value}: {case['decision'][figure]}")
for (workers, dwp, percent), case in zip(BWAP, answered["bwap"], strict=True):
    programs.expect(case["percent"] == percent, f"workers {workers}, dwp {dwp}: {case['percent']}")

in_place = answers({"bwap": [{"machine": {"bw": [[4, 1], [1, 4]]}, "workers": [0], "dwp": 0}]})
programs.expect(in_place["bwap"][0]["percent"] == [80, 20], "a case may contain the description of its machine")

a_case = {"machine": MACHINE, "clusters": clusters(0, 3), "elapsed_s": 1, "migrated_s": 0}
for content, words in [
        ("{", "not valid JSON"),
        ([], "allowed: an object with"),
        ({"asymsched": 1}, "allowed: an array of cases"),
        ({"asymsched": [{**a_case, "machine": "nobody's"}]}, "no machine \"nobody's\""),
        ({"asymsched": [{**a_case, "machine": {"bw": [[1, 2], [3]]}}]}, "row 1 of bw has 1 numbers"),
        ({"asymsched": [{**a_case, "clusters": clusters(0, 8)}]}, "clusters[0].nodes: allowed: nodes, 0 to 7"),
        ({"asymsched": [{**a_case, "clusters": clusters(0) + clusters(0)}]}, "each node at most once"),
        ({"asymsched": [{**a_case, "clusters": clusters(0, gigabytes=[-1])}]}, "gigabytes: allowed"),
        ({"asymsched": [{**a_case, "clusters": clusters(0, gigabytes=[1, 1])}]}, "as many numbers"),
        ({"asymsched": [{**a_case, "elapsed_s": "long"}]}, "elapsed_s: allowed: a number"),
        ({"bwap": [{"machine": MACHINE, "workers": [], "dwp": 0}]}, "workers: allowed"),
        ({"bwap": [{"machine": MACHINE, "workers": [1], "dwp": 1.5}]}, "dwp: allowed: a number, 0 to 1")]:
    done = decide(content)
    programs.expect(done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1,
                    f"{words}: {done.returncode} {done.stderr.strip()}")
programs.expect(programs.run("placement", "decide", "nowhere.json").returncode == 2, "no such file")
programs.expect(programs.run("placement").returncode == 2, "no command")

programs.leave()
