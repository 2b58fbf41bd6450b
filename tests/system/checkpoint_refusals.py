#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run that cannot be saved or restarted is refused before anything has changed: exit code 2 and
one line. A checkpoint that is damaged in any way is never accepted."""

import os
import random
import shutil
import signal
import subprocess
from pathlib import Path

from checkpoints import contents, restart_hint, latest, result, start, stop, wait_for_gvt
from programs import Programs, first_seed

MODEL = ["--objects", 137, "--until", 10000]

programs = Programs()
expect = programs.expect
seed = first_seed()
dice = random.Random(seed)
print(f"NUMAWARP_FIRST_SEED={seed}")

traffic = shutil.copy(programs.bin / "traffic", programs.work / "mine")
saved, output = programs.work / "saved", programs.work / "out"


def run(*arguments, program=traffic):
    done = subprocess.run(list(map(str, [program, *arguments])), capture_output=True, text=True,
                          timeout=120, cwd=programs.work)
    return done.returncode, done.stderr


def files_below(folder):
    """All files except the lock files, which identify the run that uses a folder."""
    return {path: path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name != ".lock"}


def expect_refused(what, words, *arguments, program=traffic):
    before = files_below(programs.work)
    code, errors = run(*MODEL, "--quiet", "--workers", 2, *arguments, program=program)
    expect(code == 2 and errors.startswith("numawarp: ") and errors.count("\n") == 1
           and words in errors, f"{what}: {code}, {errors.strip()!r}")
    if files_below(programs.work) != before:
        expect(False, f"{what}: files have changed")


# This run is stopped before its end. Other runs that need its folder meanwhile wait some seconds.
stopped = start(programs, traffic, *MODEL,
                "--engine", "timewarp", "--workers", 2, "--quiet", "--output", output, "--checkpoint", saved,
                "--checkpoint-period", 0.05)
expect(wait_for_gvt(stopped, saved), "a run is under way")
stopped.send_signal(signal.SIGSTOP)
for option in ["--checkpoint", "--restart"]:
    code, errors = run(*MODEL, "--quiet", "--output", output, option, saved)
    expect(code == 2 and f"{option} {saved}: another run uses it (process {stopped.pid} on " in errors,
           f"{option} meanwhile: {code} {errors.strip()!r}")
stopped.send_signal(signal.SIGCONT)
stopped.terminate()
errors = stopped.communicate(timeout=60)[1]
expect(stopped.returncode == 0 and restart_hint(errors), f"and the run is saved: {errors!r}")
restart = ["--output", output, "--restart", saved]

# --- another run ---

other = Path(shutil.copy(traffic, programs.work / "other"))
with open(other, "ab") as file:
    file.write(b"!")  # acts like another build
for what, words, arguments in [
        ("another seed", "--seed is 2 here and was 1", ["--seed", 2]),
        ("another option of the model", "--inter-arrival is 30 here and was 0 when", ["--inter-arrival", 30]),
        ("another number of LPs", "--objects is 138 here", ["--objects", 138]),
        ("an end that it has passed", "the saved run has reached", ["--until", 0.5])]:
    expect_refused(what, words, *restart, *arguments)
expect_refused("another division into groups", "--lps-per-group 3: a restarted run keeps its groups",
               *restart, "--lps-per-group", 3)
expect_refused("another output", "output folder of the saved run", "--output",
               programs.work / "nowhere", "--restart", saved)
expect(not (programs.work / "nowhere").exists(), "and no folder is made")
expect_refused("without its output", "--output is off here", "--restart", saved)
expect_refused("another build", "the program is", *restart, program=other)
code, errors = run("--quiet", *restart, program=programs.bin / "phold")
expect(code == 2 and "the model is phold here and was traffic" in errors, f"another model: {errors.strip()!r}")

own_network = programs.work / "own.toml"
JUNCTION = '[[junction]]\nname = "{}"\nlatitude = 45.0\nlongitude = 9.0\ninter_arrival_s = 30.0\n' \
           'leave_probability = 0.5\nlength_km = 1.0\nlanes = {}\n'
ROUTE = '[[route]]\nmotorway = "A1"\nfrom = "A"\nto = "B"\nlength_km = 20.0\nlanes = 2\n'
own_network.write_text(JUNCTION.format("A", 2) + JUNCTION.format("B", 2) + ROUTE)
files = programs.work / "of-own-network"
own = ["--network", own_network, "--objects", 100, "--until", 1e9, "--quiet"]
code, errors = stop(start(programs, traffic, *own, "--checkpoint", files, "--checkpoint-period", 0.05), files)
expect(code == 0, f"a run with its own network file is saved: {errors}")
own_network.write_text(own_network.read_text().replace("lanes = 2", "lanes = 3"))
code, errors = run(*own, "--restart", files)
expect(code == 2 and "the content of --network is" in errors and errors.count("\n") == 1,
       f"another content of a file: {code} {errors.strip()!r}")

# --- not possible with this configuration ---

expect_refused("--memory libc", "--memory numa", *restart, "--memory", "libc")
fresh = ["--checkpoint", programs.work / "fresh"]
for engine in ["sequential", "conservative"]:
    expect_refused(f"--memory libc, {engine}", "--memory numa", *fresh, "--engine", engine, "--memory", "libc")
expect_refused("--checkpoint, libc", "--memory numa", *fresh, "--memory", "libc")
for seconds in ["0", "-1", "often", "nan", "inf"]:
    expect_refused(f"--checkpoint-period {seconds}", "--checkpoint-period", *fresh,
                   "--checkpoint-period", seconds)
expect_refused("--checkpoint-period without --checkpoint", "needs --checkpoint DIR", "--checkpoint-period", "1")
limited = programs.work / "limited"
limited.write_text(f"#!/bin/sh\nulimit -v 8000000\nexec {traffic} \"$@\"\n")
limited.chmod(0o755)
expect_refused("ulimit -v, --restart", "ulimit -v", *restart, program=limited)
code, errors = run(*MODEL, "--quiet", *fresh, program=limited)
expect(code == 2 and "ulimit -v" in errors and errors.count("\n") == 1,
       f"ulimit -v, --checkpoint: {code} {errors.strip()!r}")

# --- no such folder ---

(programs.work / "empty").mkdir()
for what, folder in [("no folder", "nowhere"), ("an empty folder", "empty"), ("a file", "mine"),
                     ("a device", "/dev/null")]:
    expect_refused(f"--restart, {what}", "has no checkpoint", "--output", output, "--restart",
                   programs.work / folder)
expect_refused("--checkpoint in a folder that has a checkpoint", f"--restart {saved}", "--checkpoint", saved)
for what, path in [("a file", traffic), ("below a file", f"{traffic}/saved"), ("a device", "/dev/full"),
                   ("not writable", "/proc/saved"), ("too long", "n" * 300)]:
    expect_refused(f"--checkpoint, {what}", "must be a writable folder", "--checkpoint", path)

# --- the tables have changed ---

# (roads.csv is written only at the end of a run. So it contains only its header now.)
table, = output.glob("*.csv")
whole = table.read_bytes()
for what, damage in [("missing", table.unlink), ("too short", lambda: table.write_bytes(whole[:5])),
                     ("another", lambda: table.write_bytes(b"x" * len(whole)))]:
    damage()
    expect_refused(f"a table is {what}", str(table), *restart)
    table.write_bytes(whole)

# --- damaged ---


def remove(path):
    if path.is_dir():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


counts = saved / latest(saved)["folder"]
for file in [saved / "latest.json", *sorted(counts.iterdir())]:
    whole = file.read_bytes()
    bit = dice.randrange(8 * len(whole))
    flipped = bytearray(whole)
    flipped[bit // 8] ^= 1 << bit % 8
    cut = dice.randrange(1, len(whole) - 2)
    damages = [("is empty", b""), (f"is cut off after {cut} bytes", whole[:cut])]
    # latest.json is not damaged in these ways: without its last line end, it has the same content,
    # and some of its content is only for human readers.
    if file.name != "latest.json":
        damages += [("is without its last byte", whole[:-1]), (f"has bit {bit} flipped", flipped)]
    for what, damaged in damages:
        file.write_bytes(damaged)
        expect_refused(f"{file.name} {what}", "--restart", *restart)
    for what, put in [("is missing", lambda: None), ("is a folder", file.mkdir),
                      ("is a pipe", lambda: os.mkfifo(file)),
                      ("is a link to itself", lambda: file.symlink_to(file.name))]:
        remove(file)
        put()
        expect_refused(f"{file.name} {what}",
                       "--restart" if what == "is missing" else str(file), *restart)
    remove(file)
    file.write_bytes(whole)
# --checkpoint refuses a folder whose latest.json is a folder, a pipe or a broken link, because a
# later --restart could not read this file.
for what, put in [("a folder", lambda path: path.mkdir()), ("a pipe", os.mkfifo),
                  ("a link to nothing", lambda path: path.symlink_to("nothing"))]:
    strange = programs.work / what
    strange.mkdir()
    put(strange / "latest.json")
    expect_refused(f"--checkpoint where latest.json is {what}", f"--checkpoint {strange}: ",
                   "--checkpoint", strange)

# --- undamaged again: continued into another folder, by other workers ---

before = files_below(saved)
elsewhere = programs.work / "elsewhere"
stats = programs.work / "went-on.json"
code, errors = run(*MODEL, "--quiet", "--engine", "timewarp", "--workers", 3, *restart, "--checkpoint", elsewhere,
                   "--checkpoint-period", "0.1", "--stats", stats)
expect((code, errors) == (0, ""), f"the run continues after these refusals: {code} {errors!r}")
expect(files_below(saved) == before, "and keeps the checkpoint from which it continued")
expect(latest(elsewhere) is not None, "with new checkpoints in another folder")
programs.statistics_of(programs.bin / "traffic", *MODEL, "--engine", "sequential", "--output",
                       programs.work / "reference")
expect(result(stats) == result(programs.work / "stats.json"), f"the run reaches the same end: {result(stats)}")
expect(contents(output) == contents(programs.work / "reference"), "with the same files")

programs.leave()
