#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares random models and options on 2, 3 and 4 ranks with the sequential engine
(random_ranks.cpp).

usage: test_random.py FOLDER-OF-PROGRAMS [CASES-A-RANK-COUNT]

Without CASES-A-RANK-COUNT, the cases of every call begin with the same seed. With this argument,
they begin with a new seed."""

import random
import sys

from ranks import Ranks

CASES_DEFAULT = 20
# Time limits that also allow for other work on the machine. The last case takes up to 50 s on two
# quiet cores.
SECONDS_AT_LEAST = 180
SECONDS_A_CASE = 10

chosen = sys.argv.pop(2) if len(sys.argv) > 2 else None
cases = int(chosen or CASES_DEFAULT)
ranks = Ranks()


def check(count, number, first_seed):
    ended = ranks.launch(ranks.part(count, "random_ranks", number, first_seed),
                         timeout=SECONDS_AT_LEAST + SECONDS_A_CASE * number)
    print(ended.stdout, end="")
    ranks.expect(ended.exit_code == 0,
                 f"{number} cases from seed {first_seed} on {count} ranks: exit code "
                 f"{ended.exit_code} after {ended.seconds:.0f} s")
    if ended.exit_code != 0:
        print(ended.stderr)


for ranks_of_cases in [2, 3, 4]:
    check(ranks_of_cases, cases, random.randrange(2**32) if chosen else ranks_of_cases * 1000)
# Large payloads, no window, a round after each event: with this seed, two ranks once sent messages
# and received none, and their memory grew without bound.
check(4, 1, 886406023)

ranks.leave()
