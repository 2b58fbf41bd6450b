#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests runs on several ranks that are saved. SIGUSR1 to mpirun reaches all ranks. The ranks end
with one line and exit code 0, and other ranks continue the run, at most one rank per group.
Properties that all ranks must share are checked."""

import signal

from ranks import Ranks

from checkpoints import gvt, restart_hint, result, wait_for_gvt

MODEL = ["--lps", 6, "--lps-per-group", 2, "--events-per-lp", 40, "--until", 60000]
ranks = Ranks()
expect = ranks.expect
stats, checkpoint = ranks.work / "saved-run.json", ranks.work / "checkpoint"
ranks.statistics_of("phold", *MODEL, "--engine", "sequential")
reference = result(ranks.work / "stats.json")


def part(count, *options):
    return ranks.part(count, "phold", *MODEL, "--quiet",
                      "--engine", "timewarp", "--workers", 1, "--stats", stats, *options)


def refused(name, words, *parts):
    ended = ranks.launch(*parts)
    expect(ended.exit_code == 2 and len(ended.ours) == 1 and words in ended.ours[0],
           f"{name}: exit code {ended.exit_code}: {ended.ours}")


for count, restart in [(2, []), (3, ["--restart", checkpoint]),
                       (2, ["--restart", checkpoint, "--engine", "conservative"]),
                       (3, ["--restart", checkpoint, "--engine", "conservative"])]:
    beyond = gvt(checkpoint)
    saving = ["--checkpoint", checkpoint, "--checkpoint-period", "0.2"]
    with ranks.start(part(count, *saving, *restart)) as launch:
        wait_for_gvt(launch.process, checkpoint, beyond)
        launch.process.send_signal(signal.SIGUSR1)
        ended = launch.wait()
    expect(ended.exit_code == 0 and len(ended.ours) == 1 and restart_hint(ended.stderr) is not None,
           f"SIGUSR1 to mpirun with {count} ranks {restart[2:]}: exit code {ended.exit_code}: {ended.ours}")
    expect(gvt(checkpoint) > beyond, f"saved at {gvt(checkpoint)}, later than {beyond}")

refused("more ranks than groups", "4 ranks for 3 groups of LPs; allowed: at most 3 ranks",
        part(4, "--restart", checkpoint))
refused("--restart on one rank alone", "rank 1 has the checkpoint none", part(1, "--restart", checkpoint), part(1))
refused("--checkpoint on one rank alone", "--checkpoint",
        part(1, "--checkpoint", ranks.work / "fresh"), part(1))

stats.unlink()
ended = ranks.launch(part(1, "--restart", checkpoint))
expect(ended.exit_code == 0 and result(stats) == reference,
       f"one rank continues to the end: exit code {ended.exit_code}, {reference['digest']}")

# States that point into libraries: ranks load the libraries at the addresses of a process without a
# launcher, although MPI loads additional libraries.
model = ["--lps-per-group", 4, "--until", 10000]
checkpoint = ranks.work / "libraries"
ranks.statistics_of("library_objects", *model, "--engine", "sequential")
reference = result(ranks.work / "stats.json")
options = [*model, "--quiet", "--engine", "timewarp", "--workers", 1, "--stats", stats, "--checkpoint", checkpoint,
           "--checkpoint-period", "0.2"]
for count, restart in [(2, []), (3, ["--restart", checkpoint])]:
    beyond = gvt(checkpoint)
    with ranks.start(ranks.part(count, "library_objects", *options, *restart)) as launch:
        wait_for_gvt(launch.process, checkpoint, beyond)
        launch.process.send_signal(signal.SIGUSR1)
        ended = launch.wait()
    expect(ended.exit_code == 0 and restart_hint(ended.stderr) is not None,
           f"library_objects on {count} ranks: exit code {ended.exit_code}, at {gvt(checkpoint):g}: "
           f"{ended.ours}")
stats.unlink()
done = ranks.run("library_objects", *options, "--restart", checkpoint)
expect(done.returncode == 0 and result(stats) == reference,
       f"library_objects continues to the end without a launcher: {done.returncode} {done.stderr!r}, "
       f"{reference['digest']}")
ranks.leave()
