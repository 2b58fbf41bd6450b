#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the effect of the engine's tuning constants: runs programs with other values of a
constant, and compares them with its default. The programs are built from a copy of this checkout in
which these constants are read from the environment. So there is one build for all values, and
nothing else differs, in particular not the layout of the code.

usage: constants.py RESULTS.csv [--only NAME...] [--exact] [--repetitions N] [--work FOLDER]
       constants.py --check       checks that every constant of the table is in its file

There are two kinds of figures. `exact` figures are the same in every run, also on a busy machine,
and are measured once. `time` figures are measured in pairs, with the other value and with the
default, in alternating order. The results contain the median, the least and the largest of the
ratios. --exact omits `time` figures.

A row is written as soon as it is measured. Rows that RESULTS.csv contains are not measured again: a
run that was stopped continues where it was. To measure a row again, delete it from the file."""

import argparse
import csv
import itertools
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
COLUMNS = ["constant", "file", "default", "value", "case", "figure", "kind", "with_value", "with_default",
           "ratio", "ratio_least", "ratio_largest", "pairs", "machine", "commit", "date"]


class Case(NamedTuple):
    """`words`: a program and its arguments; {value} is the constant's value in the program that is
    run."""
    name: str
    words: list
    exact: list = []
    time: list = []
    start: list = []  # words before the program, for example `valgrind`


class Constant(NamedTuple):
    name: str
    file: str
    cases: list
    factors: list = [1, 0.25, 4, 0.5, 2]  # values / default; 1 shows the noise


def stepped(name, words, until):
    """A case of eight workers on eight cores, unless `words` contains other numbers. Any machine
    can run it."""
    return Case(f"stepped, {name}", ["constants_bench", "stepped", f"until={until}", *words.split()],
                exact=["virtual_ns_an_event", "executed_by_committed", "round_us", "uncommitted_peak"])


def phold(name, words):
    return Case(f"phold, {name}", ["phold", "--quiet", "--rebind", "off", *words.split()],
                time=["cpu_ns_an_event", "wall_ns_an_event"])


STEPPED = [
    stepped("1,024 x 4", "", 400),
    stepped("1,024 x 4, a foreign process on one of 8 cores", "foreign=1 slice_us=4000", 400),
    stepped("64 x 1, half to others, 2 workers", "workers=2 lps=64 events=1 remote=0.5", 4000),
    stepped("1,024 x 4, no lookahead, all to others", "lookahead=0 remote=1", 200)]
ONE = phold("1,024 x 16, 1 worker", "--workers 1 --events-per-lp 16 --state 16 --until 100")
TWO = phold("1,024 x 16, 2 workers", "--workers 2 --events-per-lp 16 --state 16 --until 200")
MANY = phold("65,536 x 1, 2 workers", "--workers 2 --lps 65536 --state 16 --until 50")

CONSTANTS = [
    Constant("batch_events", "src/engine/timewarp/worker/executor.cpp", [*STEPPED, ONE, TWO]),
    Constant("lps_per_turn", "src/engine/timewarp/worker/committer.cpp",
             [stepped("65,536 x 1", "lps=65536 events=1", 20), STEPPED[1], MANY]),
    Constant("judged_events", "src/gvt/window_control.cpp", STEPPED),
    Constant("undo_bytes_max", "src/lp/rollback_methods.cpp", factors=[1, 1/16, 4, 16], cases=[
        phold(f"{bytes} B of state, {workers} worker{'s' * (workers > 1)}",
              f"--workers {workers} --events-per-lp 4 --state {bytes} --remote 0.5 --until 200")
        for bytes in (64, 256, 1024) for workers in (1, 2)]),
    Constant("rows_worth_writing", "src/results/output/output_writer.cpp", factors=[1, 1/16, 16, 0.25, 4], cases=[
        Case(f"{rows:,} rows a GVT round", ["constants_bench", "rows", f"a_round={rows}"],
             exact=["instructions"], start=["valgrind"]) for rows in (16, 1024)] + [
        Case(f"{rows:,} rows a GVT round, by the clock", ["constants_bench", "rows", f"a_round={rows}"],
             time=["row_ns"]) for rows in (16, 1024)]),
    Constant("free_resident_max", "src/memory/heap/large_blocks.cpp", cases=[
        Case(f"buffer of {kib} KiB", ["constants_bench", "scratch", f"bytes={kib << 10}"],
             exact=["faults_a_use"], time=["use_ns"]) for kib in (128, 768, 3072)]),
    Constant("slack_min", "src/memory/region/segments.cpp", cases=[
        Case(f"group of {mib} MiB", ["constants_bench", "growth", f"bytes={mib << 20}"],
             exact=["calls", "opened_at_first", "opened_by_used"]) for mib in (1, 64)]),
    Constant("slack_max", "src/memory/region/segments.cpp", cases=[
        Case(f"group of {mib} MiB", ["constants_bench", "growth", f"bytes={mib << 20}"],
             exact=["calls", "opened_by_used"]) for mib in (512, 4096)]),
    Constant("calm_eras_wanted", "src/event/slot_buffer.cpp", [
        Case("a burst just when the buffer has gone home",
             ["constants_bench", "mail", "period={value}+1", "eras=40000"],
             exact=["faults_an_era"], time=["era_ns"])]),
    Constant("receives_posted", "mpi/mpi_transport.cpp", [
        Case("phold, 1,024 x 16 on 2 ranks",
             ["phold", "--quiet", "--engine", "timewarp", "--workers", "1", "--events-per-lp", "16", "--until", "100"],
             time=["wall_ns_an_event"], start=[sys.executable, ROOT / "jobs/lib/launch.py", "2"])]),
]
# Costs of single steps, from which other constants follow. Measured with the defaults only.
STEPS = Case("single steps", ["constants_bench", "unit"],
             time=["pause_ns", "yield_ns", "calm_mail_visit_ns", "mail_trim_ns", "page_fault_and_discard_ns"])


def definition(constant, text):
    """The match of `constexpr TYPE NAME = VALUE;`: groups 1 and 2 are its type and its value."""
    found = list(re.finditer(rf"constexpr ([\w:]+) {constant.name} = ([^;]+);", text))
    if len(found) != 1:
        sys.exit(f"{constant.file}: {len(found)} definitions of {constant.name}; allowed: 1")
    return found[0]


def default_of(constant):
    value = re.sub(r"std::\w+\{(\d+)\}", r"\1", definition(constant, (ROOT / constant.file).read_text())[2])
    if not re.fullmatch(r"[\d.<* ]+", value):
        sys.exit(f"{constant.file}: {constant.name} is not a number: {value}")
    return float(eval(value))


def values_of(constant):
    return [default_of(constant) * factor for factor in constant.factors]


def variable_of(constant):
    return f"NUMAWARP_BENCH_{constant.name.upper()}"


def from_environment(constant, text):
    """The text of a file, in which the definition of the constant reads its value from the
    environment."""
    found = definition(constant, text)
    reader = f"{constant.name}_of_environment"
    return f"""#include <cstdlib>
