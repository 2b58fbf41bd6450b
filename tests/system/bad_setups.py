#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Errors of a model before and after the run (in options(), setup(), finished() and in the result
of setup()) are reported as errors of the model: exit code 2, or 3 if the run is over, and one line
that names the model and the hook. The report never attributes a crash of a hook to numawarp."""

from refusals import Refusals

programs = Refusals()


def bad(code, fragments, kind, *arguments, **how):
    programs.refused(code, fragments, "bad_model", "--engine", "sequential", "--quiet", *arguments,
                     environment={"BAD_MODEL": kind}, **how)


# Exceptions and crashes of the hooks. Before abort() ends the process, the C library may print a
# line.
DEEDS = [
    ("exception", "the model's own words", 0),
    ("lines", "words on two lines", 0),
    ("silent", "an exception without a message", 0),
    ("no-words", "an exception without a message", 0),
    ("bad-words", "SIGSEGV", 0),
    ("bytes", "caf", 0),
    ("five", "an exception that is not a std::exception", 0),
    ("length", "reserve", 0),
    ("range", "__n", 0),
    ("null", "SIGSEGV", 0),
    ("division", "SIGFPE", 0),
    ("illegal", "SIGILL", 0),
    ("abort", "SIGABRT", 0),
    ("terminate", "SIGABRT", 2),
    ("stack", "SIGSEGV", 0),
]
for hook, code in [("options", 2), ("setup", 2), ("finished", 3)]:
    for deed, words, chatty in DEEDS:
        bad(code, [f"model bad: {hook}(): ", words], f"{hook}:{deed}", chatty=chatty)
    bad(4, [f"model bad: {hook}(): out of memory"], f"{hook}:bad-alloc")
bad(2, ["model bad: setup(): my.toml: No such file"], "setup:system")
bad(4, ["model bad: finished(): my.toml: No such file"], "finished:system")
bad(2, ["numawarp: --mine 7: must be even"], "setup:setup-error")
bad(2, ["numawarp: --mine 7: must be even"], "options:setup-error")

# Options with names that cannot be typed, or names that are already used.
for kind, name in [("name-empty", '""'), ("name-space", '"a b"'), ("name-equals", '"a=b"'),
                   ("name-dashes", '"--long"'), ("name-comma", '"a,b"'), ("name-dot", '"a.b"'),
                   ("name-brace", '"a{b}"'), ("name-umlaut", '"größ"'), ("name-bytes2", '"a'),
                   ("name-line", '"a b"'), ("name-bang", '"!a"'), ("flag-name", '""')]:
    bad(2, ["model bad: its option " + name, "cannot be typed", "letters, digits"], kind)
for kind, name in [("name-engine", "seed"), ("name-help", "help"), ("name-config", "config"),
                   ("name-twice", "number")]:
    bad(2, [f'model bad: its option "{name}" has a name that is already used'], kind)
for kind, rule in [("choice-default", "monday or sunday"), ("choice-none", "an option with at least one value"),
                   ("choice-empty", "empty value")]:
    bad(2, ['model bad: its option "day"', rule], kind)

for kind, option, rule in [("choice-number", "lanes", 'default "0"; allowed: 1 or 2'),
                           ("range-default", "lanes", "default 0; allowed: from 1 up"),
                           ("range-nan", "share", "default nan; allowed: a finite number")]:
    bad(2, [f'model bad: its option "{option}" has the ', rule], kind)

# Wrong results of setup().
for kind, fragments in [
        ("lps-0", ["lps 0", "at least 1"]),
        ("until-nan", ["until nan", "above 0"]),
        ("until-0", ["until 0", "above 0"]),
        ("until-minus", ["until -1", "above 0"]),
        ("lookahead-nan", ["lookahead nan", "finite"]),
        ("lookahead-minus", ["lookahead -1", "0 or more"]),
        ("lookahead-inf", ["lookahead inf", "finite"]),
        ("payload", ["payload_bytes_max 65536", "at most 65535"]),
        ("payload-huge", ["payload_bytes_max", "at most 65535"]),
        ("rollback-copy", ["preferred_rollback copy", "PlainStateProcess"]),
        ("rollback-reverse", ["preferred_rollback reverse", "on_reverse"]),
        ("rollback-7", ["preferred_rollback 7", "snapshot, copy or reverse"]),
        ("state-of", ["state_of", "nw::process<Lp>()"]),
        ("process-empty", ["process", "nw::process<Lp>()"]),
        ("parts-few", ["parts", "it has 2"]),
        ("parts-many", ["parts", "it has 5"]),
        ("link-out", ["link of LPs 0 and 4", "below lps = 4"]),
        ("table-empty", ['output table ""', "name"]),
        ("table-slash", ["../table", "name"]),
        ("table-nul", ["output table", "name"]),
        ("table-twice", ["output table t", "twice"]),
        ("table-bare", ["output table t", "column"])]:
    bad(2, ["model bad: ", *fragments], kind)
bad(2, ["--output"], "table-long", "--output", "tables")

# These are harmless.
for kind in ["links-heavy", "links-weightless", "links-to-itself", "parts-huge", "name-bytes"]:
    programs.accepted("bad_model", "--workers", 2, "--quiet", "--stats", "s.json",
                      environment={"BAD_MODEL": kind})

programs.leave()
