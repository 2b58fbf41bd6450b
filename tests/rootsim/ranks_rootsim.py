#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models in ROOT-Sim's style have the sequential digest also on several ranks."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "mpi"))
from ranks import Ranks  # noqa: E402

ranks = Ranks()
rolled_back = 0
for model, options in {"rootsim_post": [], "rootsim_queue": ["--lp", 64], "rootsim_couriers": ["--lp", 64]}.items():
    reference = ranks.statistics_of(model, *options, "--engine", "sequential")
    for count in (2, 3):
        run = ranks.statistics_over(count, model, *options, "--workers", 1, "--window", "off")
        rolled_back += run["rolled_back_events"]
        ranks.expect((run["ranks"], run["digest"]) == (count, reference["digest"])
                     and run["mpi"]["events_sent"] > 0,
                     f"{model}: {count} ranks, digest {run['digest']}, {run['mpi']['events_sent']} "
                     "events crossed ranks")
ranks.expect(rolled_back > 0, f"{rolled_back} events were rolled back")
ranks.leave()
