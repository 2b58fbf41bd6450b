#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages follow their group when the group changes its worker.

Half of the groups change their worker at random. Two periods of the daemon later, less than 1 % of
all pages and less than 1 % of the pages of mail are remote. Without the daemon, the pages stay, so
the test can fail. The second model, traffic on 1024 objects, needs rebinding: its groups move
because loads differ. The digest of this model is that of the sequential engine."""

import guest
from programs import Programs

programs = Programs()

# Each group has 64 KiB of state, and events and mail from all workers. The events are too large for
# mail rings, so they go through the bottom halves of the groups.
MODEL = ["phold", "--lps", 1024, "--state", 4096, "--touch", 64, "--lps-per-group", 16,
         "--payload", 256, "--remote", 0.5, "--until", 1e9]
TRAFFIC = ["traffic", "--objects", 1024, "--until", 1200]
WORKERS = {"n2": 4, "n4": 4, "n4a": 4, "n8": 8}
DAEMON = "1@0.25"
# Two periods, and the pass that was active when the groups moved.
PASSES = 3


def passes_since_move(history):
    """Yields (sample, passes since groups moved) for the samples after the first move."""
    moved = moved_at = 0
    for sample in history:
        if sample["groups_moved"] > moved:
            moved, moved_at = sample["groups_moved"], sample["passes"]
        if moved:
            yield sample, sample["passes"] - moved_at


def run_forced(name):
    """Runs that are interrupted between the first and the second rebinding, after the daemon's
    passes. If a busy host makes the guest too slow, the runs are repeated with longer times."""
    for rebind_seconds in (4, 8, 16):
        batch = guest.Batch(programs, name, f"forced-{rebind_seconds}")
        forced = [*MODEL, "--workers", WORKERS[name], "--rebind", rebind_seconds,
                  "--check-rebind", 0.5]
        seconds = 1.9 * rebind_seconds
        batch.add("followed", *forced, "--pagemigd", DAEMON, seconds=seconds)
        batch.add("left", *forced, "--pagemigd", "off", seconds=seconds)
        results = batch.run()
        history = list(passes_since_move(
            results["followed"].numa.get("placement_history", [])))
        if history and history[-1][1] >= PASSES and results["left"].numa.get("groups_moved"):
            break
    return results


def check_forced(name):
    results = run_forced(name)
    followed, left = results["followed"], results["left"]
    for what, result in [("daemon", followed), ("no daemon", left)]:
        guest.expect_ended(programs, f"{name}, {what}", result, exit_code=130)
        groups, moved = result.stats.get("groups", 0), result.numa.get("groups_moved", 0)
        programs.expect(moved > 0.3 * groups, f"{name}, {what}: {moved} of {groups} groups moved")

    history = list(passes_since_move(followed.numa.get("placement_history", [])))
    shares = [sample["remote_page_share"] for sample, passes in history if passes >= PASSES]
    programs.expect(bool(shares) and max(shares) < 0.01,
                    f"{name}: two periods after a rebinding {len(shares)} samples, remote at most "
                    f"{max(shares, default=None)}")
    programs.expect(followed.numa.get("pages_moved", 0) > 0,
                    f"{name}: {followed.numa.get('pages_moved')} pages moved")
    programs.expect(left.numa.get("pages_moved") == 0, f"{name}: without the daemon no page moves")
    for kind in ("state", "engine", "mail"):
        remote, stayed = ((result.numa.get("placement") or {}).get(kind, {}).get("remote_share")
                          for result in (followed, left))
        programs.expect(remote is not None and remote < 0.01,
                        f"{name}: at the end {remote} of {kind} is remote")
        programs.expect(stayed is not None and stayed > 0.2,
                        f"{name}: without the daemon {stayed} of {kind} is remote")


def check_traffic(name):
    batch = guest.Batch(programs, name, "traffic")
    batch.add("sequential", *TRAFFIC, "--engine", "sequential")
    often = [*TRAFFIC, "--engine", "timewarp", "--workers", WORKERS[name], "--rebind", 0.3, "--pagemigd", "4@0.2"]
    batch.add("planned", *often)
    batch.add("drawn", *often, "--check-rebind", 0.5)
    results = batch.run()
    sequential = results["sequential"]
    guest.expect_ended(programs, f"{name}, traffic, sequential", sequential)
    for what in ("planned", "drawn"):
        result = results[what]
        guest.expect_ended(programs, f"{name}, traffic, moves {what}", result)
        programs.expect(result.stats.get("digest") == sequential.stats.get("digest"),
                        f"{name}, traffic, moves {what}: digest {result.stats.get('digest')}")
        for field in ("groups_moved", "pages_moved"):
            programs.expect(result.numa.get(field, 0) > 0,
                            f"{name}, traffic, moves {what}: {field} {result.numa.get(field)}")
        programs.expect(result.numa.get("pages_shared") == 0,
                        f"{name}, traffic, moves {what}: no page belongs to two groups")


for preset in WORKERS:
    check_forced(preset)
for preset in ("n4", "n8"):
    check_traffic(preset)
programs.leave()
