#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the queues model with theory, by the CSV files of independent runs.

A closed network with M equal stations and N jobs: all distributions of the jobs over the stations
are equally likely (Gordon and Newell: "Closed queueing systems with exponential servers", 1967). So
a station is busy with probability N/(N+M-1) and holds N/M jobs on average. An open network: jobs
arrive at each station at rate g, and leave to each of the M stations and to the outside with equal
probability. So g(M+1) jobs arrive at every station per unit of time, and the station is an M/M/1
queue of load r = g(M+1)s, with r/(1-r) jobs and a response time of s/(1-r) (Jackson, 1963)."""

import statistics

from programs import Programs, confidence

programs = Programs()
SEEDS = range(1, 11)
ENGINE = ["--engine", "timewarp", "--workers", 2]


def check(name, expected, values):
    mean, half = confidence(values)
    programs.expect(abs(mean - expected) <= half,
                    f"{name}: {mean:.4f} +- {half:.4f}, theory {expected:.4f}")


def columns(rows, name):
    return [float(row[name]) for row in rows]


def runs_of(*options):
    return [programs.table_of("stations", "queues", "--seed", seed, *ENGINE, *options)
            for seed in SEEDS]


stations, jobs = 8, 16
runs = runs_of("--stations", stations, "--jobs", jobs, "--until", 10000)
busy = jobs / (jobs + stations - 1)
check("closed: busy", busy, [statistics.mean(columns(run, "busy")) for run in runs])
check("closed: busy, station 3", busy, [columns(run, "busy")[3] for run in runs])
check("closed: jobs, station 3", jobs / stations, [columns(run, "jobs")[3] for run in runs])
check("closed: response", jobs / stations / busy,
      [statistics.mean(columns(run, "response")) for run in runs])
for run in runs:
    total = sum(columns(run, "jobs"))
    programs.expect(abs(total - jobs) < 1e-3, f"closed: {total:.6f} jobs exist at all times")

stations, rate, service = 8, 0.06, 1.25
runs = runs_of("--stations", stations, "--arrival-rate", rate, "--service-mean", service,
               "--until", 10000)
load = rate * (stations + 1) * service
check("open: busy", load, [statistics.mean(columns(run, "busy")) for run in runs])
check("open: jobs", load / (1 - load), [statistics.mean(columns(run, "jobs")) for run in runs])
check("open: jobs, station 3", load / (1 - load), [columns(run, "jobs")[3] for run in runs])
check("open: response", service / (1 - load),
      [statistics.mean(columns(run, "response")) for run in runs])

programs.leave()
