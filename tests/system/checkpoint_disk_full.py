#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""If a disk has no room for a checkpoint, the run continues and reports this, and the last
checkpoint stays intact. If a run should end with a checkpoint and cannot write the checkpoint, it
ends with exit code 4.

The disk is a small memory file system, mounted in a private mount namespace."""

import json
import os
import shutil
import signal
import subprocess
import sys

from checkpoints import latest, result, start, unfinished
from programs import Programs

MODEL = ["phold", "--lps", 256, "--until", 200_000]
OWN_MOUNTS = "NUMAWARP_TEST_OWN_MOUNTS"

if OWN_MOUNTS not in os.environ:
    alone = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if subprocess.run([*alone, "mount", "-t", "tmpfs", "none", "/mnt"],
                      capture_output=True).returncode != 0:
        print("skipped: mounting is not allowed here")
        sys.exit(77)
    os.execvpe(alone[0], [*alone, sys.executable, *sys.argv], {**os.environ, OWN_MOUNTS: "1"})

programs = Programs()
expect = programs.expect
stats = programs.work / "stats.json"
programs.statistics_of(*MODEL, "--engine", "sequential")
reference = result(stats)

# The size of one checkpoint.
elsewhere = programs.work / "elsewhere"
size = programs.statistics_of(*MODEL, "--engine", "timewarp", "--workers", 2, "--checkpoint", elsewhere,
                              "--checkpoint-period", "0.2")["checkpoints"]["bytes"]
disk = programs.work / "disk"
disk.mkdir()
subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={int(1.5 * size)}", "none", disk], check=True)
checkpoint = disk / "checkpoint"


def saving(*more):
    return start(programs, programs.bin / MODEL[0], *MODEL[1:],
                 "--engine", "timewarp", "--workers", 2, "--quiet", "--stats", stats,
                 "--checkpoint-period", "0.1", *more)


run = saving("--checkpoint", checkpoint)
errors = run.communicate(timeout=120)[1]
lines = errors.splitlines()
expect(run.returncode == 0 and result(stats) == reference, f"the run reaches its end: {run.returncode}")
expect(len(lines) > 0 and all(line.startswith("numawarp: --checkpoint: ")
                              and "No space left on device" in line
                              and line.endswith("no earlier checkpoint is lost") for line in lines),
       f"{len(lines)} lines report that there is no room: {lines[:1]}")
first = latest(checkpoint)
expect(first is not None and first["gvt"] > 0, f"the first checkpoint is valid: {first and first['gvt']}")
expect(len(unfinished(checkpoint)) <= 1, "and at most one checkpoint is unfinished")

# From here on at most one page is free, because a later checkpoint may be smaller than the first
# one.
for left in unfinished(checkpoint):
    shutil.rmtree(left)
room = os.statvfs(disk)
with open(disk / "full", "wb") as file:
    os.posix_fallocate(file.fileno(), 0, (room.f_bavail - 1) * room.f_bsize)

stats.unlink()
run = saving("--restart", checkpoint, "--checkpoint", checkpoint)
for line in run.stderr:
    if "No space left" in line:  # the failure of a checkpoint; another line is printed before it
        break
run.send_signal(signal.SIGTERM)
errors = run.communicate(timeout=120)[1]
last = errors.splitlines()[-1:]
expect(run.returncode == 4 and "No space left on device" in "".join(last) and "continue with" not in last[0],
       f"SIGTERM: {run.returncode} {last}")
expect(latest(checkpoint) == first, "the first checkpoint is still valid")

run = saving("--restart", checkpoint, "--checkpoint", programs.work / "larger")
errors = run.communicate(timeout=120)[1]
expect(run.returncode == 0 and len(errors.splitlines()) == 1 and "this run ended" in errors and result(stats) == reference,
       f"continued on a larger disk, the run reaches the same end: {run.returncode} {errors!r}")

# If there is no room for one result, the other results are written nevertheless.
for lost, found in [("trace", "stats"), ("stats", "trace")]:
    files = {lost: disk / "lost.json", found: programs.work / "found.json"}
    files[found].unlink(missing_ok=True)
    done = programs.run("phold", "--lps", 256, "--until", 200, "--stats", files["stats"], "--trace",
                        files["trace"])
    expect(done.returncode == 4 and done.stderr.startswith(f"numawarp: --{lost} {files[lost]}: ")
           and "No space left on device" in done.stderr and done.stderr.count("\n") == 1,
           f"no room for --{lost}: {done.returncode} {done.stderr.strip()!r}")
    expect("digest" in done.stdout and json.loads(files[found].read_text())
           and not files[lost].exists(), f"the report and --{found} exist, and no incomplete file")
# The statistics exist only if all tables are written: a reader relies on this.
folder = disk / "tables"
folder.mkdir()
(folder / "stations.csv").symlink_to(programs.work / "stations.csv")
stats.unlink(missing_ok=True)
done = programs.run("queues", "--until", 200, "--stats", stats, "--output", folder, "--output-format",
                    "hdf5")
expect(done.returncode == 4 and done.stderr.count("\n") == 1 and "digest" in done.stdout,
       f"no room for a table: {done.returncode} {done.stderr.strip()!r}")
expect(not stats.exists() and (programs.work / "stations.csv").stat().st_size > 0,
       "there are no statistics, but the rows of the table")

subprocess.run(["umount", disk], check=True)
programs.leave()
