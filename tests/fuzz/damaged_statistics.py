#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `./jobs/run report` with statistics of --stats that were damaged at random. The result must
be a page, or a refusal of one line.

usage: damaged_statistics.py BIN [SECONDS]
       NUMAWARP_TEST_SEED=N repeats one case; without SECONDS: 300 cases

Only values in the JSON are damaged. Bytes that are not JSON are refused before any code reads
values."""

import copy
import json
import os
import random
import sys
import time
import traceback

from programs import CHECKOUT, Programs, first_seed

sys.path.insert(0, str(CHECKOUT / "jobs"))
from report_page import load, page  # noqa: E402

CASES = 300
ODD = [None, True, False, 0, -1, 1, 2 ** 63, -2 ** 63, 10 ** 400, 1e308, -1e308, 5e-324, float("nan"),
       float("inf"), "", "7", "\0", "\ud800", "<b>&amp;", "é" * 5000, [], {}, [[]], [None] * 50, {"": {"": 0}}]


def places(value):
    """Yields (holder, key) of each value inside `value`."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in inside:
        yield value, key
        yield from places(child)


def damage(value, draw):
    """Changes or deletes one value inside `value`."""
    found = list(places(value))
    if not found:
        return
    (holder, key), (other, name) = draw.choice(found), draw.choice(found)
    old = holder[key]
    ways = [lambda: copy.deepcopy(draw.choice(ODD)), lambda: copy.deepcopy(other[name])]
    if isinstance(old, list):
        ways += [lambda: old * 2, lambda: old[1:]]
    if isinstance(old, (int, float)):
        ways += [lambda: -old, lambda: old * 1e9 if abs(old) < 1e300 else 0]
    if isinstance(holder, dict) and draw.random() < 0.2:
        del holder[key]
    else:
        holder[key] = draw.choice(ways)()


def try_case(originals, folder, seed):
    draw = random.Random(seed)
    files = []
    for number in range(draw.choice((1, 1, 1, 2, 3))):
        data = copy.deepcopy(draw.choice(originals))
        for _ in range(draw.choice((1, 2, 5, 40))):
            damage(data, draw)
        files.append(folder / f"{number}.json")
        files[-1].write_text(json.dumps(data))
    try:
        page.page_of(load.load(files)).encode("utf-8")
    except load.Unreadable as refusal:
        assert "\n" not in str(refusal), refusal


def main():
    programs = Programs()
    originals = [
        programs.statistics_of("phold", "--lps", 64, "--until", 5, "--engine", "timewarp", "--workers", 2),
        programs.statistics_of("bank", "--engine", "sequential", "--measure-interval", 20, "--until", 100)]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 0
    end = time.monotonic() + seconds
    replayed = os.environ.get("NUMAWARP_TEST_SEED")
    first = int(replayed) if replayed else first_seed()
    cases = failures = 0
    while cases < (1 if replayed else CASES) or time.monotonic() < end:
        try:
            try_case(originals, programs.work, first + cases)
        except Exception:
            failures += 1
            traceback.print_exc(limit=-3)
            print(f"failed with NUMAWARP_TEST_SEED={first + cases}", file=sys.stderr)
        cases += 1
        if failures == 10:
            break
    print(f"{cases - failures} passed, {failures} failed")
    sys.exit(1 if failures else 0)


main()
