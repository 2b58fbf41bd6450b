#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks mistakes in the use of processes. An LP with such a mistake must not compile, and the
compiler's error must give the reason. The last cases compile: they show that the other cases fail
for the stated reason.

usage: process_misuse.py COMPILER FOLDER...    folders with the public headers

Exit code 1: a mistake compiles, or fails with another text."""

import subprocess
import sys

# (members of the LP, text of the error). None: the LP compiles.
CASES = [
    ("nw::Process p(nw::Context& c) { co_await env.delay(c.now()); }", "does not outlive its handler"),
    ("nw::Process p(int, const nw::Event* e) { co_await env.delay(e->time()); }",
     "does not outlive its handler"),
    ("void q(int i) { env.start([this, i]() -> nw::Process { co_await env.delay(i); }()); }",
     "the captures of a lambda no longer exist"),
    ("nw::Process p() { co_await 3; }", "a process can only await an object that its nw::Environment"),
    ("nw::Process p() { auto both = nw::any_of(env.delay(1), env.delay(2)); co_await both; }",
     "a condition must be awaited in the expression that creates it"),
    ("nw::Process p() { auto one = env.delay(1); auto other = one; co_await other; }", "deleted"),
    ("nw::Process p() { co_await env.receive<std::string>(); }", "a message must be trivially copyable"),
    ("nw::Resource desk{env}; nw::Process p() { co_await desk.request(); }", "a request without a name"),
    ("nw::Resource desk{env}; nw::Process p() { co_await desk.preempt(1); }", "a request without a name"),
    ("nw::Resource desk{env}; nw::Process p() { co_await (desk.request() | env.delay(2)); }",
     "a request without a name"),
    ("nw::Resource desk{env}; nw::Process p() { co_await nw::interruptible(desk.request()); }",
     "a request without a name"),
    ("nw::Process p() { auto one = env.delay(1); auto both = one & env.delay(2); co_await both.within(3); }",
     "any_of() and all_of() have no within()"),
    ("nw::Process p() { auto one = env.delay(1); auto any = one | env.delay(2); co_await any.within(3); }",
     "any_of() and all_of() have no within()"),
    ("nw::Resource desk{env}; nw::Process p() { auto turn = desk.request(); co_await nw::interruptible(turn);"
     " auto other = desk.request(); co_await ((turn & other) | env.delay(3)); }", None),
    ("nw::Process p() { auto one = env.delay(1); co_await (one | env.delay(2)); }", None),
]
TEXT = """#include <string>
#include <numawarp/process.hpp>
struct Lp final : nw::ProcessLp {
    explicit Lp(nw::LpId) {}
    void start() override {}
    %s
};
"""

compiler, *folders = sys.argv[1:]
includes = [f"-I{folder}" for folder in folders]
failures = 0
for code, words in CASES:
    done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", *includes, "-xc++", "-"],
                          input=TEXT % code, capture_output=True, text=True)
    holds = done.returncode == 0 if words is None else done.returncode != 0 and words in done.stderr
    failures += not holds
    print(("ok      " if holds else "FAILED  ") + code + ("" if holds else "\n" + done.stderr))
sys.exit(1 if failures else 0)
