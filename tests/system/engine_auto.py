#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--engine auto gives the digest of the sequential engine, and reports the chosen engine and the reason. If the model
or an option excludes the conservative engine, Time Warp is chosen before the run."""

import re

from programs import Programs

programs = Programs()


def run(*options, engine="auto"):
    return programs.statistics_of("phold", "--workers", 2, "--engine", engine, *options)


def expect_chosen(options, engines, reason):
    """`reason`: a pattern for the whole text."""
    chosen = run(*options)
    programs.expect(chosen["engine"] in engines, f"{options}: {chosen['engine']}")
    programs.expect(re.fullmatch(reason, chosen["engine_reason"]) is not None,
                    f"{options}: {chosen['engine_reason']}")
    programs.expect(chosen["options"]["engine"] == "auto", f"{options}: --engine {chosen['options']['engine']}")
    wanted = run(*[o for o in options if o not in only_timewarp], engine="sequential")
    programs.expect(chosen["digest"] == wanted["digest"], f"{options}: digest {chosen['digest']}")


only_timewarp = ["--window", "off", "--check-rollback", "0.01"]
short = ["--until", 50]
expect_chosen([*short, "--lookahead", 0], ["timewarp"], "the model declares no lookahead")
expect_chosen([*short, "--lookahead", 0.5, "--window", "off"], ["timewarp"],
              "--window off has an effect only in Time Warp")
expect_chosen([*short, "--lookahead", 0.5, "--check-rollback", "0.01"], ["timewarp"],
              "--check-rollback 0.01 has an effect only in Time Warp")
# How long a run takes, and which engine is faster, depends on the machine.
measured = "|".join([r"the run ended during the trial of 0\.2 s",
                     r"workers of the conservative engine waited for .* % of the time",
                     r"in the last trial the conservative engine committed .* events/s, Time Warp .*"])
for lookahead in [0.00001, 0.5]:
    expect_chosen(["--until", 20000, "--lookahead", lookahead], ["conservative", "timewarp"], measured)

given = run(*short, engine="timewarp")
programs.expect(given["engine_reason"] == "", f"--engine timewarp reports no reason: {given['engine_reason']}")

report = programs.run("phold", "--engine", "auto", "--lookahead", 0, "--until", 5)
programs.expect("  chosen        the model declares no lookahead\n" in report.stdout, "the report contains the reason")

programs.leave()
