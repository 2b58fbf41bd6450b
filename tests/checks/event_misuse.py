#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks mistakes in the declaration and use of event structs. A model with such a mistake must not
compile, and the compiler's error must give the reason. The last cases compile: they show that the
other cases fail for the stated reason.

usage: event_misuse.py COMPILER FOLDER...    folders with the public headers

Exit code 1: a mistake compiles or fails with another text, or a correct case does not compile."""

import subprocess
import sys

START = "void on_start(nw::Context& c) override"
BOTH = "void on(nw::Context&, const Arrival&) {} void on(nw::Context&, const Leave&) {} "
# (events that the class handles, members of the class, text of the error). None: the class
# compiles.
CASES = [
    ("Arrival, Leave", "void on(nw::Context&, const Arrival&) {}", "for each event that it handles"),
    ("Arrival, Text", BOTH, "an event must be trivially copyable"),
    ("Arrival, Large", BOTH, "an event must have at most 65,535 bytes"),
    ("Arrival, Pointing", BOTH, "an event must not have a pointer"),
    ("Arrival, Deep", BOTH, "an event must not have a pointer"),
    ("Arrival, Optional", BOTH, "an event must not have a pointer"),
    ("Arrival, Zero", BOTH, "two events of a list have the same number"),
    ("Arrival, Leave", BOTH + START + " { send(c, c.self(), 1, Other{}); }", "must declare its number"),
    ("Arrival, Leave", BOTH + "void undo(nw::Context&, const Leave&) {}", "undo() exists for some events only"),
    ("Arrival, Leave", BOTH + "void on_event(nw::Context&, const nw::Event&) override {}", "final"),
    ("Arrival, Leave", BOTH + "void undo(const Arrival&) {}",
     "undo() must be declared as void undo(nw::Context&, const THE_EVENT&)"),
    ("Arrival, Leave", BOTH + "void commit(nw::Context&, const Leave&) {}",
     "commit() must be declared as void commit(const THE_EVENT&)"),
    ("", "", "an event list must name at least one event"),
    ("Arrival, Leave", BOTH + START + " { send(c, c.self(), 1, Zero{}); send(c, c.self(), 1, Arrival{1}); }", None),
    ("Arrival, Leave", BOTH + "void undo(nw::Context&, const Leave&) {} void undo(nw::Context&, const Arrival&) {}"
     " void commit(const Leave&) {}", None),
    ("Arrival, Leave", BOTH + START + " { nw::EventList<Plain, Union, Built>::infos(); }", None),
    ("Arrival, Leave", BOTH + "int undo = 0; double commit = 0;", None),
]
TEXT = """#include <array>
#include <optional>
#include <string>
#include <numawarp/model.hpp>
struct Arrival { int customer; };
struct Leave {};
struct Other {};
struct Zero { static constexpr nw::EventType type = 0; };
struct Pointing { double time; const char* name; };
struct Deep { struct { int number; struct { Leave* leave; } in; } inside; };
struct Optional { std::optional<int> size; };
struct Plain { nw::LpId lp; double at[2]; std::array<char, 3> code; bool is_last; enum class Color { red } color; };
struct Union { static constexpr bool has_no_pointers = true; union { int number; float share; } value; };
struct Built { Built() { number = 3; } int number; };
struct Text { std::string text; };
struct Large { char bytes[65536]; };
struct Lp final : nw::Handles<Lp %s> {
    explicit Lp(nw::LpId) {}
    %s
};
auto factory = nw::process<Lp>();
"""

compiler, *folders = sys.argv[1:]
includes = [f"-I{folder}" for folder in folders]
failures = 0
for events, code, words in CASES:
    done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", *includes, "-xc++", "-"],
                          input=TEXT % (f", {events}" if events else "", code), capture_output=True, text=True)
    holds = done.returncode == 0 if words is None else done.returncode != 0 and words in done.stderr
    failures += not holds
    print(("ok      " if holds else "FAILED  ") + events + ": " + code + ("" if holds else "\n" + done.stderr))
sys.exit(1 if failures else 0)
