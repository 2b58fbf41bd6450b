#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model has the same digest, and traffic a byte-identical table, for any number of ranks and
workers and for every engine."""

from ranks import MODELS, Ranks

# The models that declare a lookahead.
CONSERVATIVE = {"traffic", "phold"}

ranks = Ranks()


def compare(model, options, reference, engine, count, workers):
    """Compares a run on several ranks with the reference; returns its statistics."""
    folder = ranks.work / model
    name = f"{model} by {engine} on {count} x {workers}"
    output = ["--output", folder / "ranks"] if model == "traffic" else []
    run = ranks.statistics_over(count, model, *options, "--engine", engine, "--workers", workers,
                                *output)
    ranks.expect((run["ranks"], run["workers"]) == (count, workers)
                 and run["digest"] == reference["digest"]
                 and run["committed_events"] == reference["committed_events"]
                 and (run["gvt"], run["end_reason"])
                 == (reference["gvt"], reference["end_reason"]),
                 f"{name}: digest {run['digest']}")
    # Without the last sample, which is computed from the totals of the run.
    counts = [sample["committed_events"] for sample in run["history"][:-1]]
    ranks.expect(counts == sorted(counts) and counts[-1] <= run["committed_events"]
                 and (counts[-1] > 0 or run["wall_seconds"] < 0.3),
                 f"{name}: its history has {counts} events of {run['committed_events']}")
    sent = sum(map(sum, run["communication"]))
    ranks.expect(sent == run["mpi"]["events_sent"],
                 f"{name}: {sent} events from rank to rank")
    if output:
        same = [(folder / whose / "roads.csv").read_bytes()
                for whose in ("sequential", "ranks")]
        left = sorted(path.name for path in (folder / "ranks").iterdir())
        ranks.expect(same[0] == same[1] and left == ["network.svg", "roads.csv"],
                     f"{name}: the same roads.csv, and no other file is left: {left}")
    return run


for model, options in MODELS.items():
    output = ["--output", ranks.work / model / "sequential"] if model == "traffic" else []
    reference = ranks.statistics_of(model, "--engine", "sequential", *options, *output)
    crossed = rolled_back = 0
    for count, workers in [(1, 2), (2, 1), (2, 2), (3, 1), (4, 2), (8, 1)]:
        # Within the lookahead nothing is rolled back, so one of the runs executes events beyond the
        # lookahead.
        window = ["--window", "off"] if (count, workers) == (4, 2) else []
        run = compare(model, [*options, *window], reference, "timewarp", count, workers)
        crossed += run["mpi"]["events_sent"]
        rolled_back += run["rolled_back_events"]
    ranks.expect(crossed > 0 and rolled_back > 0,
                 f"{model}: {crossed} events crossed ranks, {rolled_back} were rolled back")
    if model not in CONSERVATIVE:
        continue
    crossed = 0
    for count, workers in [(1, 2), (2, 1), (2, 2), (3, 1), (4, 1)]:
        run = compare(model, options, reference, "conservative", count, workers)
        crossed += run["mpi"]["events_sent"]
    ranks.expect(crossed > 0, f"{model}: {crossed} events crossed conservative ranks")

ranks.leave()