namespace {{
double {reader}(double otherwise) {{
    const char* const word = std::getenv("{variable_of(constant)}");
    return word != nullptr ? std::strtod(word, nullptr) : otherwise;
}}
}}
{text[:found.start()]}const {found[1]} {constant.name} =
    static_cast<{found[1]}>({reader}(static_cast<double>({found[2]})));{text[found.end():]}"""


class Tree:
    """A copy of the checkout, and the programs that are built from it."""

    def __init__(self, folder, definitions):
        self.with_defaults = {}  # exact figures of the defaults, by the words of the case
        self.source, self.build = folder / "source", folder / "source/build"
        listed = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT)
        for name in filter(None, listed.decode().split("\0")):
            if (ROOT / name).is_file():
                self.copy(name)
        words = ["cmake", "-S", self.source, "-B", self.build, "-DCMAKE_BUILD_TYPE=Release",
                 "-DNUMAWARP_TESTS=ON", *(f"-D{definition}" for definition in definitions)]
        if shutil.which("ninja"):
            words += ["-G", "Ninja"]
        if shutil.which("ccache"):
            words += ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
        self.call(words)
        self.call(["cmake", "--build", self.build, "-j", str(len(os.sched_getaffinity(0))),
                   "--target", "constants_bench", "phold"])

    def copy(self, name):
        content = (ROOT / name).read_bytes()
        for constant in CONSTANTS:
            if constant.file == name:
                content = from_environment(constant, content.decode()).encode()
        target = self.source / name
        if target.exists() and target.read_bytes() == content:
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        shutil.copymode(ROOT / name, target)

    def call(self, words):
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, words))}:\n{done.stdout[-3000:]}")


def run(tree, case, constant=None, value=None):
    """The figures of one run. Without `value`, the constant has its default."""
    environment = dict(os.environ)
    if value is not None:
        environment[variable_of(constant)] = repr(value)
    elif constant:
        value = default_of(constant)
    arguments = [word.replace("{value}+1", str(int(value) + 1) if constant else "") for word in case.words[1:]]
    program = tree.build / "bin" / case.words[0]
    start = list(case.start)
    with tempfile.TemporaryDirectory() as folder:
        stats, counted = Path(folder) / "stats.json", Path(folder) / "callgrind.out"
        if start == ["valgrind"]:
            start += ["--tool=callgrind", f"--callgrind-out-file={counted}"]
        if program.name == "phold":
            arguments += ["--stats", stats]
        done = subprocess.run([*start, program, *arguments], capture_output=True, text=True, timeout=1800,
                              env=environment)
        if done.returncode != 0:
            sys.exit(f"{case.name}: exit code {done.returncode}\n{done.stderr[-2000:]}")
        if counted.exists():
            return {"instructions": int(re.search(r"(?:summary|totals): (\d+)", counted.read_text())[1])}
        if not stats.exists():
            return json.loads(done.stdout)
        found = json.loads(stats.read_text())
    events = found["committed_events"]
    return {"digest": found["digest"], "wall_ns_an_event": 1e9 * found["wall_seconds"] / events,
            "cpu_ns_an_event": 1e9 * sum(w["busy_seconds"] for w in found["workers_detail"]) / events}


def same_result(case, one, other):
    if one.get("digest") != other.get("digest"):
        sys.exit(f"{case.name}: the digests differ")


def machine():
    names = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} CPUs"


def commit():
    def git(*words):
        return subprocess.check_output(["git", *words], cwd=ROOT, text=True).strip()
    return git("rev-parse", "--short=12", "HEAD") + ("+" if git("status", "--porcelain", "src", "numa", "mpi")
                                                     else "")


class Results:
    def __init__(self, path):
        self.path = path
        self.facts = {"machine": machine(), "commit": commit(), "date": time.strftime("%Y-%m-%d")}
        self.known = set()
        if path.exists():
            with path.open(newline="") as file:
                self.known = {self.key(row) for row in csv.DictReader(file)}
        else:
            with path.open("w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerow(COLUMNS)

    @staticmethod
    def key(row):
        return tuple(row[column] for column in ("constant", "value", "case", "figure"))

    def lacks(self, constant, value, case, figures):
        return any((constant, value, case.name, figure) not in self.known for figure in figures)

    def add(self, **row):
        row.update(self.facts)
        for column, cell in row.items():
            if isinstance(cell, float):
                row[column] = f"{cell:.4g}"
        if self.key(row) in self.known:
            return
        self.known.add(self.key(row))
        with self.path.open("a", newline="") as file:
            csv.DictWriter(file, COLUMNS, lineterminator="\n").writerow(row)
        print(f"{row['constant']:20} {row['value']:>6}  {row['case']}: {row['figure']} {row['with_value']}"
              f" (default {row['with_default']}, ratio {row['ratio']})", flush=True)


def ratio_of(value, default):
    return value / default if default else (1.0 if value == default else float("inf"))


def measure_exact(results, tree, constant, value, case):
    if not case.exact or not results.lacks(constant.name, f"{value:g}", case, case.exact):
        return
    known = (*case.words, default_of(constant) if "{value}" in "".join(case.words) else "")
    if known not in tree.with_defaults:
        tree.with_defaults[known] = run(tree, case, constant)
    pair = [run(tree, case, constant, value), tree.with_defaults[known]]
    same_result(case, *pair)
    for figure in case.exact:
        found = [float(figures[figure]) for figures in pair]
        results.add(constant=constant.name, file=constant.file, default=f"{default_of(constant):g}", value=f"{value:g}", case=case.name,
                    figure=figure, kind="exact", with_value=found[0], with_default=found[1],
                    ratio=ratio_of(*found), ratio_least="", ratio_largest="", pairs=1)


def measure_time(results, tree, constant, value, case, repetitions):
    if not case.time or not results.lacks(constant.name, f"{value:g}", case, case.time):
        return
    sides = [value, None]
    pairs = []
    for i in range(repetitions):
        order = sides if i % 2 == 0 else sides[::-1]
        pair = [run(tree, case, constant, its) for its in order]
        pairs.append(pair if i % 2 == 0 else pair[::-1])
        same_result(case, *pairs[-1])
    for figure in case.time:
        ratios = [ratio_of(mine[figure], theirs[figure]) for mine, theirs in pairs]
        results.add(constant=constant.name, file=constant.file, default=f"{default_of(constant):g}", value=f"{value:g}", case=case.name,
                    figure=figure, kind="time",
                    with_value=statistics.median(mine[figure] for mine, _ in pairs),
                    with_default=statistics.median(theirs[figure] for _, theirs in pairs),
                    ratio=statistics.median(ratios), ratio_least=min(ratios), ratio_largest=max(ratios),
                    pairs=repetitions)


def measure_steps(results, tree, repetitions):
    if not results.lacks("", "", STEPS, STEPS.time):
        return
    runs = [run(tree, STEPS) for _ in range(repetitions)]
    for figure in STEPS.time:
        found = [figures[figure] for figures in runs]
        results.add(constant="", file="", default="", value="", case=STEPS.name, figure=figure, kind="time",
                    with_value="", with_default=statistics.median(found), ratio="",
                    ratio_least=min(found) / statistics.median(found),
                    ratio_largest=max(found) / statistics.median(found), pairs=repetitions)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="?")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME",
                        choices=[constant.name for constant in CONSTANTS] + ["steps"])
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--repetitions", type=int, default=7, metavar="N")
    parser.add_argument("--work", type=Path, metavar="FOLDER", 
                        help="folder for the copy and the builds, which is kept; default: a temporary folder")
    parser.add_argument("--define", nargs="+", default=[], metavar="NAME=VALUE", help="for CMake")
    given = parser.parse_args()
    for constant in CONSTANTS:
        default_of(constant)
    if given.check:
        return
    if not given.results:
        parser.error("the argument for the results is missing")
    results = Results(given.results.resolve())
    with tempfile.TemporaryDirectory(prefix="numawarp-constants-") as folder:
        if given.work:
            folder = given.work.resolve()
        tree = Tree(Path(folder), given.define)
        if not given.exact and (not given.only or "steps" in given.only):
            measure_steps(results, tree, given.repetitions)
        wanted = [constant for constant in CONSTANTS if not given.only or constant.name in given.only]
        # Measures the first value of each constant, then the second, and so on, so that the
        # extremes are known early.
        for values in itertools.zip_longest(*map(values_of, wanted)):
            for constant, value in zip(wanted, values):
                for case in constant.cases if value is not None else []:
                    measure_exact(results, tree, constant, value, case)
                    if not given.exact:
                        measure_time(results, tree, constant, value, case, given.repetitions)


if __name__ == "__main__":
    main()
