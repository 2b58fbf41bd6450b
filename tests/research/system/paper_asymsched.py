#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `./jobs/run paper-asymsched` without the guest: wrong options, missing programs, the links of the pairs, and
the computation of ratios."""

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
                            ("0.1 to 10", ["--latency-factor", 11]), ("0.01 to 100", ["--instruction", 0]),
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
import nodes  # noqa: E402
from experiments import PAIRS, bandwidths  # noqa: E402
from runs import results  # noqa: E402

# The paper's times increase when the bandwidth of the link decreases.
links = [pair.link(bandwidths()) for pair in PAIRS]
programs.expect(links == sorted(links, reverse=True) == [5600, 4300, 3800, 3000, 3000, 1900]
                and [pair.seconds for pair in PAIRS] == sorted(pair.seconds for pair in PAIRS), f"links {links}")
words = list(map(str, PAIRS[1].command("phold", 7, 3)))
programs.expect(words[:5] == ["numactl", "-C", "0,2", "-m", "2"] and words[words.index("--seed") + 1] == "7",
                f"the command of a run: {' '.join(words)}")


class Records:
    """Two runs of each placement: the time is that of the paper / 1000, or 1 s, in the second run times 1.1."""

    def of(self, placement, column):
        seconds = getattr(placement, "seconds", 1000)
        return {1: seconds / 1000, 2: 1.1 * seconds / 1000}


class Plan:
    until = {"two nodes": 1, "three nodes": 1}
    three_nodes = nodes.planned(programs.bin, bandwidths(), 1, nodes.RANDOM_PLACEMENTS)


# AsymSched never chooses a smaller sum of links than the program has, and its choice has at least 0.9 of the largest sum.
most = max(nodes.Static(three).links(bandwidths())[1] for three in itertools.combinations(range(8), 3))
sums = [[nodes.Static(three).links(bandwidths())[1] for three in Plan.three_nodes[name]] for name in ("starts", "chosen")]
programs.expect(all(before <= after >= 0.9 * most for before, after in zip(*sums)), f"sums of links: {sums} of {most}")
found = results(Plan, Records())
programs.expect(len(found["three_nodes"]["rows"]) == 5 and found["three_nodes"]["rows"][0]["seconds"]["runs"] == 2,
                "results for three nodes")
rows = found["pairs"]
programs.expect(all(abs(row["difference"]) < 1e-9 for row in rows) and rows[0]["ratio"]["runs"] == 2
                and [row["fitted"] for row in rows].count(True) == 1, "the paper's own times have no difference")
programs.leave()
