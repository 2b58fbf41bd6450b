#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The digests of short sequential runs, pinned: they are equal for every compiler, every level of
optimization and every machine. A commit that changes a digest on purpose (a model, random numbers,
a function of numawarp/math.hpp, the digest itself) states this in its message, and pins the new
digest:

    PYTHONPATH=tests/support python3 tests/system/golden_digests.py build/bin --print
"""

import sys

from programs import Programs

# The options of the run, committed events, digest.
golden = [
    ("phold --until 20",
     20447, "24d06694ff3a62888f3fcbfcce4e7868"),
    ("phold --lps 64 --state 64 --remote 0.5 --until 30 --seed 7",
     1943, "d1864abc576ef8e3158658c5ab4087b0"),
    ("phold --lps 256 --state 4096 --payload 64 --until 10",
     2465, "eee1d766fa831eb10f2e912eac51f5fc"),
    ("phold --lps 128 --hot-spot 0.5 --until 20",
     2420, "699f9913e0a62013ec7ac63e5f86269f"),
    ("phold --lps 64 --until 20 --seed 18446744073709551615",
     1274, "8042268e95ffe1ea0064e67050b228e8"),
    ("pcs --width 10 --height 10 --move-mean 200 --until 500",
     17535, "958461e18b5b65d723564d46d9a0467b"),
    ("pcs --width 10 --height 10 --moves off --until 500 --seed 3",
     5307, "765cd1f5b88902022c9d5a944985ebca"),
    ("queues --until 60",
     1550, "dda35a6074d27e6657d9a6e762ffdce3"),
    ("queues --until 60 --seed 2",
     1680, "99a6ed9430dc7baccef9b95e55511d65"),
    ("traffic --objects 1024 --until 200",
     9878, "094e8689879de2c20b186a165fea4653"),
    ("traffic --objects 140 --until 900 --seed 3",
     60290, "cf7266343083e4d77e679677f653acf2"),
    ("traffic --objects 140 --until 900 --accidents on",
     60100, "50632ca7f3974f1b0fff2163bbfc4167"),
    ("bank --move 0.5 --until 100",
     2508, "519800521330faedb3205eea8b4d8338"),
    ("car_wash --again 0.5 --until 200",
     13495, "33bfdc7bc152977cc450c473e28e1bb2"),
    ("channel --until 100",
     5337, "52ef95d06b1ad937aec0c1fc146219a7"),
    ("gas_station --again 0.5 --until 3000",
     23483, "29af4a8a72cc265e73df0adb06fad41c"),
    ("machine_shop --share 0.5 --until 1000",
     2073, "249376f0f2d4e819564016cb9ef42b52"),
    ("movies --move 0.5 --seed 3",
     32029, "f24ccd5e22921c8802559a05dfeb86c4"),
    ("table_writer",
     831, "dde7c7f06354b8530b9380d1a4b2c508"),
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
