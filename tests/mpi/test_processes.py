#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models that are written as processes have the same digest and bit-identical measures on several
ranks, with both parallel engines."""

from ranks import Ranks

MODELS = {
    "bank": ["--move", 0.9, "--until", 500],
    "car_wash": ["--again", 0.5, "--until", 300],
    "channel": ["--until", 200],
    "gas_station": ["--again", 0.5, "--until", 8000],
    "machine_shop": ["--share", 0.5, "--until", 1000],
    "movies": ["--move", 0.9],
}
ENGINES = [["--engine", "conservative"], ["--window", "off", "--keep-safe-events", "on"]]

ranks = Ranks()
rolled_back = 0
for model, options in MODELS.items():
    options = [*options, "--warm-up", 50]
    folders = [ranks.work / f"{model}{number}" for number in range(3)]
    reference = ranks.statistics_of(model, "--engine", "sequential", *options, "--output", folders[0])
    for engine, folder in zip(ENGINES, folders[1:]):
        run = ranks.statistics_over(2, model, *options, "--workers", 1, *engine, "--output", folder)
        rolled_back += run["rolled_back_events"]
        ranks.expect((run["ranks"], run["digest"]) == (2, reference["digest"])
                     and run["mpi"]["events_sent"] > 0,
                     f"{model} {' '.join(engine)}: digest {run['digest']}, "
                     f"{run['mpi']['events_sent']} events crossed ranks")
        tables = [(one / "measures.csv").read_bytes() for one in (folders[0], folder)]
        ranks.expect(run["measures"] == reference["measures"] and tables[0] == tables[1],
                     f"{model} {' '.join(engine)}: {len(run['measures'])} measures")
ranks.expect(rolled_back > 0, f"{rolled_back} events were rolled back")
ranks.leave()
