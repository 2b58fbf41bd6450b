#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures are bit-identical on every engine, for any number of workers and any grouping, with
snapshots and with forced rollbacks; with --warm-up, they include exactly the values from this time
on; and quantiles keep their stated error."""

import csv
import math

from programs import Programs

AHEAD = ["--window", "off", "--keep-safe-events", "on"]
VARIANTS = [["--engine", "sequential"], ["--engine", "conservative", "--workers", 2],
            ["--workers", 2, *AHEAD],
            ["--workers", 4, "--lps-per-group", 1, "--state-saving-interval", 1, *AHEAD],
            ["--workers", 1, "--check-rollback", 0.2]]
MODELS = {"bank": ["--move", 0.9], "machine_shop": ["--share", 0.5], "queues": ["--jobs", 200]}
UNTIL, WARM_UP = 600, 200

programs = Programs()


def measures(model, *options):
    run = programs.statistics_of(model, "--until", UNTIL, *MODELS[model], *options)
    return run["measures"], run


for model in MODELS:
    for warm_up in ([], ["--warm-up", WARM_UP]):
        reference, rolled_back = None, 0
        for number, variant in enumerate(VARIANTS):
            if model == "queues" and "conservative" in variant:
                continue  # queues declares no lookahead
            folder = programs.work / f"{model}{number}{len(warm_up)}"
            found, run = measures(model, *variant, *warm_up, "--output", folder)
            outcome = run["digest"], found, (folder / "measures.csv").read_bytes()
            reference = reference or outcome
            programs.expect(outcome == reference,
                            f"{model} {' '.join(map(str, [*variant, *warm_up]))}: the same measures")
            rolled_back += run["rolled_back_events"] + run["forced_rollbacks"]
        programs.expect(rolled_back > 0, f"{model}: {rolled_back} events were rolled back")


# The sums from --warm-up on equal the sums of the whole run minus the sums before --warm-up.
def sums(found):
    """(count, sum) of each measure; for a measure of kind count, the sum over LPs."""
    return {name: (one["count"], one["lps"] * one["mean"] if one["kind"] == "count"
                   else one["count"] * one["mean"]) for name, one in found.items()}


for model in MODELS:
    whole, _ = measures(model)
    late, _ = measures(model, "--warm-up", WARM_UP)
    early, _ = measures(model, "--until", WARM_UP)
    for name, one in whole.items():
        parts = [sums(part)[name] for part in (whole, early, late)]
        programs.expect(parts[0][0] - parts[1][0] == parts[2][0], f"{model}: {name} counts {parts}")
        if one["kind"] == "time average":
            areas = UNTIL * one["mean"], WARM_UP * early[name]["mean"], (UNTIL - WARM_UP) * late[name]["mean"]
        else:
            areas = [part[1] for part in parts]
        programs.expect(math.isclose(areas[0] - areas[1], areas[2], rel_tol=1e-9, abs_tol=1e-9),
                        f"{model}: {name} is {areas[0]:.6f} minus {areas[1]:.6f}, recorded: {areas[2]:.6f}")

# Compares quantiles with the exact values, which the model movies writes: the times at which films
# are sold out.
folder = programs.work / "films"
run = programs.statistics_of("movies", "--output", folder)
values = sorted(float(row["sold_out_at"]) for row in csv.DictReader(open(folder / "films.csv"))
                if float(row["sold_out_at"]) >= 0)
found = run["measures"]["sold_out_at"]
mean = math.fsum(values) / len(values)
deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
programs.expect(found["count"] == len(values), f"{len(values)} films were sold out")
for name, exact in ("mean", mean), ("deviation", deviation), ("min", values[0]), ("max", values[-1]):
    programs.expect(math.isclose(found[name], exact, rel_tol=1e-13), f"{name} {found[name]}, by hand {exact}")
error = found["quantiles"]["error"]
for name, share in ("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99):
    exact = values[int(share * (len(values) - 1))]
    programs.expect(abs(found["quantiles"][name] - exact) <= error * exact * (1 + 1e-12),
                    f"{name} {found['quantiles'][name]}, by hand {exact}, error at most {error:.4f}")

# --- at intervals: counts and sums of the parts add up to those of the whole

INTERVAL, FROM = 70, 50


def parts_of(one):
    """(length, count, mean) of the intervals."""
    return [(part["to"] - part["from"], part["count"], part["mean"] or 0) for part in one["intervals"]]


for model in MODELS:
    options = ["--warm-up", FROM, "--measure-interval", INTERVAL]
    reference = None
    for number, variant in enumerate(VARIANTS):
        if model == "queues" and "conservative" in variant:
            continue
        folder = programs.work / f"intervals-{model}{number}"
        found, run = measures(model, *options, *variant, "--output", folder)
        outcome = run["digest"], found, (folder / "measure_intervals.csv").read_bytes()
        reference = reference or outcome
        programs.expect(outcome == reference, f"{model} {' '.join(map(str, variant))}: the same at intervals")
    whole, _ = measures(model, "--warm-up", FROM)
    for name, one in found.items():
        intervals, ends = one.pop("intervals"), [*range(FROM + INTERVAL, UNTIL, INTERVAL), UNTIL]
        programs.expect([part["to"] for part in intervals] == ends
                        and [part["from"] for part in intervals] == [FROM, *ends[:-1]] and one == whole[name],
                        f"{model}: {name} has {len(intervals)} intervals, from {FROM} to {UNTIL}")
        parts = parts_of({"intervals": intervals})
        programs.expect(sum(count for _, count, _ in parts) == one["count"], f"{model}: {name}: counts add up")
        weights = {"time average": [length for length, _, _ in parts], "count": [1] * len(parts)}.get(
            one["kind"], [count for _, count, _ in parts])
        total = math.fsum(weight * mean for weight, (_, _, mean) in zip(weights, parts))
        wanted = one["mean"] * {"time average": UNTIL - FROM, "count": 1}.get(one["kind"], one["count"])
        programs.expect(math.isclose(total, wanted, rel_tol=1e-9, abs_tol=1e-9),
                        f"{model}: {name}: the means of its intervals give {total:.6f}, the whole time gives {wanted:.6f}")
        if model == "machine_shop":
            continue  # work that is left at the end of an interval counts in a later interval
        # The counts of the interval before the last one, from two runs with different end times.
        (first, _), (second, _) = (measures(model, "--warm-up", FROM, "--until", end) for end in ends[-3:-1])
        programs.expect(intervals[-2]["count"] == second[name]["count"] - first[name]["count"],
                        f"{model}: {name}: {intervals[-2]['count']} from {ends[-3]} to {ends[-2]}")

for options, line in ((["--warm-up", "100", "--until", "100"], "--warm-up 100: must be below --until, 100"),
                      (["--warm-up", "-1"], "--warm-up -1: must be a number from 0 up"),
                      (["--measure-interval", "0"], "--measure-interval 0: must be a number above 0"),
                      (["--measure-interval", "7"], "--measure-interval 7: needs --output DIR or --stats FILE"),
                      (["--measure-interval", "1e-3", "--until", "100", "--output", "o"],
                       "--measure-interval 0.001: must be at least 0.01, so that there are at most 10000 intervals")):
    done = programs.run("bank", *options)
    programs.expect(done.returncode == 2 and line in done.stderr and done.stderr.count("\n") == 1,
                    f"{options}: {done.stderr.strip()}")
done = programs.run("phold", "--warm-up", "1")
programs.expect((done.returncode, done.stderr)
                == (2, "numawarp: --warm-up 1: must be left out with model phold, which has no measures\n"),
                done.stderr.strip())
done = programs.run("phold", "--measure-interval", "1", "--stats", "s")
programs.expect((done.returncode, done.stderr)
                == (2, "numawarp: --measure-interval 1: must be left out with model phold, which has no measures\n"),
                done.stderr.strip())
programs.leave()
