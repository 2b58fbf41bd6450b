#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The model in README.md compiles against the installed package and has one digest on two engines.
The figures in README.md and docs/performance.md equal those of the results file that README.md
names. CITATION.cff has the version of CMakeLists.txt."""

import re
import subprocess
import sys

from document import Document
from programs import CHECKOUT, Programs

sys.path.insert(0, str(CHECKOUT / "tests/bench"))
import readme_table  # noqa: E402

programs = Programs()
document = Document(CHECKOUT / "README.md")

file, = re.findall(r"results file: \[(.*?)\]", document.text)
for page, text in readme_table.pages(CHECKOUT / file):
    programs.expect(text == page.read_text(),
                    f"{page.name}: its figures equal the output of tests/bench/readme_table.py for {file}")

version, = re.findall(r"^project\(numawarp VERSION (\S+)", (CHECKOUT / "CMakeLists.txt").read_text(), re.MULTILINE)
programs.expect(f"\nversion: {version}\n" in (CHECKOUT / "CITATION.cff").read_text(), f"CITATION.cff has version {version}")

cache = (programs.bin.parent / "CMakeCache.txt").read_text()
if re.search(r"^NUMAWARP_SANITIZE:STRING=.+", cache, re.MULTILINE):
    programs.leave()  # a separate project is not built with the sanitizers of numawarp

model, = [block.text for block in document.blocks if block.language == "cpp"]
project = programs.work / "gossip"
project.mkdir()
(project / "main.cpp").write_text(model)
(project / "CMakeLists.txt").write_text(
    "cmake_minimum_required(VERSION 3.22)\n"
    "project(gossip LANGUAGES CXX)\n"
    "find_package(numawarp REQUIRED)\n"
    "add_executable(gossip main.cpp)\n"
    "target_link_libraries(gossip PRIVATE numawarp::numawarp)\n")
prefix = programs.work / "prefix"
for command in [["cmake", "--install", programs.bin.parent, "--prefix", prefix],
                ["cmake", "-S", project, "-B", project / "build", "-G", "Ninja",
                 "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_PREFIX_PATH={prefix}"],
                ["cmake", "--build", project / "build"]]:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
digests = {programs.statistics_of(project / "build/gossip", "--engine", engine, "--workers", 2)
           ["digest"] for engine in ["sequential", "timewarp"]}
programs.expect(len(digests) == 1, f"the model of README.md: {digests}")
programs.leave()
