#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `./jobs/run paper-state-saving --quick`, end to end on the real program. Cachegrind and a
stand-in for hardware counters provide the counts. Both papers use the same code to resume or refuse
a series, and system_paper_numa tests this code. This test does not check the plots."""

import json
import shutil
import subprocess
import sys

from programs import CHECKOUT, python_with, rows_of
from refusals import Refusals

SCRIPT = CHECKOUT / "jobs/research/paper_state_saving"
programs = Refusals()
python = python_with("matplotlib")
if not shutil.which("valgrind"):
    print("skipped: no valgrind here")
    sys.exit(77)


def series_of(*arguments, pcs=programs.bin):
    return subprocess.run([python, SCRIPT, "--programs", pcs,
                           *map(str, arguments)], capture_output=True, text=True, cwd=programs.work)


def expect_figures(folder, numbers):
    page = (folder / "summary.md").read_text()
    for number in numbers:
        programs.expect(f"figure-{number}.svg" in page
                        and (folder / f"figure-{number}.png").stat().st_size > 10_000,
                        f"figure {number} is on the page, and a picture")


# The whole series, counted by cachegrind.
series = programs.work / "series"
done = series_of("--quick", "--counts", "cachegrind", "--workers", "1,2", "--output", series)
programs.expect(done.returncode == 0, f"--quick: exit code {done.returncode} {done.stderr[-500:]}")
rows = rows_of(series / "runs.csv")
summary = json.loads((series / "summary.json").read_text())
names = {row["variant"] for row in rows if row["workload"] == "rates"}
programs.expect({"sequential", "reverse, 2 workers", "snapshot 1, 1 worker",
                 "copy 1, 2 workers, huge pages off"} <= names, f"{len(names)} kinds of runs for rates")
for workload, digest in summary["digests"].items():
    programs.expect({row["digest"] for row in rows if row["workload"] == workload} == {digest},
                    f"{workload}: one digest")
point = summary["rates"]["reverse"]["2"]
for name in ("rate", "speed_up"):
    value = point[name]
    programs.expect(0 < value["min"] <= value["median"] <= value["max"] and value["runs"] == 2,
                    f"a {name} with its spread: {value}")
expect_figures(series, range(2, 10))
programs.expect("this-machine" in (series / "figure-6.svg").read_text(), "the figure names the machine of the caches")

# Properties that do not depend on the machine: saving states takes instructions, stores and memory.
counts = summary["counts"]["this-machine"]
ours = {name: {column: value["median"] for column, value in points["1"].items()}
        for name, points in counts.items()}
for column in ("instructions", "stores", "loads", "tlb_misses"):
    few, many = ours["sequential"][column], ours["snapshot 1"][column]
    programs.expect(0 <= few < many, f"{column} per event: sequential {few:.4g}, snapshot 1 {many:.4g}")
small, huge = (ours[name]["tlb_misses"] for name in ("snapshot 1", "snapshot 1, huge pages"))
programs.expect(huge < small, f"TLB misses per event: {small:.4g}, with huge pages {huge:.4g}")
events = {row["counted_events"] for row in rows if row["workload"].startswith("counts")}
programs.expect(len(events) == 1 and int(events.pop()) > 100, "all runs have the same number of events")
missed = ours["snapshot 1"]
programs.expect(missed["l2_misses"] <= missed["l1_misses"] < missed["loads"] + missed["stores"],
                f"misses per event: {missed['l1_misses']:.4g}, second level {missed['l2_misses']:.4g}")

# The series is complete: no run is repeated.
done = series_of("--resume", series)
programs.expect(done.returncode == 0 and rows_of(series / "runs.csv") == rows, "no run is repeated")

# With hardware counters, the runs that measure rates also provide the counts.
hardware = programs.stand_in(
    "hardware", "pcs", "if '--hardware-counters' in words:\n"
    "    stats['hardware'] = {'instructions': 700 * stats['committed_events'], 'loads': None}")
series = programs.work / "counted"
done = series_of("--quick", "--runs", 1, "--output", series, pcs=hardware)
programs.expect(done.returncode == 0, f"hardware: exit code {done.returncode} {done.stderr[-500:]}")
summary = json.loads((series / "summary.json").read_text())
reverse = summary["counts"].get("hardware", {}).get("reverse", {}).get("1", {})
programs.expect(set(reverse) == {"instructions"} and reverse["instructions"]["median"] == 700,
                f"hardware counts per event: {reverse}")
programs.expect(not any(row["workload"].startswith("counts") for row in rows_of(series / "runs.csv")),
                "hardware counters need no cachegrind")
expect_figures(series, [7])

# Refused input.
for fragment, arguments in [("--geometry", ["--geometry", "a:1,2:3,4,5:6,7,8"]),
                            ("--geometry", ["--geometry", "a:1,2,3:3,4,x:6,7,8"]),
                            ("--workers", ["--workers", "0,1"]), ("--workers", ["--workers", "two"]),
                            ("--without-prefetch", ["--without-prefetch", programs.work]),
                            ("--counts", ["--counts", "perf"]),
                            ("--resume", ["--resume", series, "--workers", "1"]),
                            ("--latency-factor", ["--latency-factor", "2"]), ("--claims is allowed", ["--claims"]),
                            ("8 nodes", ["--timed", "n4"]), ("16 CPUs", ["--timed", ",".join(["3:320M"] * 8)]),
                            ("16 CPUs", ["--timed", "--workers", "17"]),
                            ("--counts", ["--timed", "--counts", "hardware"]),
                            ("--without-prefetch", ["--timed", "--without-prefetch", programs.bin])]:
    programs.refused(2, [fragment], python, SCRIPT, "--programs", programs.bin, *arguments)

programs.leave()
