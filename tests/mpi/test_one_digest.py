#!/usr/bin/env python3
"""One digest, and one table of traffic to the byte, however many ranks and workers run a model."""

from ranks import MODELS, Ranks

ranks = Ranks()

for model, options in MODELS.items():
    folder = ranks.work / model
    output = ["--output", folder / "sequential"] if model == "traffic" else []
    reference = ranks.statistics_of(model, "--engine", "sequential", *options, *output)
    crossed = rolled_back = 0
    for count, workers in [(1, 2), (2, 1), (2, 2), (3, 1), (4, 2), (8, 1)]:
        name = f"{model} on {count} x {workers}"
        output = ["--output", folder / "ranks"] if model == "traffic" else []
        run = ranks.statistics_over(count, model, *options, "--workers", workers, *output)
        crossed += run["mpi"]["events_sent"]
        rolled_back += run["rolled_back_events"]
        ranks.expect((run["ranks"], run["workers"]) == (count, workers)
                     and run["digest"] == reference["digest"]
                     and run["committed_events"] == reference["committed_events"],
                     f"{name}: digest {run['digest']}")
        if output:
            same = [(folder / whose / "roads.csv").read_bytes()
                    for whose in ("sequential", "ranks")]
            left = sorted(path.name for path in (folder / "ranks").iterdir())
            ranks.expect(same[0] == same[1] and left == ["network.svg", "roads.csv"],
                         f"{name}: the same roads.csv, and nothing left beside it: {left}")
    ranks.expect(crossed > 0 and rolled_back > 0,
                 f"{model}: {crossed} events crossed ranks, {rolled_back} were rolled back")

ranks.leave()
