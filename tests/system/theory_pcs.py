#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the pcs model with theory, by the CSV files of independent runs.

If no portable moves, a cell is a group of n sources with c channels (Engset: "Die
Wahrscheinlichkeitsrechnung zur Bestimmung der Wählerzahl in automatischen Fernsprechämtern", 1918).
If there are k calls, a call ends at rate k/h and, if k < c, a call begins at rate (n - k)/g. h is
the mean time of a call, and g is the mean time to the next call. So the share p(k) of the time with
k calls is proportional to C(n, k) (h/g)^k. An attempt of an idle portable is blocked if there are c
calls. Summed over these rates, the blocked share is p(c) of n - 1 sources. All portables make
attempts at one rate, so the share of busy lines is the mean of k, divided by n. For large n and a
fixed n h/g, the blocked share is given by Erlang's loss formula (Erlang, 1917).

If all portables move, and there are enough channels for all, each portable is independent. A
portable is in a call for h/(h + g) of the time, a call is handed off h/m times, where m is the mean
time in a cell, and portables are distributed over the cells independently and uniformly."""

import statistics

from programs import Programs, confidence

programs = Programs()
SEEDS = range(1, 11)


def engset(sources, channels, load):
    """p(0), …, p(c), with h/g = load. Uses the recursion, because the coefficients are too
    large."""
    terms = [1]
    for k in range(1, min(sources, channels) + 1):
        terms.append(terms[-1] * (sources - k + 1) / k * load)
    return [term / sum(terms) for term in terms]


def mean_of(shares):
    return sum(k * share for k, share in enumerate(shares))


def erlang(channels, load):
    """The share of blocked calls."""
    blocked = 1
    for k in range(1, channels + 1):
        blocked = load * blocked / (k + load * blocked)
    return blocked


def check(name, expected, values):
    mean, half = confidence(values)
    programs.expect(abs(mean - expected) <= half,
                    f"{name}: {mean:.5f} +- {half:.5f}, theory {expected:.5f}")


def runs_of(*options):
    """For each run {column: its values in all cells}."""
    for seed in SEEDS:
        rows = programs.table_of("cells", "pcs", "--seed", seed, *options)
        yield {name: [float(row[name]) for row in rows] for name in rows[0]}


def total(run, *names):
    return sum(sum(run[name]) for name in names)


def blocked_share(run):
    return total(run, "blocked") / total(run, "connected", "blocked")


def busy_line_share(run):
    return total(run, "busy_lines") / total(run, "connected", "blocked", "busy_lines")


def call_mean(run):
    calls = zip(run["completed"], run["call_s_mean"])
    return sum(number * mean for number, mean in calls) / total(run, "completed")


# With these options, cells exchange no events, so there is nothing to roll back.
APART = ["--moves", "off", "--engine", "sequential"]

for name, sources, channels, call, next_call in [("the default", 25, 10, 180, 360),
                                                 ("many calls", 6, 4, 300, 150)]:
    runs = list(runs_of(*APART, "--count-from", 2000, "--portables", sources, "--channels", channels,
                        "--call-mean", call, "--next-call-mean", next_call,
                        "--width", 20, "--height", 10, "--until", 14000))
    shares = engset(sources, channels, call / next_call)
    check(f"{name}: blocked", engset(sources - 1, channels, call / next_call)[channels],
          [blocked_share(run) for run in runs])
    check(f"{name}: busy lines", mean_of(shares) / sources, [busy_line_share(run) for run in runs])
    check(f"{name}: channels in use", mean_of(shares),
          [statistics.mean(run["in_use_mean"]) for run in runs])
    check(f"{name}: channels in use, cell 3", mean_of(shares), [run["in_use_mean"][3] for run in runs])
    check(f"{name}: s of a call", call, [call_mean(run) for run in runs])

load, channels, sources, call = 8, 10, 5000, 180
runs = list(runs_of(*APART, "--count-from", 5000, "--portables", sources, "--channels", channels,
                    "--call-mean", call, "--next-call-mean", call * sources / load,
                    "--width", 4, "--height", 2, "--until", 400000))
blocked = [blocked_share(run) for run in runs]
check("many portables: blocked, Erlang", erlang(channels, load), blocked)
check("many portables: blocked, Engset", engset(sources - 1, channels, load / sources)[channels], blocked)

portables, call, next_call, move = 25, 180, 360, 450
runs = list(runs_of("--workers", 2, "--channels", 1000, "--move-mean", move, "--count-from", 2000,
                    "--width", 10, "--height", 10, "--until", 14000))
in_call = call / (call + next_call)
check("all move: busy lines", in_call, [busy_line_share(run) for run in runs])
check("all move: channels in use", in_call * portables,
      [statistics.mean(run["in_use_mean"]) for run in runs])
check("all move: hand-offs per call", call / move,
      [total(run, "hand_offs_in") / total(run, "connected") for run in runs])
check("all move: s of a call", call, [call_mean(run) for run in runs])
# If n portables are distributed over m cells, the variance of the number in a cell is n/m (1 -
# 1/m).
check("all move: variance of portables in a cell over their mean", 1,
      [statistics.variance(run["portables"]) / portables for run in runs])
programs.expect(all(total(run, "blocked", "dropped") == 0 for run in runs),
                "all move: with one channel per portable, no call is blocked or dropped")

programs.leave()
