#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs random configurations of the engines, and adds two rows to a results file.

usage: tests/engine/random_configurations.py FOLDER-OF-PROGRAMS RESULTS.csv [CASES [FIRST-SEED]]

Each case is a random model with random options. The sequential engine and another engine run the model; both must have
the same digest and the same output. Two thirds of the cases are stepped: groups change workers, delays can be zero, and
turns are interrupted at handoffs (test_stepped.cpp). One third of the cases has real threads (test_differential.cpp).
The results file gets one row for the stepped cases, and one row for the cases with threads.

CASES: number of cases, by default 300. FIRST-SEED: seed of the first case, by default drawn at random. A failure prints
its seed. Exit code 0: all cases passed."""

import csv
import datetime
import os
import random
import subprocess
import sys
import time

COLUMNS = ["date", "commit", "test", "first_seed", "cases", "failed", "seconds"]
TESTS = [
    ("stepped", "test_engine_stepped",
     "nightly: groups change workers while turns are interrupted at handoffs", 2 / 3),
    ("threads", "test_engine_differential",
     "nightly: every engine gives the sequential result for random models and options", 1 / 3),
]

if len(sys.argv) not in (3, 4, 5):
    sys.exit(__doc__)
programs, results = sys.argv[1:3]
cases = int(sys.argv[3]) if len(sys.argv) > 3 else 300
first_seed = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(2**32)
commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True,
                        check=True).stdout.strip()

failed = False
for label, program, case, share in TESTS:
    count = max(1, round(cases * share))
    began = time.monotonic()
    ended = subprocess.run([os.path.join(programs, program), case.replace(",", r"\,")], check=False, capture_output=True, text=True,
                           env={**os.environ, "NUMAWARP_TEST_CASES": str(count),
                                "NUMAWARP_FIRST_SEED": str(first_seed)})
    seconds = time.monotonic() - began
    well = ended.returncode == 0 and "in 1 test case" in ended.stdout
    print(f"{label}: {count} cases from seed {first_seed} in {seconds:.0f} s: {'passed' if well else 'FAILED'}", flush=True)
    if not well:
        failed = True
        print(ended.stdout[-4000:], ended.stderr[-2000:], sep="\n")
    is_new = not os.path.exists(results)
    with open(results, "a", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        if is_new:
            rows.writerow(COLUMNS)
        rows.writerow([datetime.date.today(), commit, label, first_seed, count, int(not well), round(seconds)])

with open(results, newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
print(f"{results}: {sum(int(row['cases']) for row in rows)} cases, {sum(int(row['failed']) for row in rows)} calls failed")
sys.exit(failed)
