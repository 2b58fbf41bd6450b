#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program with a wrong command line or file ends with the documented exit code and exactly one
line on standard error, which names the error. Standard output stays empty. The test runs the real
programs. (Errors of a model: bad_setups.py; closed streams, full disks and other surroundings:
bad_surroundings.py.)"""

import os

from refusals import Refusals

programs = Refusals()
refused, file_with = programs.refused, programs.file_with


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
refused(2, ["--engine conservative", "lookahead"], "pcs", "--engine", "conservative")
for rollback in ["copy", "reverse"]:
    refused(2, [f"--rollback {rollback}", "pcs"],
            "pcs", "--state", "containers", "--rollback", rollback)
refused(2, ["--engine conservative", "lookahead"],
        "phold", "--lookahead", "0", "--engine", "conservative")
refused(2, ["--memory-cap 12parsecs", "8G"], "phold", "--memory-cap", "12parsecs")
for daemon in ["2", "0@5", "65@5", "2@0", "2@nan", "2@1e9", "-1@5", "on", "2@5@6"]:
    refused(2, [f"--pagemigd {daemon}", "THREADS@SECONDS", "1 to 64", "auto", "off"],
            "phold", "--pagemigd", daemon)
for period in ["0", "-1", "nan", "1e6", "on"]:
    refused(2, [f"--rebind {period}", "above 0", "off"], "phold", "--rebind", period)
refused(2, ["--check-rebind 2", "from 0 to 1"], "phold", "--check-rebind", "2")
refused(2, ["--proximity 2", "from 0 to 1", "auto"], "phold", "--place", "weighted", "--proximity", "2")
refused(2, ["--proximity near", "from 0 to 1", "auto"], "phold", "--place", "weighted", "--proximity", "near")
refused(2, ["--proximity 0", "needs --place weighted"], "phold", "--proximity", "0")
for content, fragments in [('{"bw": [[1, 2], [3]]}', ["row 1 of bw has 1 numbers", "allowed"]),
                           ('{"bw": [[1, -2], [3, 1]]}', ["bw[0][1] is -2", "above 0"]),
                           ('{"bw": [[1, 2], [0, 1]]}', ["bw[1][0] is 0", "above 0"]),
                           (f'{{"bw": {[[1] * 16] * 16}}}', ["a machine of 16 nodes", "allowed"]),
                           ("no machine", ["not valid JSON"])]:
    for place in "weighted", "asymsched":
        refused(2, ["machine.json", *fragments], "phold", "--place", place, "--machine",
                file_with(content, "machine.json"))
refused(2, ["nowhere.json", "No such file"], "phold", "--place", "weighted", "--machine", "nowhere.json")
refused(2, ["--check-rebind 0.5", "--rebind SECONDS"],
        "phold", "--check-rebind", "0.5", "--rebind", "off")
refused(2, ["--trace", "timewarp"], "phold", "--trace", "t.json", "--engine", "sequential")
refused(2, ["--check-rollback 0.5", "timewarp"],
        "phold", "--check-rollback", "0.5", "--engine", "sequential")
refused(2, ["--trace", "nowhere"], "phold", "--trace", "nowhere/t.json")
refused(2, ["--trace", "--stats uses the same file"],
        "phold", "--stats", "same.json", "--trace", "./same.json")
for option in ["--stats", "--trace"]:
    for table, more in [("stations.csv", []), ("stations.h5", ["--output-format", "hdf5"])]:
        refused(2, [option, "--output uses the same file"], "queues", "--output", "tables", *more,
                option, f"tables/../tables/{table}")

# Malformed numbers. Each kind of option value is tested with each of these numbers.
NO_NUMBERS = ["1,5", "1.5.5", "0x10", "+1", " 1", "1 ", "1e", "--1", "one", "1_000", "1'000", "٣", "½",
              "1e999", "-1e999", "nan(1)", "infinity", "\t1", b"\xff1"]
for number in NO_NUMBERS:
    refused(2, ["--until", "above 0, and finite"], "phold", "--until", number)
    refused(2, ["--workers", "whole number from 1 to 4096"], "phold", "--workers", number)
    refused(2, ["--mean", "from 0 up, and finite"], "phold", "--mean", number)
for number in ["-0", "1.0", "1e3", "18446744073709551616", "-1", "99999999999999999999999999"]:
    refused(2, ["--seed", "from 0 to 18446744073709551615"], "phold", "--seed", number)
for number in ["4294967296", "-1", "1.5", "1e6"]:
    refused(2, ["--lps", "from 1 to 4294967295"], "phold", "--lps", number)
for size in ["0", "-8G", "8GB", "8 G", "G", "1e30", "inf", "nan", "0x1G", "1023K"]:
    refused(2, [f"--memory-cap {size}", "at least 1048576"], "phold", "--memory-cap", size)
for option, value, allowed in [
        ("--gvt-interval", "0", "above 0, up to 60000"), ("--gvt-interval", "60001", "60000"),
        ("--state-saving-interval", "0", "or auto"), ("--state-saving-interval", "off", "or auto"),
        ("--lps-per-group", "0", "or auto"), ("--lps-per-group", "16777217", "16777216"),
        ("--check-rollback", "1.1", "from 0 to 1"), ("--check-rollback", "-0.1", "from 0 to 1"),
        ("--watchdog", "0", "above 0"), ("--watchdog", "auto", "above 0"),
        ("--pin", "yes", "on or off"), ("--pin", "ON", "on or off"), ("--net-thread", "1", "on or off"),
        ("--memory", "tcmalloc", "numa or libc"), ("--huge-pages", "always", "auto, on or off"),
        ("--output-format", "parquet", "csv, hdf5 or both"), ("--progress", "maybe", "auto, on or off"),
        ("--checkpoint-period", "0", "above 0"), ("--rollback", "none", "snapshot, copy or reverse"),
        ("--engine", "TimeWarp", "sequential, conservative, timewarp or auto")]:
    refused(2, [f"{option} {value}", allowed], "phold", option, value)

# Words that are not options.
for stray in ["", "-", "--", "---", "on", "=", "-5", b"\xff\xfe", "\n", "@file", "x" * 100_000]:
    refused(2, ["options begin with --" if not stray or str(stray)[0] not in "-" or stray in ("-", "--")
                else "unknown option"], "phold", stray)
for unknown in ["--", "-w", "--=", "--=2", "--worke", "--workers2", "--Workers", "--workers ", "--no-pin",
                "-workers", "--lps=4=", "--help=1", "--" + "y" * 100_000, b"--\xe4\xf6"]:
    refused(2, [""], "phold", unknown, "4")
for option in ["--workers", "--until", "--engine", "--stats", "--output", "--config", "--lps", "--window"]:
    refused(2, [option, "missing"], "phold", option)
    refused(2, [option, "missing"], "phold", option + "=")
    refused(2, [option, "missing"], "phold", option, "")
for flag in ["--quiet=", "--verbose="]:
    refused(2, ["missing", "on|off"], "phold", flag)
for flag in ["--quiet=yes", "--verbose=2", "--quiet=ON"]:
    refused(2, [flag.replace("=", " "), "on or off"], "phold", flag)
refused(2, ["--workers x", "whole number"], "phold", "--workers", "2", "--workers", "x")
refused(2, ["--workers " + "7" * 200 + "...", "100000 bytes"], "phold", "--workers", "7" * 100_000)

# Huge numbers: a resource that is not available is reported, whichever part of the program
# requested it.
MOST = 2**32 - 1
refused(4, ["memory"], "phold", "--lps", MOST, "--memory-cap", "64M")
refused(4, ["memory"], "phold", "--lps", MOST, "--memory-cap", "64M", "--engine", "sequential")
refused(4, ["memory"], "phold", "--lps", MOST, "--memory-cap", "64M", "--memory", "libc")
refused(2, ["--lps-per-group 1", "16777216"], "phold", "--lps", MOST, "--lps-per-group", 1)
refused(2, ["--lps-per-group", "from 1 to 16777216; or auto"], "phold", "--lps-per-group", MOST)
refused(4, ["memory"], "phold", "--lps", MOST, "--memory-cap", "64M", "--lps-per-group", 2**24)
refused(4, ["memory"], "queues", "--stations", MOST, "--memory-cap", "64M")
refused(4, ["memory"], "pcs", "--width", 65535, "--height", 65535, "--memory-cap", "64M")
refused(2, ["--objects 4294967295", "137"], "traffic", "--objects", MOST)

# The configuration file.
refused(2, ["--config", "absent.toml"], "phold", "--config", "absent.toml")
refused(2, ["options.toml", "workers = 0", "from 1 to 4096"],
        "phold", "--config", file_with("workers = 0\n"))
refused(2, ["options.toml", "wrokers", "workers"], "phold", "--config", file_with("wrokers = 1\n"))
for text, fragments in [
        ("seed = 1\nworkers =\n", ["line 2"]),
        ("seed = 1\nseed = 2\n", ["line 2"]),
        ("workers = \"two\"\n", ["workers = two", "whole number"]),
        ("workers = 2.5\n", ["workers = 2.5", "whole number"]),
        ("workers = true\n", ["workers = on", "whole number"]),
        ("workers = 9223372036854775807\n", ["workers = 9223372036854775807"]),
        ("workers = 9223372036854775808\n", ["line 1"]),
        ("until = 1e999\n", ["options.toml"]),
        ("until = nan\n", ["until = nan", "above 0"]),
        ("until = -inf\n", ["until = -inf", "above 0"]),
        ("until = 1979-05-27\n", ["until", "must be a number"]),
        ("until = 07:32:00\n", ["until", "must be a number"]),
        ("until = 1979-05-27T07:32:00Z\n", ["until", "must be a number"]),
        ("seed = [1, 2]\n", ["seed", "must be a number"]),
        ("seed = {a = 1}\n", ["seed", "must be a number"]),
        ("[engine]\nworkers = 1\n", ["engine", "must be a number"]),
        ("[[engine]]\nworkers = 1\n", ["engine", "must be a number"]),
        ("engine.workers = 1\n", ["engine", "must be a number"]),
        ("seed = " + "[" * 5000 + "]" * 5000 + "\n", ["options.toml"]),
        ("seed = " + "{a=" * 3000 + "1" + "}" * 3000 + "\n", ["options.toml"]),
        ("a." * 3000 + "b = 1\n", ["options.toml"]),
        ("engine = \"" + "x" * 2**20 + "\"\n", ["engine = xxx", "1048576 bytes"]),
        ("x" * 2**20 + " = 1\n", ["unknown key", "1048576 bytes"]),
        ("pin = \"maybe\"\n", ["pin = maybe", "on or off"]),
        ("pin = 1\n", ["pin = 1", "on or off"]),
        ("quiet = \"yes\"\n", ["quiet = yes", "on or off"]),
        ("engine = sequential\n", ["line 1"]),
        ("--engine = 1\n", ["--engine"]),
        ("config = \"options.toml\"\n", ["config", "unknown key"]),
        ("help = true\n", ["help", "unknown key"]),
        ("\"\" = 1\n", ["unknown key"]),
        ("\"a\\nb\" = 1\n", ["unknown key"]),
        ("= 1\n", ["line 1"]),
        ("seed 1\n", ["line 1"]),
        ("seed = 1 2\n", ["line 1"]),
        ("seed = \"1\n", ["line 1"]),
        ("seed = 0x\n", ["line 1"]),
        (b"seed = 1\n\x00\n", ["options.toml"]),
        (b"\xff\xfeseed = 1\n", ["options.toml"]),
        (b"engine = \"\xff\"\n", ["options.toml"]),
        (bytes(range(256)) * 8, ["options.toml"]),
        (b"\x7fELF\x02\x01\x01" + bytes(64), ["options.toml"]),
        ("{\"workers\": 2}\n", ["line 1"]),
        ("<toml/>\n", ["line 1"])]:
    refused(2, ["options.toml", *fragments], "phold", "--config", file_with(text))
refused(2, ["--config", "File too large"], "phold", "--config", file_with("#" * (5 << 20)))
for path, why in [(".", "directory"), ("/dev/full", "large"), ("/dev/zero", "large"), ("", "missing"),
                  ("options.toml/x", "directory"), ("/proc/self/mem", ""), ("loop", "symbolic"),
                  (b"caf\xe9.toml", "No such file"), ("n" * 5000, "too long"), ("a\nb", "No such file")]:
    if path == "loop":
        (programs.work / "loop").symlink_to("loop")
    refused(2, ["--config", why], "phold", "--config", path)
os.mkfifo(programs.work / "pipe")
refused(2, ["--config pipe", "must be a TOML file", "timed out"], "phold", "--config", "pipe")

# A path that cannot be written is detected before the run: this run would never end.
for option, path in [("--stats", "/nonexistent/s.json"), ("--stats", "/"),
                     ("--output", "/dev/null/out"), ("--output", "/proc/out")]:
    refused(2, [f"{option} {path}", "writable"],
            "phold", "--until", "1e300", option, path)

# Options of the models.
refused(2, ["--lps 0", "from 1 to 4294967295"], "phold", "--lps", "0")
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
refused(2, ["--stations 0", "from 1 to 4294967295"], "queues", "--stations", "0")
refused(2, ["--service-mean 0", "above 0"], "queues", "--service-mean", "0")
for side in ["--width", "--height"]:
    for value in ["0", "65536", "-1", "1.5"]:
        refused(2, [f"{side} {value}", "from 1 to 65535"], "pcs", side, value)
for mean in ["--call-mean", "--next-call-mean", "--move-mean"]:
    for value in ["0", "-1", "0.0009", "1e10", "nan", "off"]:
        refused(2, [f"{mean} {value}", "from 0.001 to 1000000000"], "pcs", mean, value)
refused(2, ["--portables 0", "from 1 to 4294967295"], "pcs", "--portables", "0")
refused(2, ["--channels -1", "from 0 to 4294967295"], "pcs", "--channels", "-1")
refused(2, ["--warm-up -1", "from 0"], "pcs", "--warm-up", "-1")
refused(2, ["--moves no", "on or off"], "pcs", "--moves=no")
refused(2, ["--state 104", "plain or containers"], "pcs", "--state", "104")
refused(2, ["--speed-deviation 111", "at most --speed-mean"], "traffic", "--speed-deviation", "111")
refused(2, ["--cars apart", "together or separate"], "traffic", "--cars", "apart")
refused(2, ["options.toml", "remote = 2", "from 0 to 1"],
        "phold", "--config", file_with("remote = 2\n"))

for option, value in [("--touch", "7"), ("--events-per-lp", "0"), ("--mean", "-1"), ("--payload", "x"),
                      ("--lookahead", "nan"), ("--hot-spot", "nan"), ("--hot-spot-lps", "1")]:
    refused(2, [f"{option} {value}"], "phold", option, value)
for option, value in [("--arrival-rate", "-1"), ("--arrival-rate", "inf"), ("--service-mean", "-1")]:
    refused(2, [option], "queues", option, value)
for option, value in [("--objects", "1"), ("--objects", "0"), ("--inter-arrival", "-1"),
                      ("--erlang-shape", "0"), ("--erlang-shape", "1001"), ("--speed-mean", "0"),
                      ("--speed-deviation", "1000"), ("--slowdown-deviation", "-1"),
                      ("--jam-density", "0"), ("--stop-probability", "1"), ("--stop-mean", "0"),
                      ("--stop-deviation", "-1"), ("--accidents", "often"),
                      ("--accident-variance", "0"), ("--accident-mean", "0"),
                      ("--accident-deviation", "-1"), ("--handover", "-1")]:
    refused(2, [f"{option} {value}"], "traffic", option, value)

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
for path in [".", "/dev/zero", "/dev/full", "pipe", "loop", "n" * 5000, b"caf\xe9.toml", "/proc/self/mem"]:
    refused(2, ["--network"], "traffic", "--network", path)
refused(2, ["--objects 100000000", "137"], "traffic", "--objects", "100000000")
refused(2, ["net.toml", "lanes"], "traffic", "--network",
        file_with(JUNCTION.format("A").replace("lanes = 2\n", ""), "net.toml"))
refused(2, ["net.toml", "connected"], "traffic", "--network",
        file_with("".join(map(JUNCTION.format, "ABCD")) + ROUTE.format("A", "B")
                  + ROUTE.format("C", "D"), "net.toml"))

GOOD = "".join(map(JUNCTION.format, "AB")) + ROUTE.format("A", "B")
for change, fragments in [
        ("", ["junction"]),
        (GOOD + "extra = 1\n", ["unknown key"]),
        ("[x]\n" + GOOD, ["unknown key"]),
        (GOOD.replace("lanes = 2", "lanes = 0"), ["lanes", "1 to 10"]),
        (GOOD.replace("lanes = 2", "lanes = 2.5"), ["lanes", "1 to 10"]),
        (GOOD.replace("lanes = 2", "lanes = \"two\""), ["lanes", "1 to 10"]),
        (GOOD.replace("lanes = 2", "lanes = 9223372036854775807"), ["lanes", "1 to 10"]),
        (GOOD.replace("20.0", "nan"), ["length_km", "km"]),
        (GOOD.replace("20.0", "inf"), ["length_km", "km"]),
        (GOOD.replace("20.0", "-1"), ["length_km", "km"]),
        (GOOD.replace("20.0", "1e300"), ["length_km", "km"]),
        (GOOD.replace("20.0", "[20.0]"), ["length_km", "number"]),
        (GOOD.replace("0.5", "1.5"), ["leave_probability", "0 to 1"]),
        (GOOD.replace("10.0", "0"), ["inter_arrival_s", "above 0"]),
        (GOOD.replace('from = "A"', 'from = "X"'), ["from", "unknown"]),
        (GOOD.replace('from = "A"', 'from = "B"'), ["the same"]),
        (GOOD.replace('name = "B"', 'name = "A"'), ["twice"]),
        (GOOD.replace('name = "B"', 'name = ""'), ["name", "not empty"]),
        (GOOD.replace('name = "B"', 'name = "a,b"'), ["name", "commas"]),
        (GOOD.replace('name = "B"', 'name = 5'), ["name", "text"]),
        (GOOD.replace('motorway = "A1"', 'motorway = 1'), ["motorway", "text"]),
        (GOOD + "via = [1, 2]\n", ["via"]),
        (GOOD + "via = [[91, 0]]\n", ["via"]),
        (GOOD + "via = [[nan, 0]]\n", ["via"]),
        (GOOD.replace("[[junction]]", "[junction]", 1), ["net.toml"]),
        ("junction = 5\n" + ROUTE, ["junction"]),
        ("junction = [1, 2]\n" + ROUTE, ["junction", "tables"]),
        ("junction = []\n", ["junction"]),
        ("outline = 1\n" + GOOD, ["outline"]),
        ("name = 7\n" + GOOD, ["name"]),
        (GOOD[:-20], ["net.toml"]),
        (GOOD.encode() + b"\xff", ["net.toml"]),
        (b"\0" * 100, ["net.toml"]),
        ("route = " + "[" * 5000, ["net.toml"])]:
    refused(2, ["net.toml", *fragments], "traffic", "--network", file_with(change, "net.toml"))

# Rules that a handler breaks: the line names the LP and the virtual time of the event. In every
# case, LP 1 breaks the rule at time 3.
for engine in ["sequential", "timewarp", "conservative"]:
    for breach, fragment in [("past", "-1"), ("nan", "nan"), ("infinite", "inf"),
                             ("lookahead", "0.25"), ("lp", "99"), ("payload", "64"),
                             ("columns", "2"), ("exception", "the model's own words"),
                             ("null", ""), ("division", "")]:
        refused(3, ["LP 1", "time 3", fragment],
                "rule_breaker", "--engine", engine, "--workers", "2", "--breach", breach)
    # If two LPs fail in on_start(), the LP with the smaller number is named, even if it fails
    # later.
    refused(3, ["LP 1 at time 0 in on_start()", "the model's own words"],
            "rule_breaker", "--engine", engine, "--workers", "2", "--breach", "two_starts")

# Input that looks wrong but is allowed.
for arguments in [["--quiet", "off", "--verbose", "on", "--quiet"], ["--quiet=on"],
                  ["--quiet", "--seed", "1", "--seed", "2"], ["--quiet", "--remote", "-0"],
                  ["--quiet", "--mean", "1E0", "--until", ".5"], ["--config=/dev/null", "--quiet"],
                  ["--quiet", "--config", file_with("\ufeffseed = 0x10\npin = false\n", "bom.toml")]]:
    programs.accepted("phold", "--lps", 4, "--until", 1, "--workers", 1, *arguments)
programs.accepted("phold", "--wrokers", "--help", says="--workers")

programs.leave()
