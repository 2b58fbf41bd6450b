#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A saved run continues to another end time than before, whether it was complete or interrupted:
digest and files equal those of a run with this end time from the start. An end time that the saved
run has passed is refused."""

import shutil
import signal

from checkpoints import contents, gvt, latest, result, start, wait_for_gvt
from programs import Programs

# At the end of its run, traffic has many unfinished journeys, phold has all its events, and queues
# has customers in service.
MODELS = [
    (["traffic", "--objects", 200], 4000, 9000),
    (["phold", "--lps", 64, "--remote", 0.5, "--rollback", "snapshot", "--state", 64], 40000, 50000),
    (["queues"], 100000, 130000),
]

programs = Programs()
expect = programs.expect
stats, output = programs.work / "stats.json", programs.work / "output"
checkpoint = programs.work / "checkpoint"


def run(model, *more):
    process = start(programs, programs.bin / model[0], *model[1:], "--quiet", "--stats", stats,
                    "--output", output, *more)
    _, errors = process.communicate(timeout=600)
    return process.returncode, errors


for model, early, late in MODELS:
    references = {}
    for end in (early, late):
        shutil.rmtree(output, ignore_errors=True)
        code, errors = run(model, "--until", end, "--engine", "sequential")
        expect(code == 0, f"{model[0]} until {end}: {code} {errors!r}")
        references[end] = (result(stats), contents(output))
    for interrupted in (False, True):
        shutil.rmtree(output, ignore_errors=True)
        shutil.rmtree(checkpoint, ignore_errors=True)
        saved = ["--checkpoint", checkpoint, "--checkpoint-period", "0.05"]
        name = f"{model[0]}, {'interrupted' if interrupted else 'over'}"
        if interrupted:
            process = start(programs, programs.bin / model[0], *model[1:], "--quiet", "--until", early,
                            "--engine", "timewarp", "--workers", 2, "--stats", stats, "--output", output, *saved)
            wait_for_gvt(process, checkpoint)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=600)
        else:
            run(model, "--until", early, "--engine", "timewarp", "--workers", 2, *saved)
            expect((result(stats), contents(output)) == references[early], f"{name}: its own end")
        there = latest(checkpoint)
        if there is None:
            expect(False, f"{name}: nothing was saved")
            continue
        passed = gvt(checkpoint)
        code, errors = run(model, "--until", passed / 2, "--restart", checkpoint)
        expect(code == 2 and errors.count("\n") == 1 and "--until" in errors,
               f"{name}: an end before {passed} is refused: {code} {errors!r}")
        code, errors = run(model, "--until", late, "--workers", 1, *saved, "--restart", checkpoint)
        expect(code == 0 and (result(stats), contents(output)) == references[late],
               f"{name} at {passed}: continued to {late}: {code} {errors!r}")

programs.leave()
