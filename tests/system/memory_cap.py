#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests --memory-cap. If the memory of the sequential run fits, a run ends with the same digest, and
its resident memory is at most 5 % above the cap. A run that does not fit ends with exit code 4, and
reports the memory that it would take. The models are PHOLD with a million events, for which Time
Warp without a cap takes up to twice the memory of the sequential engine, and traffic, where the
memory of a cell grows and shrinks.

Without a cap, Time Warp takes at most four times the sequential engine's memory; on a quiet machine
it takes about twice this memory. A run that is ten times as long takes no more memory, because fossil
collection frees enough. The comparison of these two runs uses a window of fixed width, because the
automatic window widens while one worker waits for its processor. The number of uncommitted events
limits this widening (docs/gvt.md), also on a busy machine: for one run, this test starts other
programs that use all processors."""

import contextlib
import os
import re
import subprocess
import sys

from programs import Programs

programs = Programs()
MiB = 1 << 20


def keeps_promise(model, options, engine, cap, digest):
    run = programs.statistics_of(*model, *options, *engine, "--memory-cap", cap)
    share = run["memory"]["resident_peak_bytes"] / cap
    name = " ".join(map(str, engine))
    programs.expect(run["digest"] == digest and share <= 1.05,
                    f"{model[0]} {name}: {share:.3f} of {cap / MiB:.0f} MiB, "
                    f"{run['wall_seconds']:.1f} s, {run['memory']['memory_stops']} stops")
    return run


def refuses(model, options, engine, cap, needed):
    done = programs.run(*model, *options, *engine, "--memory-cap", cap)
    figure = re.search(r"takes about (\d+) MiB", done.stderr)
    close = figure is not None and abs(int(figure[1]) * MiB / needed - 1) < 0.25
    programs.expect(done.returncode == 4 and close and done.stderr.count("\n") == 1,
                    f"{model[0]} {' '.join(map(str, engine))}: exit code {done.returncode}, expected 4; "
                    f"{done.stderr.strip()}")


@contextlib.contextmanager
def other_programs(count):
    """Runs busy programs in the background."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def sequential(model, options):
    run = programs.statistics_of(*model, *options, "--engine", "sequential")
    return run["memory"]["resident_peak_bytes"], run["digest"]


phold = ["phold"]
options = ["--lps", 65536, "--events-per-lp", 16, "--remote", 0.1, "--state", 16, "--until", 1.5]
needed, digest = sequential(phold, options)
free, short, long = (programs.statistics_of("phold", *options[:-1], until, "--window", window, "--workers", 2)["memory"]
                     ["resident_peak_bytes"] for until, window in ((3, "auto"), (3, 0.1), (30, 0.1)))
programs.expect(free <= 4 * needed, f"without a cap {free / MiB:.0f} MiB, sequentially {needed / MiB:.0f} MiB")
# If the machine is busy, rollbacks make records for events that otherwise have none.
programs.expect(long <= 1.5 * max(short, needed),
                f"within a window of 0.1 {short / MiB:.0f} MiB, in a run ten times as long {long / MiB:.0f} MiB")
# The limit is 2 events per LP. A worker may execute 2 more events per LP until it reads the limit.
# 1 event per LP is a reserve, because other tests may run at the same time.
held_most = 2.5 * 2 * 65536
with other_programs(len(os.sched_getaffinity(0)) + 1):
    run = programs.statistics_of("phold", *options[:-1], 8, "--lookahead", 0, "--workers", 2)
held = max(sample["executed_events"] - sample["rolled_back_events"] - sample["committed_events"]
           for sample in run["history"])
programs.expect(held <= held_most, f"beside other programs at most {held} uncommitted events are held, in windows up to "
                                   f"{max(sample['window'] or 0 for sample in run['history']):.2f}")
resident = run["memory"]["resident_peak_bytes"]
programs.expect(resident <= 4 * needed, f"    and {resident / MiB:.0f} MiB")
stops = 0
for engine in (["--rollback", "copy", "--workers", 2],
               ["--rollback", "snapshot", "--workers", 2],
               ["--rollback", "snapshot", "--workers", 2, "--window", "off"],
               ["--rollback", "copy", "--workers", 4, "--window", "off"]):
    for share in (1.1, 1.5):
        run = keeps_promise(phold, options, engine, int(share * needed), digest)
        stops += run["memory"]["memory_stops"]
programs.expect(stops > 0, f"    and memory stopped workers {stops} times")
keeps_promise(phold, options, ["--engine", "sequential"], int(1.02 * needed), digest)
keeps_promise(phold, options, ["--engine", "conservative", "--workers", 2], int(1.2 * needed), digest)
# A run with checkpoints takes more memory, because it keeps the events beyond the end, which have
# records, and the pointers that constructors stored.
# Writing a checkpoint takes no memory.
for name, engine in (("sequential", ["--engine", "sequential"]),
                     ("timewarp", ["--engine", "timewarp", "--workers", 2])):
    saving = [*engine, "--checkpoint", programs.work / f"saved-{name}", "--checkpoint-period"]
    unsaved = programs.statistics_of(*phold, *options, *saving, 1000)["memory"]["resident_peak_bytes"]
    run = keeps_promise(phold, options, [*saving, 0.02], int(1.02 * unsaved), digest)
    programs.expect(run["checkpoints"]["written"] > 0, f"    and was saved {run['checkpoints']['written']} times")
for engine in (["sequential"], ["conservative"], ["timewarp", "--workers", 1]):
    refuses(phold, options, ["--engine", *engine], int(0.75 * needed), needed)

# The memory of a run of this size is mostly the program itself, the road network, and a MiB or two
# for each worker.
traffic = ["traffic"]
options = ["--objects", 1024, "--until", 600]
needed, digest = sequential(traffic, options)
for workers in (2, 4):
    keeps_promise(traffic, options, ["--engine", "timewarp", "--workers", workers], needed + workers * 3 * MiB, digest)
done = programs.run(*traffic, *options, "--memory-cap", needed // 2)
programs.expect(done.returncode == 4 and "--memory-cap" in done.stderr,
                f"traffic: exit code {done.returncode}, expected 4; {done.stderr.strip()}")

programs.leave()
