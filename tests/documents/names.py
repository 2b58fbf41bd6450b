#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that names in the documents exist: each --option is in the output of a --help, each
counter is in the statistics, and each environment variable, type, function and member is in the
sources. Each --option in a message of the simulator is in the output of a --help, too. A model's
page contains all its options. The page about placement describes all values of --place. Names of
other projects are listed in NOT_OURS."""

import json
import re
import subprocess
import sys
from pathlib import Path

from document import documents
from programs import CHECKOUT, Programs

NOT_OURS = {
    "of MPI": ["--allow-run-as-root", "--bind-to", "--map-by", "--mca",
               "--report-bindings", "btl_sm_eager_limit", "mpi_yield_when_idle"],
    "of SLURM": ["--account", "--batch", "--job", "--name", "--partition", "BeginTime", "scancel"],
    "of containers": ["--cap-add", "--shm-size"],
    "of CMake": ["--build", "--install", "--prefix", "--preset", "--workflow"],
    "of ROOT-Sim": ["KEEP_ALIVE", "LP_knapsack", "initialize_worker_thread", "install_binding", "rebind_LPs",
                    "--cktrm-mode", "--gvt", "--no-core-binding", "--output-dir", "--sequential", "--serial",
                    "--simulation-time", "--wt"],
    "of numactl": ["--hardware", "--interleave"],
    "of OMNeT++": ["getParentModule", "ini", "recordScalar", "repeat"],
    "of SimPy and Python": ["event", "FilterStore", "PriorityResource", "except", "yield"],
    "of commands of Linux": ["chrt", "kill", "taskset"],
    "of libraries": ["curl_global_init", "signgam"],
    "of C++ and Linux": ["bad_alloc", "libm", "max_map_count", "stdout",
                         "CAP_SYS_NICE"],
}
FOREIGN = {name for names in NOT_OURS.values() for name in names}

# Pages for users. A word that looks like the name of a counter must be the name of a counter, or a
# name in the public headers.
FOR_USERS = re.compile(r"README\.md|docs/how-to/.*|docs/tutorial\.md")

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")
NAME = re.compile(r"[A-Za-z_]\w*(?:(?:::|\.)[A-Za-z_]\w*)*")
FILE = re.compile(r".*\.(csv|svg|html|json|md|toml|txt|cpp|hpp|py|h5)")


def said_by(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=CHECKOUT)
    return done.stdout + done.stderr


def words_in(*places):
    words = set()
    for place in map(CHECKOUT.joinpath, places):
        for file in [place] if place.is_file() else place.rglob("*"):
            if file.is_file() and file.suffix not in (".md", ".pyc") and file != Path(__file__).resolve():
                words.update(re.findall(r"\w+", file.read_text(errors="replace")))
    return words


def names_in(value):
    """Every key of JSON, at any depth."""
    if isinstance(value, dict):
        return set(value).union(*map(names_in, value.values()))
    if isinstance(value, list):
        return set().union(*map(names_in, value))
    return set()


programs = Programs()
models = sorted(path.parent.name for path in (CHECKOUT / "models").glob("*/CMakeLists.txt"))
helps = [said_by(programs.bin / model, "--help") for model in models]
helps += [said_by(programs.bin / model, "--help") for model in ("rootsim_post", "rootsim_queue")]
helps += [said_by(sys.executable, CHECKOUT / script, "--help") for script in
          ("jobs/bench", "jobs/replicate", "jobs/report", "tests/guest/run.py", "tests/hosts/run.py",
           *(f"jobs/research/{command}" for command in
             ("meter", "timed", "paper_numa", "paper_state_saving", "paper_bwap", "cost_model")))]
helps += [said_by(CHECKOUT / script, "--help") for script in ("jobs/run", "tests/run")]
helps.append(said_by(CHECKOUT / "jobs/run", "slurm", "--help"))
# Of SLURM's options, only those that the job scripts use are allowed.
helps += [script.read_text() for script in (CHECKOUT / "jobs/slurm").iterdir()]
options = set(OPTION.findall("\n".join(helps)))

spoken = set(re.findall(r"\w+", "\n".join(helps)
                        + said_by(programs.bin / "phold", "--until", 20, "--verbose")))
spoken |= words_in("src/app/report/trace_file.cpp", "src/app/modelcheck/model_check.cpp")
programs.statistics_of("phold", "--until", 20, "--workers", 2)
statistics = names_in(json.loads((programs.work / "stats.json").read_text()))
for_users = statistics | words_in("src/include")
# Pages about other simulators also contain the names of these simulators.
of_others = words_in("src/compat/ross/include", "src/compat/rootsim/include", "src/compat/rootsim/classic_include",
                     "tests/documents/coming_from", "src/compat/ross/program.cpp")
sources = words_in("src", "numa", "models", "mpi", "jobs", "tests")
# The functions of libc.
libc = words_in("src/memory/interpose/libc_functions.txt")
sources |= {file.stem for folder in ("src", "numa", "mpi") for file in (CHECKOUT / folder).rglob("*.*pp")}
sources |= set(re.findall(r"\w+", said_by("ctest", "--test-dir", programs.bin.parent, "--show-only")))
met = set()


def check(page):
    of_page = for_users | (of_others if page.name.startswith("docs/how-to/from-") else set())
    texts = [*page.spans, *(command.text for command in page.commands)]
    for option in sorted({option for text in texts for option in OPTION.findall(text)}):
        met.add(option)
        if option not in options | FOREIGN:
            programs.expect(False, f"{page}: no {option} in any --help")
    for span in sorted(set(page.spans)):
        name = span.removesuffix("()")
        if page.name.startswith("docs/how-to/") and re.fullmatch("[a-z]{2,}", span):
            met.add(name)
            if name not in spoken | of_page | libc | FOREIGN:
                programs.expect(False, f"{page}: {name} is not in --help, reports, traces or statistics")
            continue
        if not NAME.fullmatch(name) or not re.search(r"_|::|\.|[a-z][A-Z]", name) \
                or FILE.fullmatch(name) or name.startswith("std::"):
            continue
        counter = FOR_USERS.fullmatch(page.name) and re.fullmatch("[a-z_.]+", name)
        parts = re.split(r"::|\.", name)
        met.update(parts)
        unknown = set(parts) - (of_page if counter else sources | statistics) - libc - FOREIGN
        if unknown:
            programs.expect(False, f"{page}: no {name}" + " in the statistics" * bool(counter))


for page in documents():
    check(page)
# Messages of the simulator. The layers for other simulators also name options of these simulators.
for folder in ("src", "numa", "mpi"):
    for file in (CHECKOUT / folder).rglob("*.?pp"):
        if "compat" not in file.parts:
            literals = " ".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', re.sub(r"//.*", "", file.read_text())))
            unknown = set(OPTION.findall(literals)) - options
            if unknown:
                programs.expect(False, f"{file.relative_to(CHECKOUT)}: a message names {sorted(unknown)}, which no --help contains")
common = set.intersection(*(set(OPTION.findall(text)) for text in helps[:len(models)]))
for model, text in zip(models, helps):
    page = CHECKOUT / f"docs/models/{model}.md"
    missing = set(OPTION.findall(text)) - common - set(OPTION.findall(page.read_text()))
    programs.expect(not missing, f"{page.name} has all options of the model {sorted(missing)}")
policies = re.search(r"--place (\S+\|\S+)", helps[models.index("phold")])[1].split("|")
described = re.findall(r"^\| `(\w+)` \|", (CHECKOUT / "docs/how-to/placement.md").read_text(), re.MULTILINE)
programs.expect(described == policies, f"docs/how-to/placement.md describes the values of --place: {described}")
for name in sorted(FOREIGN - met):
    programs.expect(False, f"NOT_OURS: {name} is not in any document")
programs.expect(len(options) > 50 and len(statistics) > 80,
                f"{len(options)} options, {len(statistics)} names in the statistics")
programs.leave()
