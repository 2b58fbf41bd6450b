#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests jobs/replicate. Intervals equal intervals that are computed by hand. Existing runs are kept
and not repeated. Variants use common random numbers. Several calls can execute shares of the runs.
An error is reported by one line."""

import csv
import math
import signal
import statistics
import subprocess
import time
from pathlib import Path

from processes import PATIENCE_SECONDS, is_computing
from programs import CHECKOUT, Programs, python_with

# Student's t at 0.975, for 3 and 4 runs.
STUDENT = {3: 4.302652729911275, 4: 3.182446305284263}
python = python_with("matplotlib, scipy", "python3-matplotlib and python3-scipy")
programs = Programs()
MODEL = ["bank", "--banks", 5, "--until", 300, "--vary", "service-mean=12,6"]


def replicate(folder, *options, model=MODEL):
    words = [python, CHECKOUT / "jobs/replicate", "--programs", programs.bin, "--output", folder, *model, *options]
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)


def rows(folder, name):
    with open(folder / f"{name}.csv") as file:
        return list(csv.DictReader(file))


folder = programs.work / "series"
done = replicate(folder, "--runs", 3)
programs.expect(done.returncode == 0, f"3 runs {done.stderr.strip()[-200:]}")
kept = {file: file.stat().st_mtime_ns for file in (folder / "runs").iterdir()}
programs.expect(len(kept) == 6, f"{len(kept)} runs are kept")

values = {}
for row in rows(folder, "runs"):
    values.setdefault((row["variant"], row["measure"], row["figure"]), []).append(float(row["value"]))
ours = programs.statistics_of("bank", "--banks", 5, "--until", 300, "--service-mean", 6, "--seed", 2)
programs.expect(values["service-mean=6", "wait", "mean"][1] == ours["measures"]["wait"]["mean"],
                "seed 2 has the same mean as a separate run of the model")


def check(name, row, numbers):
    mean, half = statistics.fmean(numbers), STUDENT[len(numbers)] * statistics.stdev(numbers) / math.sqrt(len(numbers))
    programs.expect(math.isclose(float(row["mean"]), mean, rel_tol=1e-12, abs_tol=1e-12)
                    and math.isclose(float(row["half_width"]), half, rel_tol=1e-9, abs_tol=1e-12),
                    f"{name}: {row['mean']} +- {row['half_width']}, by hand {mean} +- {half}")


for row in rows(folder, "intervals"):
    key = row["variant"], row["measure"], row["figure"]
    check(" ".join(key), row, values[key])
for row in rows(folder, "differences"):
    one, other = (values[variant, row["measure"], row["figure"]] for variant in ("service-mean=12", row["variant"]))
    check(f"difference of {row['measure']} {row['figure']}", row, [b - a for a, b in zip(one, other)])
programs.expect((folder / "intervals.svg").stat().st_size > 0, "a plot")

done = replicate(folder, "--runs", 4)
again = {file: file.stat().st_mtime_ns for file in (folder / "runs").iterdir()}
programs.expect(done.returncode == 0 and len(again) == 8 and kept.items() <= again.items(),
                "a fourth run of each case is added, and the other runs are kept")

shares = programs.work / "shares"
for index in (1, 2):
    done = replicate(shares, "--runs", 4, "--part", f"{index}/2")
    programs.expect(done.returncode == 0 and not (shares / "runs.csv").exists(), f"part {index} of 2")
done = replicate(shares, "--runs", 4)
programs.expect(done.returncode == 0 and rows(shares, "runs") == rows(folder, "runs"),
                "two parts together give the result of the whole")

precise = programs.work / "precise"
done = replicate(precise, "--runs", 2, "--until-precision", 0.2, "--runs-max", 60, model=MODEL[:5])
half = [float(row["half_width"]) / float(row["mean"]) for row in rows(precise, "intervals") if row["figure"] == "mean"]
programs.expect(done.returncode == 0 and max(half) <= 0.2, f"all within {max(half):.3f} of the mean")

# This run is too short for any customer to be served.
nothing = programs.work / "nothing"
done = replicate(nothing, "--runs", 2, model=["bank", "--banks", 1, "--until", 1e-9])
programs.expect(done.returncode == 0 and "nothing recorded  all: wait, in 2 of 2 runs" in done.stdout
                and all(row["measure"] != "wait" for row in rows(nothing, "intervals")),
                f"a measure without records is named {done.stdout[-300:]} {done.stderr[-200:]}")
done = replicate(precise, "--runs", 2, "--until-precision", 1e-9, "--runs-max", 2, model=MODEL[:5])
programs.expect(done.returncode == 0 and "less precise than --until-precision" in done.stdout,
                "a precision that is not reached is reported, and is not a failure")

for options, fragment in [
        (["--runs", 1], "--runs: '1'; allowed:"), (["--vary", "x"], "allowed: OPTION=VALUE"),
        (["--vary", "move=1,1"], "twice"), (["--vary", "move=0,2"], "--move"), (["--seed", 3], "--seed"),
        (["--nosuch", 3], "--nosuch"), (["--confidence", 1], "below 1"), (["--part", "3/2"], "I/N"),
        (["--until-precision", 0], "above 0"), (["--service-mean", 3], "varied by --vary")]:
    done = replicate(programs.work / "wrong", "--runs", 2, *options)
    programs.expect(done.returncode == 2 and fragment in done.stderr.splitlines()[-1],
                    f"{options}: {done.stderr.strip()[-200:]}")
done = replicate(programs.work / "wrong", model=["phold", "--until", 1])
programs.expect(done.returncode == 2 and "has no measures" in done.stderr, done.stderr.strip()[-200:])
# A signal ends the active run and keeps the completed runs; no program is left behind.
for number in (signal.SIGINT, signal.SIGTERM):
    words = [python, CHECKOUT / "jobs/replicate", "--programs", programs.bin, "--output", programs.work / f"stopped{number}",
             "bank", "--banks", 5, "--until", 1e12, "--runs", 3]
    series = subprocess.Popen(list(map(str, words)), stderr=subprocess.PIPE, text=True)
    children, deadline = [], time.monotonic() + PATIENCE_SECONDS
    while not (children and is_computing(children[0])) and time.monotonic() < deadline:
        time.sleep(0.1)
        children = list(map(int, Path(f"/proc/{series.pid}/task/{series.pid}/children").read_text().split()))
    series.send_signal(number)
    _, errors = series.communicate(timeout=PATIENCE_SECONDS)
    left = [child for child in children if Path(f"/proc/{child}").exists()]
    programs.expect(children and not left and series.returncode == 128 + number
                    and errors.endswith(f"interrupted; the same command continues from {words[5]}\n"),
                    f"{number.name}: exit code {series.returncode}, {errors.strip()[-200:]}")

programs.leave()
