#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every shell line of the documents. The lines of a document run in order, in a separate
checkout (checkout.py); a model is interrupted after some seconds. The test fails for a line that is
neither run here nor listed below with the test that runs the line. So a new line cannot be
forgotten.

usage: commands.py FOLDER-OF-PROGRAMS here|guest|hosts

here   lines for this machine
guest  lines for a guest with several NUMA nodes, and lines for a machine that has such nodes
hosts  lines for several hosts"""

import re
import subprocess
import sys

from checkout import Checkout
from document import documents
from programs import CHECKOUT, Programs

# Lines that take too long or need something that this test does not have: (the line, the test that
# covers it).
ELSEWHERE = [
    (r"\./jobs/run paper-numa\b.*", "system_paper_numa"),
    (r"\./jobs/run papers\b.*", "system_papers"),
    (r"\./jobs/run paper-asymsched\b.*", "system_paper_asymsched"),
    (r"\./jobs/run paper-state-saving\b.*", "system_paper_state_saving"),
    (r"\./jobs/run paper-bwap\b.*", "system_paper_bwap"),
    (r"\./jobs/run cost-model\b.*", "system_cost_model"),
    (r"\./jobs/run replicate\b.*", "system_replicate"),
    (r"\./jobs/run meter\b.*", "guest_meter"),
    (r"\./jobs/run timed\b.*", "guest_timed"),
    (r"tests/checks/protocol_model .*", "check_gvt_model"),
    (r"build/bin/test_numa -s", "test_numa"),
    (r"\./jobs/run --hostfile hosts .*", "hosts_lost_host"),
    (r"(\./jobs/run slurm|sbatch|scancel|scontrol|squeue|srun) (?!.*--print).*",
     "hosts_slurm_document"),
]

# Lines that run to their end with less work: (the line, the replaced part, the replacement).
SHORTER = [
    # Searches all paths, but to a smaller depth.
    (r"spin -a -DW=3 .*", "-m1000000", "-m60"),
    (r"sudo tests/hosts/run.py .*phold.*", "build/bin/phold", "build/bin/phold --until 20"),
]

# Measurements. They must only begin without an error.
MEASURES = [r"\./jobs/run bench.*", r"python3 tests/bench/(on_off|sizes|rootsim_overhead)\.py .*"]

# Files that the lines of a document read, and the language of the block in the document that
# contains the file.
FILES = {"docs/models/traffic.md": [("mine.toml", "toml")]}

# Text in backticks is also a line to run, unless a word of it is a placeholder.
TYPED = re.compile(r"(\./|build/bin/|jobs/|tests/|cmake |python3 |mpirun |srun |sbatch ).* .*")
STANDS_FOR = re.compile(r"…|\b(N|FILE|DIR|FOLDER|PID|MODEL|NAME)\b| (--ranks|guest|slurm)$")

# Time after which a line is interrupted. Scripts take a while before their model begins.
SECONDS = {"here": 30, "guest": 100, "hosts": 100}
SECONDS_OF_A_MODEL = 3
SECONDS_OF_A_MEASUREMENT = 10
SECONDS_TO_THE_END = 100


def where(line):
    if re.match(r"\./jobs/run guest |mpirun ", line):
        return "guest"
    if "tests/hosts/run.py" in line:
        return "hosts"
    return "here"


def lines_of(document):
    """(place in the document, line) of all lines that must run."""
    lines = [(f"{document}:{command.line}", command.text) for command in document.commands]
    spans = {span for span in document.spans if TYPED.fullmatch(span) and not STANDS_FOR.search(span)}
    new = sorted(spans - seen)
    seen.update(spans, (line for _, line in lines))
    return lines + [(str(document), span) for span in new]


def shorter(line):
    return next((re.sub(old, new, line, count=1) for pattern, old, new in SHORTER
                 if re.fullmatch(pattern, line)), None)


def prepared(line, checkout):
    """The line in the form in which this test runs it."""
    line = shorter(line) or line
    ours = f"--ro {checkout.folder}/build/ --ro {CHECKOUT}"
    if line.startswith("mpirun "):
        line = f"./jobs/run guest n4 -- {line}"
        ours += " --env OMPI_ALLOW_RUN_AS_ROOT=1 --env OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
    if line.startswith("./jobs/run guest "):
        # The targets of the checkout's links may be in /tmp; a guest has a separate /tmp.
        words = line.split(" ", 3)
        line = " ".join([*words[:3], ours, words[3]])
    line = line.replace("sudo tests/hosts/run.py", f"tests/hosts/run.py --programs {programs.bin}")
    return line


def measures(line):
    return any(re.fullmatch(pattern, line) for pattern in MEASURES)


def seconds_of(line):
    if shorter(line):
        return SECONDS_TO_THE_END
    if measures(line):
        return SECONDS_OF_A_MEASUREMENT
    return SECONDS_OF_A_MODEL if "build/bin/" in line.split(" ")[0] else SECONDS[where(line)]


def elsewhere(line):
    return next((test for pattern, test in ELSEWHERE if re.fullmatch(pattern, line)), None)


def check(document, lines, checkout):
    for name, language in FILES.get(document.name, []):
        checkout.write(name, next(block.text for block in document.blocks
                                  if block.language == language))
    for place, line in lines:
        ran = checkout.run(prepared(line, checkout), seconds_of(line))
        if ran.lacks_package or kind != "here" and ran.code == 77:
            print(f"skipped {place}: {line}: {ran.output.strip().splitlines()[-1:]}", flush=True)
            continue
        well = ran.well and not (ran.interrupted and shorter(line))
        well = well or ran.interrupted and measures(line)
        programs.expect(well, f"{place}: {line}: {ran.seconds:.1f} s"
                        + (f", exit code {ran.code}\n{ran.output[-2000:]}" if not well else ""))
        sys.stdout.flush()


def check_tables(every):
    """Checks that each entry of the tables is needed, and that the named tests exist."""
    listed = subprocess.run(["ctest", "--test-dir", programs.bin.parent, "--show-only"],
                            capture_output=True, text=True).stdout
    tests = set(re.findall(r"^ *Test +#\d+: (\w+)", listed, re.MULTILINE))
    for pattern, test in ELSEWHERE:
        programs.expect(test in tests, f"there is a test {test}")
    for pattern in [entry[0] for entry in ELSEWHERE + SHORTER] + MEASURES:
        programs.expect(any(re.fullmatch(pattern, line) for line in every),
                        f"some document has a line '{pattern}'")


programs = Programs()
kind = sys.argv[2]
seen = set()  # a line in backticks runs only once
pages = [page for page in documents() if page.name != "docs/tutorial.md"]  # tested by tutorial.py
lines = {page: lines_of(page) for page in pages}
if kind == "here":
    check_tables([line for page in pages for _, line in lines[page]])
for number, page in enumerate(pages):
    mine = [(place, line) for place, line in lines[page]
            if not elsewhere(line) and where(line) == kind]
    if mine:
        check(page, mine, Checkout(programs, f"checkout-{number}"))
programs.leave()
