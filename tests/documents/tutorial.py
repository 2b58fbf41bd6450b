#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows docs/tutorial.md from its first line to its last, in a checkout made for it: writes its
files, runs its commands, and compares the results with the text. A block of `text` shows output of
the commands before it. Each program has one digest on two engines; the second-to-last program is
models/queues, and the last one is the same model as processes."""

import csv
import json
import re
import sys

from checkout import Checkout
from document import Document, commands_of, program
from programs import CHECKOUT, Programs

FILES = {"cmake": "CMakeLists.txt", "cpp": "main.cpp"}
SECONDS = 120
# Lines of a report whose figures differ from run to run: only the label is compared.
VARYING = re.compile(r"  (engine|LPs|wall time|speed|efficiency|rollbacks|saved states|GVT|memory|by kind)  ")

programs = Programs()
document = Document(CHECKOUT / "docs/tutorial.md")
models = [block.text for block in document.blocks if block.language == "cpp"]
programs.expect(models[-2] == program(CHECKOUT / "models/queues/main.cpp"),
                "the second-to-last program is models/queues/main.cpp")

cache = (programs.bin.parent / "CMakeCache.txt").read_text()
if re.search(r"^NUMAWARP_SANITIZE:STRING=.+", cache, re.MULTILINE):
    print("skipped: a separate project is not built with the sanitizers of numawarp")
    sys.exit(77)


def digest_in(report):
    found = re.search(r"^ *digest +([0-9a-f]{32})$", report, re.MULTILINE)
    return found and found[1]


def promised(line, output):
    """True if the output of this line matches the text."""
    if line == "build/queues":
        committed = int(re.search(r"^ *events +([\d,]+) committed", output, re.MULTILINE)[1]
                        .replace(",", ""))
        return written[-1] != models[0] or abs(committed / 8000 - 1) < 0.05
    if "--output out" in line:
        busy, jobs = (0.51, 1.04) if "--arrival-rate" in line else (64 / 79, 4)
        with open(checkout.cwd / "out/stations.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        means = [sum(float(row[column]) for row in rows) / len(rows) for column in ("busy", "jobs")]
        return abs(means[0] / busy - 1) < 0.03 and abs(means[1] / jobs - 1) < 0.05
    if "--warm-up" in line:
        measures = json.loads((checkout.cwd / "stats.json").read_text())["measures"]
        return all(abs(measures[name]["mean"] / theory - 1) < 0.03
                   for name, theory in (("busy", 64 / 79), ("jobs", 4), ("response", 4 / (64 / 79))))
    return True


def comparable(line):
    varying = VARYING.match(line)
    return varying[1] if varying else " ".join(line.split())


def shows(text, output):
    """True if each line of the text is in the output, in this order. A line "…" replaces any number
    of lines."""
    lines = iter([comparable(line) for line in output.splitlines()])
    return all(line == "…" or comparable(line) in lines for line in text.splitlines())


def check_engines():
    """The program that was just built has one digest on two engines."""
    digests = []
    for options in ("--engine sequential", "--workers 2"):
        ran = checkout.run(f"build/queues {options} --quiet --stats digest.json", SECONDS)
        digests.append(json.loads((checkout.cwd / "digest.json").read_text())["digest"]
                       if ran.code == 0 else ran.output)
    programs.expect(digests[0] == digests[1], f"program {len(written)}: {digests}")


checkout = Checkout(programs)
written, built, digests, output = [], 0, {}, ""
for block in document.blocks:
    if block.language in FILES:
        checkout.write(FILES[block.language], block.text)
        if block.language == "cpp":
            written.append(block.text)
        continue
    if block.language == "text":
        shown = shows(block.text, output)
        programs.expect(shown, f"{document}:{block.line}: the output that the tutorial shows" + ("" if shown else f"\n{output}"))
        continue
    output = ""
    for command in commands_of(block):
        ran = checkout.run(command.text, SECONDS)
        programs.expect(ran.code == 0 and promised(command.text, ran.output),
                        f"{document}:{command.line}: {command.text}: {ran.seconds:.1f} s"
                        + (f", exit code {ran.code}\n{ran.output[-2000:]}" if ran.code else ""))
        output += ran.output
        digests[command.text] = digest_in(ran.output)
        if command.text == "cmake --build build" and ran.code == 0:
            built += 1
            check_engines()

programs.expect(built == len(models), f"{built} of {len(models)} programs were built")
one, same, other = (digests.get(f"build/queues {options}") for options in
                    ("--engine sequential", "--workers 2", "--workers 2 --seed 2"))
programs.expect(one and one == same != other, f"the digests that the tutorial compares: {one}, {same}, {other}")
programs.leave()
