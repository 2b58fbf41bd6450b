#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `./jobs/run paper-numa --quick`, end to end on the real program, and the failures of a
series that takes days: an interrupted series continues where it stopped, a run with another digest
is a failure, and a series is not continued on another machine. The test does not judge the plots:
it checks that they exist and name the machine."""

import dataclasses
import json
import signal
import subprocess
import sys
import time
import unittest.mock

from programs import CHECKOUT, Programs, python_with, rows_of

programs = Programs()
python = python_with("matplotlib")


def command(*arguments, traffic=programs.bin):
    return [python, CHECKOUT / "jobs/research/paper_numa", "--programs", traffic, *map(str, arguments)]


def paper_numa(*arguments, **options):
    return subprocess.run(command(*arguments, **options), capture_output=True, text=True,
                          cwd=programs.work)


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)


# A series that is interrupted after two runs, loses the end of a line, and is resumed.
quick = ["--quick", "--until", 60]
series = programs.work / "series"
with subprocess.Popen(command(*quick, "--output", series), stdout=subprocess.DEVNULL,
                      stderr=subprocess.PIPE, text=True) as first:
    wait_until(lambda: (series / "runs.csv").exists() and len(rows_of(series / "runs.csv")) >= 2
               or first.poll() is not None)
    first.send_signal(signal.SIGTERM)
    told = first.communicate()[1]
programs.expect(first.returncode == 143 and f"--resume {series}" in told,
                f"a series that is terminated: exit code {first.returncode}, "
                f"{told.splitlines()[-1:]}")
before = rows_of(series / "runs.csv")
with open(series / "runs.csv", "a") as file:
    file.write("balanced-120,sequential,2,137,1")
done = paper_numa("--resume", series)
programs.expect(done.returncode == 0, f"resumed: exit code {done.returncode} {done.stderr[-300:]}")
rows = rows_of(series / "runs.csv")
programs.expect(rows[:len(before)] == before, f"its {len(before)} runs were kept")

# The result: equal numbers of runs of every kind, one digest per workload, figures, a page.
summary = json.loads((series / "summary.json").read_text())
settings = summary["settings"]
grid = len(settings["daemons"]) * len(settings["periods"])
programs.expect(grid in (2, 4), f"a grid of {settings['daemons']} x {settings['periods']}")
kinds = {(row["workload"], row["variant"]) for row in rows}
programs.expect(len(kinds) == 15 + 4 + grid and len(rows) == 2 * len(kinds),
                f"{len(rows)} runs of {len(kinds)} kinds")
order = [[row["variant"] for row in rows if row["run"] == run] for run in "12"]
programs.expect(order[0] != order[1] and {row["run"] for row in rows[:len(kinds)]} == {"1"},
                "the runs are in rounds, and each round has another order")
for workload in ["balanced-120", "balanced-60", "balanced-45", "unbalanced"]:
    digests = {row["digest"] for row in rows if row["workload"] == workload}
    programs.expect(digests == {summary["digests"].get(workload)}, f"{workload}: {digests}")
nodes = summary["machine"]["nodes"]
page = (series / "summary.md").read_text()
for number in ("6", "7", "8", "9", "9b"):
    programs.expect(f"figure_{number}" in summary and f"figure-{number}.svg" in page
                    and (series / f"figure-{number}.png").stat().st_size > 10_000,
                    f"figure {number} is in the summary, on the page, and a picture")
    text = (series / f"figure-{number}.svg").read_text()
    programs.expect(f"{summary['machine']['cores']} cores on {nodes} NUMA node" in text
                    and ("cannot show a gain from NUMA" in text) == (nodes == 1), "    names its machine")
programs.expect(all(("cannot show a gain from NUMA" in text) == (nodes == 1) for text in (page, done.stdout)),
                f"on {nodes} node(s), page and terminal report whether a gain can be shown")
cell = summary["figure_9"][str(settings["daemons"][0])][f"{settings['periods'][0]}"]
programs.expect(0 < cell["min"] <= cell["median"] <= cell["max"] and cell["runs"] == 2,
                f"a speed-up with its spread: {cell}")

# A complete series has no runs left, unless --runs is larger.
done = paper_numa("--resume", series)
programs.expect(done.returncode == 0 and len(rows_of(series / "runs.csv")) == len(rows), "no run is repeated")

# A run has another digest: it is forged in a finished series, or a program computes wrong results.
text = (series / "runs.csv").read_text()
(series / "runs.csv").write_text(text[:-33] + "0" * 32 + "\n")
done = paper_numa("--resume", series)
programs.expect(done.returncode == 1 and "digest" in done.stderr and "0" * 32 in done.stderr,
                f"a forged digest: exit code {done.returncode}, {done.stderr.strip()}")
(series / "runs.csv").write_text(text)
wrong = programs.stand_in("wrong", "traffic", "if 'libc' in words: stats['digest'] = 'f' * 32")
done = paper_numa(*quick, "--only", "unbalanced", "--output", programs.work / "bad", traffic=wrong)
programs.expect(done.returncode == 1 and "f" * 32 in done.stderr and "libc" in done.stderr,
                f"a wrong digest: exit code {done.returncode}, {done.stderr.splitlines()[-1:]}")

# The options of the runs reach the program.
recorder = programs.stand_in("recorder", "traffic", "open(sys.argv[0] + '.words', 'a').write(' '.join(words) + '\\n')")
done = paper_numa(*quick, "--runs", 1, "--only", "unbalanced", "--lps-per-group", 1, "--rebind-policy", "root-sim",
                  "--output", programs.work / "grain", traffic=recorder)
words = next(recorder.glob("*.words")).read_text().splitlines()
parallel = [line for line in words if "timewarp" in line]
programs.expect(done.returncode == 0 and len(parallel) == 3 + grid
                and all("--lps-per-group 1 --rebind-policy root-sim" in line for line in parallel)
                and sum("--memory libc" in line for line in parallel) == 2
                and sum("--libc-builder owners" in line for line in parallel) == 1,
                f"options of the runs: exit code {done.returncode}, {words}")
page = (programs.work / "grain" / "summary.md").read_text()
programs.expect("Objects per group in the runs of traffic: 1." in page and "by the policy root-sim" in page,
                "the page names grain and policy")

# A failed run is reported, leaves a gap, and is repeated.
failing = programs.stand_in("failing", "traffic", "if 'libc' in words: sys.exit(4)")
gaps = programs.work / "gaps"
arguments = [*quick, "--runs", 1, "--only", "unbalanced", "--output", gaps]
done = paper_numa(*arguments, traffic=failing)
programs.expect(done.returncode == 1 and "FAILED with exit code 4" in done.stderr
                and "Missing runs: 2; failed runs: 2" in done.stdout,
                f"a failed run: exit code {done.returncode}, {done.stdout.splitlines()[:1]}")
done = paper_numa("--resume", gaps)
programs.expect(done.returncode == 0 and "incomplete" not in done.stdout,
                f"resumed, the failed run is repeated: exit code {done.returncode}")

# Refused input.
plan = json.loads((series / "plan.json").read_text())
plan["machine"]["cores"] += 1
(gaps / "plan.json").write_text(json.dumps(plan))
for fragment, arguments in [("cores", ["--resume", gaps]),
                            ("plan.json", ["--resume", programs.work / "absent"]),
                            ("--resume", ["--output", series]),
                            ("--resume", ["--resume", series, "--until", 5]),
                            ("topology 'n5'", ["--meter", "n5"]),
                            ("--resume: only", ["--meter", "n4", "--resume", series]),
                            ("topology 'n5'", ["--timed", "n5"]),
                            ("exclude each other", ["--meter", "--timed"]),
                            ("only with --timed", ["--only", "memory-bound"]),
                            ("only with --timed", ["--meter", "--machine", "epyc"]),
                            ("only with --timed", ["--latency-factor", 2]), ("only with --timed", ["--claims"]),
                            ("only with --timed", ["--only", "moved"]),
                            ("epyc has 8 nodes", ["--timed", "n4", "--machine", "epyc"]),
                            ("--only", ["--timed", "--until", 5]),
                            ("up to 16 and 16", ["--timed", "9:512M,9:512M"]),
                            ("0.1 to 10", ["--timed", "--latency-factor", 11]),
                            ("not allowed with --meter", ["--meter", "--rebind-policy", "knapsack"]),
                            ("--rebind-policy", ["--rebind-policy", "random"]),
                            ("--lps-per-group", ["--lps-per-group", 0]),
                            ("--runs", ["--runs", 0]), ("--rebind", ["--rebind", "never"]),
                            ("--until", ["--until", "nan"])]:
    done = paper_numa(*arguments)
    programs.expect(done.returncode == 2 and fragment in done.stderr
                    and len(done.stderr.splitlines()) == 1,
                    f"{' '.join(map(str, arguments[:1]))}: exit code {done.returncode}, "
                    f"{done.stderr.strip()}")

# The options of --timed reach the guest.
sys.path[:0] = [str(CHECKOUT / "jobs"), str(CHECKOUT / "tests/guest"), str(CHECKOUT / "jobs/research/paper_numa")]
import timed  # noqa: E402

plan = timed.TimedPlan(**{field.name: None for field in dataclasses.fields(timed.TimedPlan)})
plan.workers, plan.seed, plan.until = 8, 1, {"memory-bound": 2}
plan.topology, plan.modeled, plan.latency_factor, plan.overlap_factor = "n8", "epyc", 1.3, 0.7
with unittest.mock.patch("timed.timed_series.guest_series.run_in_guest", side_effect=StopIteration) as called:
    try:
        timed.run_once(programs.bin / "traffic", plan, plan.memory_bound()[2], 1, None)
    except StopIteration:
        pass
words = " ".join(map(str, called.call_args.args[3] + called.call_args.args[4]))
programs.expect(called.call_args.args[2] == "n8" and "--machine epyc --latency-factor 1.3 --overlap 7" in words
                and "phold --lps 32768" in words and "--place interleave --huge-pages off" in words, f"in the guest: {words}")

for name in ("meter", "timed"):
    done = subprocess.run(command(f"--{name}", traffic=failing), capture_output=True, text=True)
    programs.expect(done.returncode == 4 and f"{name}_plugin.so" in done.stderr and len(done.stderr.splitlines()) == 1,
                    f"--{name} without a plug-in: exit code {done.returncode}, {done.stderr.strip()}")

programs.leave()
