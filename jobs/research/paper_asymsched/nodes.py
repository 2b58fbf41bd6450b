# SPDX-License-Identifier: Apache-2.0
"""One program on three nodes, and three programs at the same time, as on slides 4, 10 and 11: the worst, the best and
an average static placement, and the placements that AsymSched chooses, from the worst one and from each of the random
ones.

A program is PHOLD in Time Warp with large messages: every event goes to a random LP, so most messages go to another
node. The window of the run is the lookahead, so there are no rollbacks. The decisions are computed by the code of
`--place asymsched`, in the program `placement`, for equal traffic between the nodes of each program."""

import dataclasses
import itertools
import json
import random
import statistics
import subprocess
import tempfile
from pathlib import Path

from lib.series.machine import ProgramFailed, last_line
from research.series.summary import spread


@dataclasses.dataclass(frozen=True)
class Experiment:
    """Programs that run at the same time, each on its own nodes."""

    workload: str
    sizes: tuple  # the number of nodes of each program
    until: float
    quick_until: float


THREE = Experiment("three nodes", (3,), 15, 8)
SEVERAL = Experiment("three programs", (2, 3, 3), 15, 4)
EXPERIMENTS = (THREE, SEVERAL)
RANDOM_PLACEMENTS = 5
LPS_A_NODE, PAYLOAD_BYTES = 1024, 4096
LOOKAHEAD = 0.5


@dataclasses.dataclass(frozen=True)
class Static:
    """A run of each program with one worker on each of its nodes. `sets`: the nodes of each program."""

    sets: tuple
    master = ""  # the pages are on the nodes of their workers

    @property
    def nodes(self):
        return tuple(itertools.chain(*self.sets))

    @property
    def name(self):
        return "nodes " + text(self.sets)

    @property
    def key(self):
        return next(one.workload for one in EXPERIMENTS if len(one.sizes) == len(self.sets)), self.name

    def commands(self, phold, seed, until):
        """The command line of each program in the guest, without --stats. The CPU of node n is CPU n."""
        return [["taskset", "-c", ",".join(map(str, nodes)), phold, "--lps", LPS_A_NODE * len(nodes), "--events-per-lp", 1,
                 "--payload", PAYLOAD_BYTES, "--remote", 1, "--lookahead", LOOKAHEAD, "--window", LOOKAHEAD,
                 "--until", until, "--seed", seed, "--engine", "timewarp", "--workers", len(nodes), "--rebind", "off"]
                for nodes in self.sets]

    def _between(self, bandwidth):
        """For each program, the links between its nodes."""
        return [[bandwidth[a][b] for a, b in itertools.permutations(nodes, 2)] for nodes in self.sets]

    def link(self, bandwidth):
        """MB/s of the slowest link between two nodes of a program."""
        return min(map(min, self._between(bandwidth)))

    def links(self, bandwidth):
        """MB/s of the slowest link, and of all links together."""
        return self.link(bandwidth), sum(map(sum, self._between(bandwidth)))

    def rank(self, bandwidth):
        """Better placements have larger ranks. A program is as fast as its slowest link. Placements with equally slow
        links are compared by the sum of all links."""
        return -sum(1 / min(links) for links in self._between(bandwidth)), self.links(bandwidth)[1]


def text(sets):
    """The nodes of each program, as text."""
    return ", ".join(" ".join(map(str, nodes)) for nodes in sets)


def placements(nodes, sizes):
    """All ways to give each program its number of `nodes`."""
    if not sizes:
        yield ()
        return
    for first in itertools.combinations(nodes, sizes[0]):
        for others in placements([node for node in nodes if node not in first], sizes[1:]):
            yield (first, *others)


def choices(experiment, bandwidth, seed, count):
    """The best and the worst placement, and `count` random ones."""
    every = [Static(sets) for sets in placements(range(len(bandwidth)), experiment.sizes)]
    ranked = sorted(every, key=lambda placement: placement.rank(bandwidth))
    return ranked[-1], ranked[0], random.Random(seed).sample(every, count)


def asymsched(programs, bandwidth, starts):
    """The placement that AsymSched chooses for programs that run on `start`, for each start. The pages may move,
    because the programs have run for a long time."""
    program = programs / "placement"
    if not program.exists():
        raise ProgramFailed(4, f"no placement in {programs}; ./jobs/run paper-asymsched builds it")
    cases = [{"name": start.name, "machine": {"bw": bandwidth}, "elapsed_s": 1e6, "migrated_s": 0,
              "clusters": [{"nodes": nodes, "gigabytes": [1] * len(nodes), "remote_accesses": 1e9}
                           for nodes in start.sets]} for start in starts]
    with tempfile.TemporaryDirectory(prefix="numawarp-") as folder:
        file = Path(folder) / "cases.json"
        file.write_text(json.dumps({"asymsched": cases}))
        done = subprocess.run([program, "decide", file], capture_output=True, text=True)
    if done.returncode != 0:
        raise ProgramFailed(done.returncode, last_line(done.stderr))
    return [static(case["decision"]["map"]) for case in json.loads(done.stdout)["asymsched"]]


def static(sets):
    return Static(tuple(tuple(sorted(nodes)) for nodes in sets))


def planned(experiment, programs, bandwidth, seed, count):
    """The part of the plan for an experiment: lists of Static.sets. `count`: of random placements."""
    best, worst, others = choices(experiment, bandwidth, seed, count)
    starts = [worst, *others]
    return {"best": best.sets, "starts": [start.sets for start in starts],
            "chosen": [chosen.sets for chosen in asymsched(programs, bandwidth, starts)]}


def variants(plan):
    """Each placement once."""
    return list(dict.fromkeys(map(static, [plan["best"], *plan["starts"], *plan["chosen"]])))


def seconds(records, placement):
    """{run number: mean time of the programs}"""
    times = [records.of(placement, column) for column in ("wall_seconds", "seconds_2", "seconds_3")[:len(placement.sets)]]
    return {run: statistics.mean(of_program[run] for of_program in times) for run in times[0]}


def results(plan, records, bandwidth):
    best = static(plan["best"])
    starts, chosen = ([static(sets) for sets in plan[name]] for name in ("starts", "chosen"))
    of_best = seconds(records, best)

    def row(name, some):
        times = [seconds(records, placement) for placement in some]
        means = {run: statistics.mean(of_runs[run] for of_runs in times)
                 for run in sorted(set.intersection(*(set(of_runs) for of_runs in times)))}
        return {"name": name, "nodes": [placement.sets for placement in some],
                "links": [placement.links(bandwidth) for placement in some], "seconds": spread(means.values()),
                "over_best": spread(time / of_best[run] for run, time in means.items() if run in of_best)}

    rows = [row("best static", [best]), row("worst static", starts[:1]), row("AsymSched, from the worst", chosen[:1])]
    if len(starts) > 1:
        rows += [row(f"{len(starts) - 1} random ones, mean", starts[1:]),
                 row("AsymSched, from the random ones, mean", chosen[1:])]
    every = sorted(variants(plan), key=lambda placement: placement.links(bandwidth), reverse=True)
    return {"rows": rows, "placements": [row("", [placement]) for placement in every]}
