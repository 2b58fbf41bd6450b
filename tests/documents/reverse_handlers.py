#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks docs/how-to/reverse-handlers.md. The program of the page is reverse_example.cpp. Runs of
this program with rollbacks have the sequential digest, and the program passes --check-rollback.
--check-rollback reports the mistake that the page describes (reverse_mistake)."""


from document import Document, program
from programs import CHECKOUT, Programs

programs = Programs()
page = CHECKOUT / "docs/how-to/reverse-handlers.md"
example = program(CHECKOUT / "tests/documents/reverse_example.cpp")
models = [block.text for block in Document(page).blocks if block.language == "cpp"]
programs.expect(models == [example], "the program of the page is tests/documents/reverse_example.cpp")
mistake = "free_at -= c.random().exponential(1.0);"
programs.expect(f"`{mistake}`" in page.read_text(), f"the page mentions `{mistake}`")

sequential = programs.statistics_of("reverse_example", "--engine", "sequential")["digest"]
for rollback in ["reverse", "snapshot"]:
    rollbacks = 0
    for _ in range(20):
        run = programs.statistics_of("reverse_example", "--rollback", rollback, "--workers", 4,
                                     "--lps-per-group", 1, "--window", "off")
        rollbacks += run["rollbacks"]
        programs.expect(run["digest"] == sequential, f"{rollback}: the sequential digest")
        if rollbacks:
            break
    programs.expect(rollbacks > 0, f"{rollback}: {rollbacks} rollbacks")

run = programs.statistics_of("reverse_example", "--check-rollback", 1, "--until", 50)
short = programs.statistics_of("reverse_example", "--engine", "sequential", "--until", 50)["digest"]
programs.expect(run["digest"] == short and run["forced_rollbacks"] >= run["committed_events"],
                f"--check-rollback: {run['forced_rollbacks']} forced rollbacks, no mistake found")

done = programs.run("reverse_mistake", "--check-rollback", 1, "--until", 50)
line = done.stderr.strip()
programs.expect(done.returncode == 3 and line.startswith("numawarp: LP ") and "--check-rollback" in line,
                f"the mistake: exit code {done.returncode}: {line}")
programs.leave()
