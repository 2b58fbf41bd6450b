#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks docs/how-to/from-omnetpp.md, from-ross.md and from-rootsim.md. The programs of these pages
are the programs of coming_from/. They compile, all runs of a program have one digest, and the
figures of the runs are those of the pages and of the theory. The program for OMNeT++ is only
compiled, with declarations of OMNeT++'s functions."""

import re
import subprocess
import sys

from document import Document, program
from programs import CHECKOUT, Programs

FOLDER = CHECKOUT / "tests/documents/coming_from"
STATIONS, JOBS, SERVICE, LINK = 64, 128, 1.0, 0.5
# Largest relative difference between one run to time 2000 and the theory.
ERROR_MAX = 0.02

programs = Programs()
pages = {name: Document(CHECKOUT / f"docs/how-to/from-{name}.md") for name in ("omnetpp", "ross", "rootsim")}
sources = {"ours": "ring.cpp", "omnetpp": "ring_omnetpp.cc", "ned": "ring.ned", "ross": "ring_ross.c",
           "rootsim": "ring_rootsim.c"}
texts = {name: (FOLDER / file).read_text() if name == "ned" else program(FOLDER / file)
         for name, file in sources.items()}


def check_programs():
    for name, page in pages.items():
        blocks = [block.text for block in page.blocks if block.language in ("cpp", "text")]
        kinds = [next((whose for whose, text in texts.items() if block in text), "nobody's") for block in blocks]
        wanted = ["omnetpp", "ned", "ours", "ours"] if name == "omnetpp" else [name, "ours"]
        programs.expect(kinds == wanted, f"{page}: programs of {kinds}")
    done = subprocess.run(["g++", "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-I", FOLDER, "-x", "c++",
                           FOLDER / "ring_omnetpp.cc"], capture_output=True, text=True)
    programs.expect(done.returncode == 0 and not done.stderr, f"the program for OMNeT++ compiles {done.stderr}")


def theory():
    """(busy share, jobs) of a station: mean value analysis of a closed network with a pure
    delay."""
    jobs = 0.0
    for number in range(1, JOBS + 1):
        response = SERVICE * (1 + jobs)
        throughput = number / (STATIONS * (response + LINK))
        jobs = throughput * response
    return throughput * SERVICE, jobs


def figures():
    """For each simulator: (busy share, jobs), and the digests of its runs."""
    found, digests = {}, {}
    for name, program in (("ours", "coming_from_ring"), ("ross", "coming_from_ross"),
                          ("rootsim", "coming_from_rootsim")):
        digests[name] = set()
        for options in (["--engine", "sequential"], ["--workers", 2, "--window", "off"],
                        ["--workers", 2, "--rollback", "snapshot", "--check-rollback", 0.1]):
            run = programs.statistics_of(program, *options)
            digests[name].add(run["digest"])
            if name == "ours":
                found[name] = tuple(run["measures"][measure]["mean"] for measure in ("busy", "jobs"))
        if name != "ours":
            said = programs.run(program, "--engine", "sequential").stdout
            rows = [tuple(map(float, row)) for row in re.findall(r"\bbusy (\S+) jobs (\S+)", said)]
            found[name] = tuple(sum(column) / len(rows) for column in zip(*rows))
    return found, digests


check_programs()
found, digests = figures()
found["theory"] = theory()
for name, digest in digests.items():
    programs.expect(len(digest) == 1, f"{name}: digests {digest}")
for name, pair in found.items():
    programs.expect(all(abs(value / right - 1) < ERROR_MAX for value, right in zip(pair, found["theory"])),
                    f"{name}: busy {pair[0]:.4f}, jobs {pair[1]:.4f}")
rows = [f" | {busy:.3f} | {jobs:.3f} |" for busy, jobs in found.values()]
for page in pages.values():
    said = re.findall(r"^\|[^|]*( \| \d\.\d{3} \| \d\.\d{3} \|)$", page.text, re.MULTILINE)
    programs.expect(said == rows, f"{page}: the page has {said}; expected: {rows}")
sys.stdout.flush()
programs.leave()
