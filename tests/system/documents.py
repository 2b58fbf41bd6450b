#!/usr/bin/env python3
"""The documents are true as far as a machine can tell: relative links and their anchors lead
somewhere, files named in backticks are there, the command lines of README and docs/how-to run (the
programs for a moment of virtual time only), and the model in the README compiles and has one digest
on two engines."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

root = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(root / "tests/support"))
sys.path.insert(0, str(root / "tests/guest"))
import topology  # noqa: E402
from programs import Programs  # noqa: E402

programs = Programs()
documents = sorted([root / "README.md", *root.glob("docs/**/*.md"), *root.glob("*/README.md")])
fence = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def anchors(document):
    """As GitHub makes them from headings."""
    headings = re.findall(r"^#+ (.*)$", fence.sub("", document.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_links(document):
    for target in re.findall(r"\]\(([^)\s]+)\)", fence.sub("", document.read_text())):
        if re.match(r"\w+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (document.parent / path).resolve() if path else document
        found = file.exists() and (not anchor or anchor in anchors(file))
        if not found:
            programs.expect(False, f"{document.relative_to(root)}: link {target}")


def check_named_files(document):
    top = "src|numa|models|mpi|docs|tests|jobs"
    named = re.findall(rf"`(?:\./)?((?:{top})/[\w./-]+)`", fence.sub("", document.read_text()))
    for name in named:
        if not (root / name).exists():
            programs.expect(False, f"{document.relative_to(root)}: no file {name}")


def run_model(program, arguments):
    # An option given twice has its last value.
    done = programs.run(program, *arguments, "--until", 1, "--progress", "off")
    return done.returncode == 0


def usage_of(script):
    done = subprocess.run([root / script, "--help"], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def guest_works(arguments):
    """The topology is a known one, and so is a program of ours that is to run there."""
    topology.parse(arguments[0])
    inner = arguments[arguments.index("--") + 1:]
    return not inner[0].startswith("build/bin/") or command_works(inner)


def measurement_works(name, arguments):
    """Its options are known; to measure is not the business of a test."""
    done = subprocess.run([sys.executable, root / "jobs" / name, "--help"],
                          capture_output=True, text=True)
    known = set(re.findall(r"--[\w-]+", done.stdout))
    return done.returncode == 0 and all(word in known for word in arguments
                                        if word.startswith("--"))


def ranks_work(arguments):
    """A line for mpirun comes of it (4: there is none here), and the model takes the rest."""
    done = subprocess.run([root / "jobs/run", *arguments, "--print"], capture_output=True, text=True)
    at = arguments.index("--ranks")
    model, *options = [word for word in arguments[:at] + arguments[at + 2:] if word != "--print"]
    return done.returncode in (0, 4) and run_model(model, options)


def report_works(arguments):
    """Of files that runs have written, under the names that the document gives them."""
    for name in filter(re.compile(r"[\w-]+\.json").fullmatch, arguments):
        programs.statistics_of("phold", "--until", 5)
        (programs.work / "stats.json").rename(programs.work / name)
    done = subprocess.run([root / "jobs/report", *arguments], cwd=programs.work, capture_output=True)
    return done.returncode == 0


def command_works(words):
    command, *arguments = words
    if command.startswith("build/bin/"):
        return run_model(command.removeprefix("build/bin/"), arguments)
    if command == "./jobs/run":
        if arguments[0] in ("bench", "list"):
            return re.search(rf"^  {arguments[0]} ", usage_of(command), re.MULTILINE) is not None
        if arguments[0] == "guest":
            return guest_works(arguments[1:])
        if arguments[0] in ("paper-numa", "cost-model"):
            return measurement_works(arguments[0].replace("-", "_"), arguments[1:])
        if "--ranks" in arguments:
            return ranks_work(arguments)
        if arguments[0] == "report":
            return report_works(arguments[1:])
        return run_model(arguments[0], arguments[1:])
    if command == "./tests/run":
        return all(word in usage_of(command) for word in ["ctest", *arguments])
    return False


def check_commands(document):
    text = fence.sub("", document.read_text())
    for line in re.findall(r"^ {4,}((?:\./|build/|\.ci/|cmake ).*)$", text, re.MULTILINE):
        words = shlex.split(line, comments=True)
        programs.expect(command_works(words), f"{document.relative_to(root)}: {' '.join(words)}")
    presets = json.loads((root / "CMakePresets.json").read_text())["workflowPresets"]
    for name in re.findall(r"--preset (\w+)", text):
        programs.expect(name in {preset["name"] for preset in presets},
                        f"{document.relative_to(root)}: preset {name}")


def check_readme_model():
    build = programs.bin.parent
    cache = (build / "CMakeCache.txt").read_text()
    if re.search(r"^NUMAWARP_SANITIZE:STRING=.+", cache, re.MULTILINE):
        return  # a project of its own is not built with our sanitizers
    model, = re.findall(r"^```cpp\n(.*?)^```$", (root / "README.md").read_text(),
                        re.MULTILINE | re.DOTALL)
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
    for command in [["cmake", "--install", build, "--prefix", prefix],
                    ["cmake", "-S", project, "-B", project / "build", "-DCMAKE_BUILD_TYPE=Release",
                     f"-DCMAKE_PREFIX_PATH={prefix}"],
                    ["cmake", "--build", project / "build"]]:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    program = project / "build/gossip"
    digests = {programs.statistics_of(program, "--engine", engine, "--workers", 2)["digest"]
               for engine in ["sequential", "timewarp"]}
    programs.expect(len(digests) == 1, f"the README's model: {digests}")


for document in documents:
    check_links(document)
    check_named_files(document)
for document in [root / "README.md", *sorted(root.glob("docs/how-to/*.md"))]:
    check_commands(document)
check_readme_model()
programs.leave()
