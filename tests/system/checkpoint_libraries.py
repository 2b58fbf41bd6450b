#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""States may contain pointers into shared libraries (streams, regular expressions, memory
resources, functions, coroutines). Runs that are saved or restarted load their libraries at equal
addresses, and have the same digest after kills and with other numbers of workers. If the addresses
cannot be equal, one line reports this, and a restart with a library at another address, or with
another library, is refused."""

import os
import re
import resource
import shutil
import signal
import subprocess
from pathlib import Path

from checkpoints import gvt, result, start, stop
from programs import CHECKOUT, Programs

MODEL = ["library_objects", "--until", 4000]
UNFIXED = [CHECKOUT / "tests/support/refuse.py", "personality=1"]

programs = Programs()
expect = programs.expect
stats, checkpoint = programs.work / "stats.json", programs.work / "checkpoint"
programs.statistics_of(*MODEL, "--engine", "sequential")
reference = result(stats)
plain = [programs.bin / MODEL[0], *MODEL[1:], "--quiet", "--stats", stats]
saving = [*plain, "--checkpoint", checkpoint, "--checkpoint-period", "0.1"]


def stopped(number, *command):
    """(exit code, stderr) of a run that is stopped after it has written a new checkpoint."""
    beyond = gvt(checkpoint)
    run = start(programs, *command, *(["--restart", checkpoint] if beyond else []))
    return stop(run, checkpoint, beyond, number)


def refused(what, words, *command, **more):
    run = start(programs, *command, "--restart", checkpoint, **more)
    errors = run.communicate(timeout=120)[1]
    expect(run.returncode == 2 and errors.startswith("numawarp: --restart: ")
           and errors.count("\n") == 1 and all(word in errors for word in words),
           f"{what}: {run.returncode} {errors.strip()!r}")


def go_on_to_the_end(what, *command):
    stats.unlink(missing_ok=True)
    run = start(programs, *command, "--restart", checkpoint)
    errors = run.communicate(timeout=240)[1]
    expect((run.returncode, errors) == (0, "") and result(stats) == reference,
           f"{what}: {run.returncode} {errors!r}")


# --- the actions of main() happen once, with the original arguments ---

name = "library objects"  # as argv[0]
config = programs.work / "run.toml"
config.write_text(f'checkpoint = "{programs.work / "by-file"}"\n')
for words in [["--checkpoint", programs.work / "once"], [f"--checkpoint={programs.work / 'joined'}"],
              ["--config", config], []]:
    done = subprocess.run([name, "--until", "1", "--quiet", *map(str, words)],
                          executable=programs.bin / MODEL[0], input="one\ntwo\n", text=True,
                          capture_output=True, timeout=60, cwd=programs.work,
                          env={**os.environ, "LIBRARY_OBJECTS_SAY": "1"})
    expect(done.returncode == 0 and not done.stderr
           and done.stdout == f"read one, {name} with {3 + len(words)} words, mark 0\n",
           f"{words[:1]}: {done.stdout.strip()!r} {done.stderr!r}")

# --- a program whose addresses cannot be fixed ---

unfixed = subprocess.run([*UNFIXED, "true"]).returncode == 0
moves = int(Path("/proc/sys/kernel/randomize_va_space").read_text()) > 0
if unfixed and moves:
    code, errors = stopped(signal.SIGTERM, *UNFIXED, *saving, "--engine", "timewarp", "--workers", 2)
    # Bytes that the objects of a handler leave uninitialized may contain pointers from other stack
    # frames. They cause at most a warning.
    lines = [line for line in errors.splitlines() if "look like pointers to memory outside of the LPs" not in line]
    expect(code == 0 and len(lines) == 2 and "libstdc++" in lines[0]
           and "personality(2): Operation not permitted" in lines[0],
           f"if addresses cannot be fixed, one line reports this: {code} {lines}")
    refused("from there", ["libstdc++", "words in LPs point into"], *saving)
    shutil.rmtree(checkpoint)
    done = subprocess.run(list(map(str, [*UNFIXED, programs.bin / "phold", "--until", 5, "--checkpoint",
                                         programs.work / "phold"])), capture_output=True, text=True,
                          timeout=60)
    expect(done.returncode == 0 and done.stdout.count("different addresses in each process") == 1
           and not done.stderr, "and a notice is printed even if no state points to a library")
else:
    print("skipped: no run without fixed addresses here")

# --- kills, and other numbers of workers ---

for workers, number, code in [(2, signal.SIGKILL, -9), (1, signal.SIGTERM, 0), (3, signal.SIGKILL, -9),
                              (2, signal.SIGTERM, 0)]:
    ended = stopped(number, *saving, "--engine", "timewarp", "--workers", workers)
    expect(ended[0] == code, f"{workers} workers, {number.name}: {ended}, saved at {gvt(checkpoint):g}")
    expect("into the library" not in ended[1], "and no notice mentions libraries")

# --- other libraries, or another address ---

listed = subprocess.run(["ldd", programs.bin / MODEL[0]], capture_output=True, text=True).stdout
library = Path(re.search(r"=> (\S*/libstdc\+\+\S*) ", listed)[1])
notes = subprocess.run(["readelf", "-n", library], capture_output=True, text=True).stdout
identity = re.search(r"Build ID: ([0-9a-f]+)", notes)[1]
others = programs.work / "others"
others.mkdir()
another = bytes.fromhex(identity)[::-1]
(others / library.name).write_bytes(library.read_bytes().replace(bytes.fromhex(identity), another))
refused("another build of a library", [library.name, identity, another.hex()], *plain,
        env={**os.environ, "LD_LIBRARY_PATH": str(others)})


def lies_at(*more):
    """The address at which the loader places the library without randomization."""
    told = subprocess.run(["setarch", "-R", "env", "LD_TRACE_LOADED_OBJECTS=1", *more,
                           programs.bin / MODEL[0]], text=True, capture_output=True).stdout
    return re.search(re.escape(library.name) + r" => \S+ \((0x\w+)\)", told)[1]


one_more = "libanl.so.1"
if lies_at(f"LD_PRELOAD={one_more}") == lies_at():
    print("skipped: an additional library moves no library here, because large ones are aligned to huge pages")
else:
    refused("an additional library before the others", ["words in LPs point into the library"], *plain,
            env={**os.environ, "LD_PRELOAD": one_more})
if resource.getrlimit(resource.RLIMIT_STACK)[1] == resource.RLIM_INFINITY:
    refused("another layout of the address space", ["words in LPs point into", "ulimit -s"],
            "sh", "-c", 'ulimit -s unlimited && exec "$@"', "sh", *plain)

go_on_to_the_end("the run continues after these refusals", *plain, "--workers", 3)
programs.leave()
