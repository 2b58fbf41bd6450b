#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts how many faults of faults.py the unit and engine tests detect.

All faults are built into one set of test programs. The environment variable NUMAWARP_MUTANT selects one of them ("mutant
schemata": Untch, Offutt, Harrold, ISSTA 1993). For each fault, the test programs run one after the other until one of
them fails. The first program is the unit test of the fault's room. The others follow, shortest first."""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import time

from faults import FAULTS

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = """#pragma once
#include <cstdlib>
inline const int mutant_number = [] {
    const char* number = std::getenv("NUMAWARP_MUTANT");
    return number == nullptr ? 0 : std::atoi(number);
}();
"""


def check():
    """Returns a line for each fault whose old text does not occur exactly once."""
    texts = {path: (ROOT / path).read_text() for path, _, _ in FAULTS}
    return [f"{path}: {texts[path].count(old)} times: {old}" for path, old, _ in FAULTS if texts[path].count(old) != 1]


def with_fault(text, number, old, new):
    chosen = f"mutant_number == {number}"
    if old.endswith(";"):
        replacement = f"if ({chosen}) {{ {new} }} else {{ {old} }}"
    else:
        replacement = f"({chosen} ? ({new}) : ({old}))"
    return text.replace(old, replacement)


def build(folder):
    """Builds the test programs in `folder`. They contain all faults. Returns the programs."""
    source = folder / "source"
    for name in run("git", "-C", ROOT, "ls-files").splitlines():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, source / name)
    for number, (path, old, new) in enumerate(FAULTS, 1):
        file = source / path
        file.write_text(with_fault(file.read_text(), number, old, new))
    header = folder / "mutant.hpp"
    header.write_text(HEADER)
    run("cmake", "-S", source, "-B", folder / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DNUMAWARP_TESTS=ON",
        f"-DCMAKE_CXX_FLAGS=-include {header}")
    programs = [f"test_{room.name}" for room in (ROOT / "tests" / "unit").iterdir() if any(room.glob("*.cpp"))]
    programs += [f"test_engine_{file.stem.removeprefix('test_')}" for file in (ROOT / "tests" / "engine").glob("*.cpp")]
    run("cmake", "--build", folder / "build", "--target", *programs)
    return [folder / "build" / "bin" / name for name in programs]


def run(*command):
    """Returns the output of the command. If the command fails, prints the end of its output and ends this program."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stdout[-4000:]}\nmutants: the command failed: {' '.join(map(str, command))}")
    return done.stdout


def passes(program, mutant, seconds):
    environment = dict(os.environ, NUMAWARP_MUTANT=str(mutant), NUMAWARP_FIRST_SEED="1",
                       NUMAWARP_EFFORT=os.environ.get("NUMAWARP_EFFORT", "0.25"))
    try:
        return subprocess.run([program], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=seconds, cwd=program.parent).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def measured(programs):
    """Returns pairs of duration in seconds and program, without a fault, shortest first."""
    times = []
    for program in programs:
        begun = time.monotonic()
        if not passes(program, 0, 600):
            sys.exit(f"mutants: {program.name} fails without a fault")
        times.append((time.monotonic() - begun, program))
    return sorted(times)


def killer(number, times):
    room = FAULTS[number - 1][0].split("/")[1]
    for seconds, program in sorted(times, key=lambda pair: (pair[1].name != f"test_{room}", pair[0])):
        if not passes(program, number, 30 + 10 * seconds):
            return program.name
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only check that the faults fit the source files")
    parser.add_argument("--folder", type=pathlib.Path, help="folder for the build; required without --check")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="faults that are tried at the same time")
    parser.add_argument("--only", help="numbers of faults, separated by commas")
    given = parser.parse_args()
    stale = check()
    if stale:
        sys.exit("mutants: faults that do not fit the source files:\n" + "\n".join(stale))
    if given.check:
        return print(f"{len(FAULTS)} faults fit the source files")
    if given.folder is None:
        parser.error("--folder is missing")
    times = measured(build(given.folder.resolve()))
    numbers = [int(n) for n in given.only.split(",")] if given.only else range(1, len(FAULTS) + 1)
    survivors = 0
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for number, name in zip(numbers, pool.map(lambda n: killer(n, times), numbers)):
            path, old, _ = FAULTS[number - 1]
            survivors += name is None
            print(f"{number:3} {name or 'NOT DETECTED':32} {path}: {' '.join(old.split())}", flush=True)
    print(f"{len(numbers) - survivors} of {len(numbers)} faults detected")
    return None


if __name__ == "__main__":
    main()
