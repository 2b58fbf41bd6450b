#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models in ROOT-Sim's style have the same digest, and print the same lines at the end of each LP, on
every engine and with rollbacks."""

import json

from programs import Programs

programs = Programs()
MODELS = {"rootsim_post": [], "rootsim_queue": ["--lp", 64], "rootsim_couriers": ["--lp", 64],
          "rootsim_ferries": []}
VARIANTS = [["--workers", workers, "--lps-per-group", group, "--window", "off"]
            for workers in (1, 2, 4) for group in (1, "auto")]
VARIANTS += [["--workers", 2, "--state-saving-interval", 1, "--check-rollback", 0.1],
             ["--workers", 2, "--state-saving-interval", 5],
             ["--workers", 2, "--memory", "libc"],
             ["--workers", 2, "--check-heap", "on"]]


def run_of(model, *arguments):
    """The statistics of a run, and the output of its LPs, sorted."""
    done = programs.run(model, *arguments, "--quiet", "--watchdog", "off", "--stats", "stats.json")
    programs.expect(done.returncode == 0 and not done.stderr, f"{model}: {done.stderr}")
    return json.loads((programs.work / "stats.json").read_text()), sorted(done.stdout.splitlines())


for model, options in MODELS.items():
    reference, words = run_of(model, *options, "--engine", "sequential")
    programs.expect(reference["committed_events"] > 2000 and reference["end_reason"] == "all_can_end",
                    f"{model}: {reference['committed_events']} events, {reference['end_reason']}")
    rolled_back = forced = 0
    for variant in VARIANTS:
        run, said = run_of(model, *options, *variant)
        rolled_back += run["rolled_back_events"]
        forced += run["forced_rollbacks"]
        programs.expect(run["digest"] == reference["digest"] and said == words,
                        f"{model} {' '.join(map(str, variant))}: {run['digest']}, {len(said)} lines")
    programs.expect(rolled_back > 0, f"{model}: {rolled_back} events were rolled back")
    programs.expect(forced > 0, f"{model}: {forced} were rolled back immediately")
    done = programs.run(model, *options, "--check-model=2000")
    programs.expect(done.returncode == 0 and "BROKEN" not in done.stdout,
                    f"{model}: --check-model finds no broken rule: {done.stdout.splitlines()[-1:]}{done.stderr}")

# The two programs that measure the overhead of the ROOT-Sim interface contain the same model.
twin = run_of("rootsim_twin", "--lps", 64, "--events-per-lp", 2, "--until", 50)[0]["digest"]
for options in (["--engine", "sequential"], ["--workers", 2]):
    digest = run_of("rootsim_phold", 64, 2, 0.1, 50, "--", *options)[0]["digest"]
    programs.expect(digest == twin, f"rootsim_phold {' '.join(map(str, options))}: {digest}, rootsim_twin: {twin}")

programs.leave()
