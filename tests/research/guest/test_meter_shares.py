#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows the purpose of placement by counts. With `--memory numa`, nearly all accesses to memory are
local; with `--memory libc`, clearly fewer accesses are local. After half of the groups have changed
their worker, their pages follow with the daemon, and stay remote without the daemon. The runs are
those of the page in docs/results (jobs/research/meter/shares.py)."""

import sys

from programs import CHECKOUT, Programs

sys.path.insert(0, str(CHECKOUT / "jobs"))
from research.meter import shares  # noqa: E402
from research.qemu.call import UNAVAILABLE  # noqa: E402

programs = Programs()


def check_placement(topology, model):
    numa, libc = (shares.share(programs.bin, topology, model, memory) for memory in ("numa", "libc"))
    what = f"{topology}, {model}"
    programs.expect(numa.local >= 0.95, f"{what}: {numa.local:.3f} of accesses to memory are local, "
                                        f"{numa.without_mail:.3f} without mail")
    # Measured remote accesses with libc: more than 100 times as many with PHOLD, 2.4 to 15 times
    # with traffic. The state of traffic is small, and the nodes of libc's share of the memory are
    # random.
    more = 10 if model.startswith("PHOLD") else 1.5
    programs.expect(1 - libc.local > more * (1 - numa.local), f"{what}: with libc {libc.local:.3f} are local")


def check_rebinding(topology):
    runs = {daemon: shares.series(programs.bin, topology, daemon) for daemon in shares.DAEMONS}
    for daemon, run in runs.items():
        what = f"{topology}, pagemigd {daemon}"
        before, after = shares.around_move(run)
        programs.expect(len(before) > 1 and len(after) >= shares.PERIODS_AFTER,
                        f"{what}: {len(before)} periods before groups moved, {len(after)} after")
        if not before or not after:
            continue
        programs.expect(min(before[-2:]) >= 0.95, f"{what}: before groups moved {before[-1]:.3f} are local")
        if daemon == "off":
            programs.expect(max(after) < 0.8, f"{what}: after groups moved at most {max(after):.3f} are local")
        else:
            # Not all pages have moved yet, because the daemon gets little time on a busy host.
            programs.expect(max(after) >= 0.85, f"{what}: after groups moved up to {max(after):.3f} are local")


try:
    for name in shares.TOPOLOGIES:
        for model in shares.MODELS:
            check_placement(name, model)
        check_rebinding(name)
except shares.NoGuest as reason:
    print(reason)
    sys.exit(UNAVAILABLE)
programs.leave()
