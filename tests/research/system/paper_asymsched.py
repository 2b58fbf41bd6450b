#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `./jobs/run paper-asymsched` without the guest: wrong options, missing programs, the links of the pairs, and
the computation of ratios."""

import dataclasses
import itertools
import subprocess
import sys

from programs import CHECKOUT, Programs, python_with

programs = Programs()
python = python_with("matplotlib")


def series(*arguments, folder=programs.bin):
    return subprocess.run([python, CHECKOUT / "jobs/research/paper_asymsched", "--programs", folder,
                           *map(str, arguments)], capture_output=True, text=True, cwd=programs.work)


for fragment, arguments in [("--runs", ["--runs", 0]), ("--until", ["--until", "nan"]),
                            ("0.1 to 10", ["--latency-factor", 11]), ("0.5 to 2", ["--overlap-factor", 3]), ("0.01 to 100", ["--instruction", 0]),
                            ("plan.json", ["--resume", programs.work / "absent"])]:
    done = series(*arguments)
    programs.expect(done.returncode == 2 and fragment in done.stderr and len(done.stderr.splitlines()) == 1,
                    f"{arguments[0]}: exit code {done.returncode}, {done.stderr.strip()}")
done = series(folder=programs.work)
programs.expect(done.returncode == 4 and "phold" in done.stderr, f"no programs: {done.returncode}, {done.stderr.strip()}")
alone = programs.stand_in("alone", "phold", "pass")
for missing, arguments in (("timed_plugin.so", ["--only", "two-nodes"]), ("placement", [])):
    done = series(*arguments, folder=alone)
    programs.expect(done.returncode == 4 and f"no {missing}" in done.stderr and len(done.stderr.splitlines()) == 1,
                    f"no {missing}: exit code {done.returncode}, {done.stderr.strip()}")

sys.path[:0] = [str(CHECKOUT / "jobs"), str(CHECKOUT / "tests/guest"), str(CHECKOUT / "jobs/research/paper_asymsched")]
import experiments  # noqa: E402
import nodes  # noqa: E402
from experiments import PAIRS, bandwidths  # noqa: E402
from runs import results  # noqa: E402

# The paper's times increase when the bandwidth of the link decreases.
links = [pair.link(bandwidths()) for pair in PAIRS]
programs.expect(links == sorted(links, reverse=True) == [5600, 4300, 3800, 3000, 3000, 1900]
                and [pair.seconds for pair in PAIRS] == sorted(pair.seconds for pair in PAIRS), f"links {links}")
words = list(map(str, PAIRS[1].commands("phold", 7, 3)[0]))
programs.expect(words[:5] == ["numactl", "-C", "0,2", "-m", "2"] and words[words.index("--seed") + 1] == "7",
                f"the command of a run: {' '.join(words)}")


class Records:
    """Two runs of each placement: the time is that of the paper / 1000, or 1 s, in the second run times 1.1."""

    def of(self, placement, column):
        seconds = getattr(placement, "seconds", 1000)
        return {1: seconds / 1000, 2: 1.1 * seconds / 1000}


plan = experiments.Plan(**dict.fromkeys(field.name for field in dataclasses.fields(experiments.Plan)))
plan.until = {"two nodes": 1, "three nodes": 1, "three programs": 1}
plan.static = {one.workload: nodes.planned(one, programs.bin, bandwidths(), 1, nodes.RANDOM_PLACEMENTS)
               for one in nodes.EXPERIMENTS}

# AsymSched never chooses a smaller sum of links than the programs have, and its choice has at least 0.9 of the largest sum.
for one in nodes.EXPERIMENTS:
    every = [nodes.Static(sets) for sets in nodes.placements(range(8), one.sizes)]
    most = max(placement.links(bandwidths())[1] for placement in every)
    sums = [[nodes.Static(sets).links(bandwidths())[1] for sets in plan.static[one.workload][name]]
            for name in ("starts", "chosen")]
    programs.expect(all(before <= after >= 0.9 * most for before, after in zip(*sums)),
                    f"{one.workload}: sums of links: {sums} of {most}")
    programs.expect(len(set(every)) == len(every) == {1: 56, 3: 560}[len(one.sizes)], f"{len(every)} placements")
commands = nodes.Static(((0, 1), (2, 3, 4), (5, 6, 7))).commands("phold", 1, 2)
programs.expect([words[2] for words in commands] == ["0,1", "2,3,4", "5,6,7"]
                and [words[words.index("--workers") + 1] for words in commands] == [2, 3, 3], "three programs")
found = results(plan, Records())
for one in nodes.EXPERIMENTS:
    rows = found["static"][one.workload]["rows"]
    programs.expect(len(rows) == 5 and rows[0]["seconds"]["runs"] == 2 and rows[0]["over_best"]["median"] == 1,
                    f"results for {one.workload}")
rows = found["pairs"]
programs.expect(all(abs(row["difference"]) < 1e-9 for row in rows) and rows[0]["ratio"]["runs"] == 2
                and [row["fitted"] for row in rows].count(True) == 1, "the paper's own times have no difference")
plan.claims = True
programs.expect(len(plan.pairs()) == 2 and [row["value"]["median"] for row in results(plan, Records())["claims"]][1:] == [1] * 4,
                "claims")
programs.leave()
