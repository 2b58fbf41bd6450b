#!/usr/bin/env python3
"""Every kind of wrong input ends with the contract's exit code and exactly one line on standard
error, which names what is wrong; nothing goes to standard output. Shown on the programs themselves."""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from programs import Programs  # noqa: E402

programs = Programs()


def refused(code, fragments, program, *arguments):
    done = programs.run(program, *arguments)
    lines = done.stderr.splitlines()
    good = (done.returncode == code and len(lines) == 1 and not done.stdout
            and lines[0].startswith("numawarp: ")
            and all(fragment in lines[0] for fragment in fragments))
    programs.expect(good, f"{program} {' '.join(map(str, arguments))} -> {done.returncode}: "
                          f"{done.stderr.strip()!r}")


def file_with(text, name="options.toml"):
    path = programs.work / name
    path.write_text(text)
    return path


# Options of the engine.
refused(2, ["--workers 0", "from 1 to 4096"], "phold", "--workers", "0")
refused(2, ["--wrokers", "unknown", "--workers"], "phold", "--wrokers", "2")
refused(2, ["stray"], "phold", "stray")
refused(2, ["--workers", "missing"], "phold", "--workers")
for time in ["-1", "0", "nan", "inf", "-inf", "1e999", "soon"]:
    refused(2, [f"--until {time}", "above 0"], "phold", "--until", time)
    refused(2, [f"--window {time}", "above 0"], "phold", "--window", time)
refused(2, ["--engine fast", "sequential"], "phold", "--engine", "fast")
refused(2, ["--rollback copy", "snapshot", "queues"], "queues", "--rollback", "copy")
refused(2, ["--engine conservative", "lookahead"], "queues", "--engine", "conservative")
refused(2, ["--engine conservative", "lookahead"],
        "phold", "--lookahead", "0", "--engine", "conservative")
refused(2, ["--memory-cap 12parsecs", "8G"], "phold", "--memory-cap", "12parsecs")
for daemon in ["2", "0@5", "65@5", "2@0", "2@nan", "2@1e9", "-1@5", "on", "2@5@6"]:
    refused(2, [f"--pagemigd {daemon}", "THREADS@SECONDS", "1 to 64", "auto", "off"],
            "phold", "--pagemigd", daemon)
for period in ["0", "-1", "nan", "1e6", "on"]:
    refused(2, [f"--rebind {period}", "above 0", "off"], "phold", "--rebind", period)
refused(2, ["--check-rebind 2", "from 0 to 1"], "phold", "--check-rebind", "2")
refused(2, ["--check-rebind 0.5", "--rebind off"],
        "phold", "--check-rebind", "0.5", "--rebind", "off")
refused(2, ["--trace", "timewarp"], "phold", "--trace", "t.json", "--engine", "sequential")
refused(2, ["--trace", "nowhere"], "phold", "--trace", "nowhere/t.json")
refused(2, ["--trace", "--stats is written there"],
        "phold", "--stats", "same.json", "--trace", "./same.json")
for option in ["--stats", "--trace"]:
    for table, more in [("stations.csv", []), ("stations.h5", ["--output-format", "hdf5"])]:
        refused(2, [option, "--output is written there"], "queues", "--output", "tables", *more,
                option, f"tables/../tables/{table}")

# The configuration file.
refused(2, ["--config", "absent.toml"], "phold", "--config", "absent.toml")
refused(2, ["options.toml", "workers = 0", "from 1 to 4096"],
        "phold", "--config", file_with("workers = 0\n"))
refused(2, ["options.toml", "wrokers", "workers"], "phold", "--config", file_with("wrokers = 1\n"))
refused(2, ["options.toml", "line 2"], "phold", "--config", file_with("seed = 1\nworkers =\n"))

# What cannot be written is found before the run: this one would take for ever.
for option, path in [("--stats", "/nonexistent/s.json"), ("--stats", "/"),
                     ("--output", "/dev/null/out"), ("--output", "/proc/out")]:
    refused(2, [f"{option} {path}", "can be written"],
            "phold", "--until", "1e300", option, path)

# Options of the models.
refused(2, ["--lps 0", "at least 1"], "phold", "--lps", "0")
refused(2, ["--state 17", "16, 64"], "phold", "--state", "17")
refused(2, ["--remote 1.5", "from 0 to 1"], "phold", "--remote", "1.5")
refused(2, ["--lookahead -1"], "phold", "--lookahead", "-1")
refused(2, ["--mean nan", "finite"], "phold", "--mean", "nan")
refused(2, ["--mean 0"], "phold", "--mean", "0", "--lookahead", "0")
refused(2, ["--payload 5000", "4096"], "phold", "--payload", "5000")
refused(2, ["--hot-spot 1.5", "from 0 to 1"], "phold", "--hot-spot", "1.5")
refused(2, ["--hot-spot 0.5", "only one LP"], "phold", "--hot-spot", "0.5", "--lps", "1")
refused(2, ["--hot-spot-lps 0", "above 0 and below 1"], "phold", "--hot-spot-lps", "0")
refused(2, ["--hot-spot-period 0", "above 0"], "phold", "--hot-spot-period", "0")
refused(2, ["--stations 0", "at least 1"], "queues", "--stations", "0")
refused(2, ["--service-mean", "above 0"], "queues", "--service-mean", "0")

# Files of the models.
JUNCTION = """[[junction]]
name = "{}"
inter_arrival_s = 10.0
leave_probability = 0.5
length_km = 1.0
lanes = 2
"""
ROUTE = """[[route]]
motorway = "A1"
from = "{}"
to = "{}"
length_km = 20.0
lanes = 2
"""
refused(2, ["--network absent.toml"], "traffic", "--network", "absent.toml")
refused(2, ["--network ."], "traffic", "--network", ".")
refused(2, ["--objects 100000000", "137"], "traffic", "--objects", "100000000")
refused(2, ["net.toml", "lanes"], "traffic", "--network",
        file_with(JUNCTION.format("A").replace("lanes = 2\n", ""), "net.toml"))
refused(2, ["net.toml", "connected"], "traffic", "--network",
        file_with("".join(map(JUNCTION.format, "ABCD")) + ROUTE.format("A", "B")
                  + ROUTE.format("C", "D"), "net.toml"))

# Rules that a handler breaks: the line names the LP and the virtual time of the event. LP 1 breaks
# them at time 3 in every case.
for engine in ["sequential", "timewarp", "conservative"]:
    for breach, fragment in [("past", "-1"), ("nan", "nan"), ("infinite", "inf"),
                             ("lookahead", "0.25"), ("lp", "99"), ("payload", "64"),
                             ("columns", "2"), ("exception", "the model's own words"),
                             ("null", ""), ("division", "")]:
        refused(3, ["LP 1", "time 3", fragment],
                "rule_breaker", "--engine", engine, "--workers", "2", "--breach", breach)

# Where nobody can be told, the exit code still says it; where results are wanted, that they are lost.
with open("/dev/full", "w") as full:
    done = subprocess.run([programs.bin / "phold", "--lps", "0"], stderr=full)
    programs.expect(done.returncode == 2, f"standard error is full: {done.returncode}")
    done = subprocess.run([programs.bin / "phold", "--lps", "64", "--until", "1"], stdout=full,
                          stderr=subprocess.PIPE, text=True)
    programs.expect(done.returncode == 4 and "standard output" in done.stderr
                    and len(done.stderr.splitlines()) == 1,
                    f"standard output is full: {done.returncode} {done.stderr.strip()}")

programs.leave()
