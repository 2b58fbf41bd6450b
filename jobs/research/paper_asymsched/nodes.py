# SPDX-License-Identifier: Apache-2.0
"""One program on three nodes, as on slides 4 and 10: the worst, the best and an average static placement, and the
placements that AsymSched chooses, from the worst one and from each of the random ones.

The program is PHOLD in Time Warp with large messages: every event goes to a random LP, so two thirds of the messages
go to another node. The window of the run is the lookahead, so there are no rollbacks. The decisions are computed by
the code of `--place asymsched`, in the program `placement`, for equal traffic between the three nodes."""

import dataclasses
import itertools
import json
import random
import statistics
import subprocess
import tempfile
from pathlib import Path

from lib.series.machine import ProgramFailed, last_line
from research.series.summary import ratio, spread

WORKLOAD = "three nodes"
COUNT = 3  # nodes of the program
RANDOM_PLACEMENTS = 5
LPS, PAYLOAD_BYTES = 3072, 4096
UNTIL, QUICK_UNTIL = 15, 8
LOOKAHEAD = 0.5


@dataclasses.dataclass(frozen=True)
class Static:
    """A run with one worker on each of `nodes`."""

    nodes: tuple
    master = ""  # the pages are on the nodes of their workers

    @property
    def name(self):
        return "nodes " + " ".join(map(str, self.nodes))

    @property
    def key(self):
        return WORKLOAD, self.name

    def command(self, phold, seed, until):
        """The command line in the guest, without --stats. The CPU of node n is CPU n."""
        return ["taskset", "-c", ",".join(map(str, self.nodes)), phold, "--lps", LPS, "--events-per-lp", 1,
                "--payload", PAYLOAD_BYTES, "--remote", 1, "--lookahead", LOOKAHEAD, "--window", LOOKAHEAD,
                "--until", until, "--seed", seed, "--engine", "timewarp", "--workers", len(self.nodes),
                "--rebind", "off"]

    def _between(self, bandwidth):
        return [bandwidth[a][b] for a, b in itertools.permutations(self.nodes, 2)]

    def link(self, bandwidth):
        """MB/s of the slowest link between two of the nodes."""
        return min(self._between(bandwidth))

    def links(self, bandwidth):
        """MB/s of the slowest link, and of all links together."""
        return self.link(bandwidth), sum(self._between(bandwidth))


def choices(bandwidth, seed, count):
    """The best and the worst placement by their slowest link, then by the sum of their links; and `count` random ones."""
    every = [Static(nodes) for nodes in itertools.combinations(range(len(bandwidth)), COUNT)]
    ranked = sorted(every, key=lambda placement: placement.links(bandwidth))
    return ranked[-1], ranked[0], random.Random(seed).sample(every, count)


def asymsched(programs, bandwidth, starts):
    """The placement that AsymSched chooses for a program that runs on `start`, for each start. The pages of the
    program may move, because it has run for a long time."""
    program = programs / "placement"
    if not program.exists():
        raise ProgramFailed(4, f"no placement in {programs}; ./jobs/run paper-asymsched builds it")
    cases = [{"name": start.name, "machine": {"bw": bandwidth}, "elapsed_s": 1e6, "migrated_s": 0,
              "clusters": [{"nodes": start.nodes, "gigabytes": [1] * COUNT, "remote_accesses": 1e9}]} for start in starts]
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        file = Path(folder) / "cases.json"
        file.write_text(json.dumps({"asymsched": cases}))
        done = subprocess.run([program, "decide", file], capture_output=True, text=True)
    if done.returncode != 0:
        raise ProgramFailed(done.returncode, last_line(done.stderr))
    return [Static(tuple(sorted(case["decision"]["map"][0]))) for case in json.loads(done.stdout)["asymsched"]]


def planned(programs, bandwidth, seed, count):
    """The part of the plan for three nodes: lists of nodes. `count`: of random placements."""
    best, worst, others = choices(bandwidth, seed, count)
    starts = [worst, *others]
    return {"best": best.nodes, "starts": [start.nodes for start in starts],
            "chosen": [chosen.nodes for chosen in asymsched(programs, bandwidth, starts)]}


def variants(plan):
    """Each placement once."""
    return [Static(nodes) for nodes in dict.fromkeys(map(tuple, [plan["best"], *plan["starts"], *plan["chosen"]]))]


def results(plan, records, bandwidth):
    best = Static(tuple(plan["best"]))
    of_best = records.of(best, "wall_seconds")
    starts, chosen = ([Static(tuple(nodes)) for nodes in plan[name]] for name in ("starts", "chosen"))

    def row(name, placements):
        times = [records.of(placement, "wall_seconds") for placement in placements]
        rounds = set.intersection(*(set(of_runs) for of_runs in times))
        return {"name": name, "nodes": [placement.nodes for placement in placements],
                "links": [placement.links(bandwidth) for placement in placements],
                "over_best": spread(statistics.mean(of_runs[run] for of_runs in times) / of_best[run]
                                    for run in sorted(rounds & of_best.keys())),
                "seconds": spread(statistics.mean(of_runs[run] for of_runs in times) for run in sorted(rounds))}

    rows = [row("best static", [best]), row("worst static", starts[:1]), row("AsymSched, from the worst", chosen[:1])]
    if len(starts) > 1:
        rows += [row(f"{len(starts) - 1} random ones, mean", starts[1:]),
                 row("AsymSched, from the random ones, mean", chosen[1:])]
    placements = [{"nodes": placement.nodes, "links": placement.links(bandwidth),
                   "seconds": spread(records.of(placement, "wall_seconds").values()),
                   "ratio": ratio(records, placement, best, "wall_seconds")} for placement in variants(plan)]
    return {"rows": rows, "placements": sorted(placements, key=lambda one: one["links"], reverse=True)}
