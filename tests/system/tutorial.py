#!/usr/bin/env python3
"""docs/tutorial.md is true: its project, with each of its programs in turn, builds against an
installed numawarp and gives one digest on two engines; the last program is models/queues."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

root = Path(__file__).resolve().parent.parent.parent
build = Path(sys.argv[1]).resolve().parent
text = (root / "docs/tutorial.md").read_text()
blocks = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
project = [body for language, body in blocks if language == "cmake"][0]
programs = [body for language, body in blocks if language == "cpp"]

if programs[-1] != (root / "models/queues/main.cpp").read_text():
    sys.exit("the last program of docs/tutorial.md is not models/queues/main.cpp")

cache = (build / "CMakeCache.txt").read_text()
if re.search(r"^NUMAWARP_SANITIZE:STRING=.+", cache, re.MULTILINE):
    print("skipped: a project of its own is not built with our sanitizers")
    sys.exit(77)


def call(*command, cwd=None):
    subprocess.run([*map(str, command)], check=True, cwd=cwd, stdout=subprocess.DEVNULL)


with tempfile.TemporaryDirectory(prefix="numawarp-test-") as folder:
    work = Path(folder)
    call("cmake", "--install", build, "--prefix", work / "numawarp")
    for number, program in enumerate(programs, 1):
        (work / "CMakeLists.txt").write_text(project)
        (work / "main.cpp").write_text(program)
        call("cmake", "-B", "build", "-DCMAKE_BUILD_TYPE=Release",
             f"-DCMAKE_PREFIX_PATH={work}/numawarp", cwd=work)
        call("cmake", "--build", "build", cwd=work)
        digests = []
        for options in [["--engine", "sequential"], ["--workers", "2"]]:
            call("build/queues", *options, "--stats", "stats.json", cwd=work)
            digests.append(json.loads((work / "stats.json").read_text())["digest"])
        print(f"program {number}: {digests}")
        if digests[0] != digests[1]:
            sys.exit(f"program {number} of the tutorial: the digests differ")
