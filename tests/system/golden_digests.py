#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks stored digests of short sequential runs. These digests are equal for every compiler, every
level of optimization and every machine. A commit that changes a digest on purpose (a model, random
numbers, a function of numawarp/math.hpp, the digest itself) states this in its message, and stores
the new digest in this file:

    PYTHONPATH=tests/support python3 tests/system/golden_digests.py build/bin --print
"""

import sys

from programs import Programs

# The options of the run, committed events, digest.
golden = [
    ("phold --until 20",
     20447, "f6c754d8dc1186bc977d997a24c3a403"),
    ("phold --lps 64 --state 64 --remote 0.5 --until 30 --seed 7",
     1943, "78f668f8b8e8c1c650e1f539bc10e3bc"),
    ("phold --lps 256 --state 4096 --payload 64 --until 10",
     2465, "a9f7d46f76f8339506b861c10bbdd627"),
    ("phold --lps 128 --hot-spot 0.5 --until 20",
     2420, "50bdfa39f8905382efc8cafe4c214ef3"),
    ("phold --lps 64 --until 20 --seed 18446744073709551615",
     1274, "7a7306642f9e7604152ad752d04b7527"),
    ("pcs --width 10 --height 10 --move-mean 200 --until 500",
     17535, "35cd929b5725e92f52def295c7e48ef7"),
    ("pcs --width 10 --height 10 --moves off --until 500 --seed 3",
     5307, "1e881e0150eda1bea258449c4a1062b4"),
    ("queues --until 60",
     1550, "b3d96ff858c565a32811f11d63c9b1e4"),
    ("queues --until 60 --seed 2",
     1680, "5b9c812d19c82d480eb02d177b5731b0"),
    ("traffic --objects 1024 --until 200",
     9878, "4fe37eb92165c6eb01fcc851ab83e011"),
    ("traffic --objects 140 --until 900 --seed 3",
     60290, "9627d99551b3cc067b385c93a760720a"),
    ("traffic --objects 140 --until 900 --accidents on",
     60100, "242571f5bd9d2ec9ca8ed2ca4622a097"),
    ("traffic --objects 140 --until 900 --accidents on --cars separate",
     60100, "242571f5bd9d2ec9ca8ed2ca4622a097"),
    ("bank --move 0.5 --until 100",
     2508, "4b58774bf4cc8751c8716c0c1fbb9ece"),
    ("car_wash --again 0.5 --until 200",
     13495, "636ba8bdfe3898d0b3d54e6eae2793e0"),
    ("channel --until 100",
     5337, "799b5660f5a3f17ebc33b6d934e90e57"),
    ("gas_station --again 0.5 --until 3000",
     23483, "634d5acbc43227ab0ea82330a2970935"),
    ("machine_shop --share 0.5 --until 1000",
     2073, "1f1736d9175f38a33159cf84d8a5a1a9"),
    ("movies --move 0.5 --seed 3",
     32029, "e70229089603ddbcd090e49ccaa440e6"),
    ("table_writer",
     831, "91aedcae06b8443c20d0d0918e247cee"),
]

show = "--print" in sys.argv
programs = Programs()
for options, events, digest in golden:
    run = programs.statistics_of(*options.split(), "--engine", "sequential")
    if show:
        print(f'    ("{options}",\n     {run["committed_events"]}, "{run["digest"]}"),')
    else:
        programs.expect((run["committed_events"], run["digest"]) == (events, digest),
                        f"{options}: {run['committed_events']} events, {run['digest']}")
programs.leave()
