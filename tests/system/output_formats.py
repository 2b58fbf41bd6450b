#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `--output-format`. Every value of the HDF5 tables equals the value of the CSV tables, on
one rank and on two, for all types of values. The CSV files are removed if only HDF5 is requested,
and stay if there are no other results: when the run is killed, when it is saved for a restart, and
when the disk has no room for HDF5."""

import csv
import json
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

from programs import CHECKOUT, Programs, python_with

programs = Programs()
python = python_with("h5py")

# Prints the content of a file. JSON keeps every float, but has no type for bytes.
READER = """
import h5py, json, sys
with h5py.File(sys.argv[1]) as file:
    (name, table), = file.items()
    facts = {key: value.tolist() if hasattr(value, "tolist") else value
             for key, value in table.attrs.items()}
    columns = {key: (str(data.dtype), (data.asstr() if data.dtype == object else data)[:].tolist())
               for key, data in table.items()}
print(json.dumps([name, facts, columns]))
"""


def hdf5_table(path):
    done = subprocess.run([python, "-c", READER, path], capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        sys.exit(f"{path}: {done.stderr}")
    return json.loads(done.stdout)


def csv_table(path):
    with open(path, newline="") as file:
        names, *rows = csv.reader(file)
    return names, list(zip(*rows)) or [()] * len(names)


def same(cell, value):
    if isinstance(value, str):
        return cell == value
    if isinstance(value, int):
        return int(cell) == value
    return math.isnan(value) if cell in ("", "nan") else float(cell) == value


def expect_same(name, csv_path, hdf5_path):
    names, columns = csv_table(csv_path)
    table, facts, data = hdf5_table(hdf5_path)
    good = (table == csv_path.stem and facts["columns"] == names and set(data) == set(names)
            and all(len(cells) == len(data[column][1])
                    and all(map(same, cells, data[column][1]))
                    for column, cells in zip(names, columns)))
    programs.expect(good, f"{name}: {len(columns[0])} rows of {len(names)} columns are equal")
    return facts, {column: data[column][0] for column in names}


def run(ranks, model, *options):
    command = [programs.bin / model, *map(str, options), "--quiet", "--engine", "timewarp", "--workers", 2,
               "--lps-per-group", 1]
    if ranks > 1:
        command = [sys.executable, CHECKOUT / "jobs/lib/launch.py", ranks, *command]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120)


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())


def check_formats(model, tables, ranks, *options):
    """Compares the formats of one run with the CSV of one rank; returns the content of the HDF5
    files."""
    name = f"{model} on {ranks} rank{'s' * (ranks > 1)}"
    folders = {"csv": programs.work / f"{model}-1-csv"}
    for form in ("csv", "hdf5", "both")[ranks > 1:]:
        folders[form] = programs.work / f"{model}-{ranks}-{form}"
        done = run(ranks, model, *options, "--output", folders[form], "--output-format", form)
        programs.expect(done.returncode == 0, f"{name}: {form}: {done.stderr.strip()}")
        wanted = {"csv": [".csv"], "hdf5": [".h5"], "both": [".csv", ".h5"]}[form]
        found = [file for file in files_in(folders[form]) if not file.endswith(".svg")]
        programs.expect(found == sorted(table + end for table in tables for end in wanted),
                        f"{name}: {form}: {found}")
    said = {}
    for table in tables:
        programs.expect((folders["csv"] / f"{table}.csv").read_bytes()
                        == (folders["both"] / f"{table}.csv").read_bytes(),
                        f"{name}: {table}: one CSV")
        for form in ("hdf5", "both"):
            said[table] = expect_same(f"{name}: {table}: {form}", folders["csv"] / f"{table}.csv",
                                      folders[form] / f"{table}.h5")
    return said


OTHER_HDF5 = """
int H5get_libversion(unsigned* major, unsigned* minor, unsigned* release)
{ *major = 1; *minor = 2; *release = 3; return 0; }
"""


def check_version():
    """A library whose version differs from the program's is refused before the run: HDF5 would
    abort the process later."""
    source, library = programs.work / "other_hdf5.c", programs.work / "other_hdf5.so"
    source.write_text(OTHER_HDF5)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    for form, code in (("hdf5", 2), ("both", 2), ("csv", 0)):
        done = subprocess.run([programs.bin / "queues", "--until", "20", "--quiet", "--output", programs.work / "other",
                               "--output-format", form], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "LD_PRELOAD": str(library)})
        programs.expect(done.returncode == code, f"HDF5 1.2.3, {form}: exit code {done.returncode}")
        programs.expect(code == 0 or ("1.2.3" in done.stderr and len(done.stderr.splitlines()) == 1),
                        f"HDF5 1.2.3, {form}: {done.stderr.strip()}")


def check_models(ranks):
    # The table has more rows than are written in one piece.
    said = check_formats("table_writer", ["empty", "kinds"], ranks, "--until", 2500)
    types = {"time": "float64", "integer": "int64", "real": "float64", "quoted text": "object",
             "text": "object", "either": "float64", "any": "object", "gaps": "float64",
             "first": "object", "large": "uint64", "mixed": "object", "letter": "object",
             "flag": "int64", "no UTF-8": "object", "blank": "object"}
    programs.expect(said["kinds"][1] == types, f"types of columns: {said['kinds'][1]}")
    programs.expect(set(said["empty"][1].values()) == {"object"}, "types of columns without rows")

    check_formats("queues", ["measures", "stations"], ranks, "--until", 50)
    _, types = check_formats("traffic", ["roads"], ranks, "--objects", 140,
                             "--until", 3_700)["roads"]
    programs.expect(types["hour"] == "int64" and types["length_km"] == "float64"
                    and types["mean_speed_km_per_h"] == "float64", "types of traffic's columns")
    programs.expect((programs.work / f"traffic-{ranks}-hdf5/network.svg").exists(),
                    "traffic draws its picture even without CSV")


def check_facts():
    stats = programs.work / "stats.json"
    folder = programs.work / "facts"
    run(1, "table_writer", "--seed", 2**64 - 1, "--output", folder, "--output-format", "hdf5",
        "--stats", stats)
    _, facts, _ = hdf5_table(folder / "kinds.h5")
    ran = json.loads(stats.read_text())
    for key in ("model", "seed", "digest", "commit", "version"):
        programs.expect(facts[key] == ran[key], f"the file contains its {key}: {facts[key]}")
    # The line of docs/how-to/output.md.
    line = ('t = h5py.File("kinds.h5")["kinds"]; '
            'd = {c: (t[c].asstr() if t[c].dtype == object else t[c])[:] for c in t.attrs["columns"]}')
    done = subprocess.run([python, "-c", f"import h5py; {line}; print(*d)"], cwd=folder,
                          capture_output=True, text=True)
    programs.expect(done.stdout.startswith("time integer real "), f"a line of Python reads the table: {done.stdout}")


def check_r():
    """The lines of docs/how-to/output.md, if R and the packages that they need are installed."""
    if shutil.which("Rscript") is None or subprocess.run(
            ["Rscript", "-e", "loadNamespace('hdf5r')"], capture_output=True).returncode != 0:
        print("skipped  R: no hdf5r here (Debian: r-cran-hdf5r)")
        return
    document = (CHECKOUT / "docs/how-to/output.md").read_text()
    lines = document.split("```r\n")[1].split("```")[0]
    folder = programs.work / "results"
    run(1, "traffic", "--objects", 140, "--until", 7_300, "--output", folder, "--output-format", "both")
    done = subprocess.run(
        ["Rscript", "-e", f"{lines}\nwrite.csv(roads, 'read.csv', row.names = FALSE)"],
        cwd=programs.work, capture_output=True, text=True, timeout=120)
    programs.expect(done.returncode == 0, f"R reads a table: {done.stderr}")
    if done.returncode == 0:
        (names, rows), (read_names, read) = map(csv_table, (folder / "roads.csv",
                                                            programs.work / "read.csv"))
        # R writes numbers to CSV with fifteen digits.
        same_rows = all(a == b or math.isclose(float(a), float(b), rel_tol=1e-14)
                        for ours, theirs in zip(rows, read) for a, b in zip(ours, theirs))
        programs.expect(read_names == names and len(read[0]) == len(rows[0]) > 0 and same_rows,
                        f"R has the same {len(read[0])} rows of {len(read)} columns")


def check_refusals():
    folder = programs.work / "refused"
    blocked = programs.work / "blocked"
    (blocked / "kinds.h5").mkdir(parents=True)
    for name, options, words in [
            ("a wrong word", ["--output", folder, "--output-format", "hdf"],
             ["--output-format hdf", "csv, hdf5 or both"]),
            ("no output", ["--output-format", "hdf5"], ["--output-format hdf5", "--output DIR"]),
            ("a name that HDF5 cannot have",
             ["--output", folder, "--output-format", "both", "--last-column", "km/h"],
             ['"km/h"', "allowed for this model: csv"]),
            ("a name that occurs twice",
             ["--output", folder, "--output-format", "both", "--last-column", "time"], ['"time"']),
            ("a folder in the file's place", ["--output", blocked, "--output-format", "hdf5"],
             ["kinds.h5 is a folder"])]:
        for ranks in (1, 2):
            done = run(ranks, "table_writer", *options)
            errors = [line for line in done.stderr.splitlines() if line.startswith("numawarp: --")]
            programs.expect(done.returncode == 2 and len(errors) == 1
                            and all(word in errors[0] for word in words),
                            f"{name}, {ranks}: exit code {done.returncode}: {errors}")
    for last_column in ("km/h", "time"):
        done = run(1, "table_writer", "--output", folder, "--last-column", last_column)
        programs.expect(done.returncode == 0, f"CSV may have a column {last_column}")


def check_no_room():
    """No file may be larger than 4 KiB: the CSV files are smaller, but HDF5 files would be
    larger."""
    folder = programs.work / "no-room"
    done = subprocess.run(
        [programs.bin / "table_writer", "--until", "3", "--quiet", "--output", folder,
         "--output-format", "hdf5"], capture_output=True, text=True, timeout=60,
        restore_signals=False,  # SIGXFSZ stays ignored as in Python, so that the write fails
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
    programs.expect(done.returncode == 4 and len(done.stderr.splitlines()) == 1
                    and ".h5" in done.stderr and "File too large" in done.stderr,
                    f"no room: exit code {done.returncode}: {done.stderr.strip()}")
    programs.expect("kinds.csv" in files_in(folder) and "empty.csv" in files_in(folder)
                    and not any(name.endswith(".part") for name in files_in(folder)),
                    f"no room: the CSV file is kept: {files_in(folder)}")


def stopped(number, folder, *options, until=1e12):
    """A run that a signal stops after it has written some rows."""
    shutil.rmtree(folder, ignore_errors=True)
    with subprocess.Popen(
            list(map(str, [programs.bin / "table_writer", "--until", until, "--engine", "timewarp", "--workers", 2,
                           "--lps-per-group", 1, "--quiet", "--output", folder, "--output-format",
                           "hdf5", *options])), stderr=subprocess.PIPE, text=True) as running:
        deadline = time.monotonic() + 60
        while running.poll() is None and time.monotonic() < deadline and not (
                (folder / "kinds.csv").exists()
                and (folder / "kinds.csv").stat().st_size > 100_000):
            time.sleep(0.005)
        running.send_signal(number)
        running.communicate(timeout=120)
    return running.returncode


def check_stops():
    folder = programs.work / "stopped"
    code = stopped(signal.SIGINT, folder)
    programs.expect(code == 130 and files_in(folder) == ["empty.h5", "kinds.h5"],
                    f"SIGINT: exit code {code}: {files_in(folder)}")
    programs.expect(len(hdf5_table(folder / "kinds.h5")[2]["time"][1]) > 100,
                    "SIGINT: the file contains the committed rows")
    code = stopped(signal.SIGKILL, folder)
    programs.expect(code == -signal.SIGKILL and files_in(folder) == ["empty.csv", "kinds.csv"],
                    f"SIGKILL: exit code {code}: {files_in(folder)}")


def check_restart():
    folder, saved, whole = (programs.work / name for name in ("restarted", "saved", "whole"))
    until = 8_000
    code = stopped(signal.SIGTERM, folder, "--checkpoint", saved, until=until)
    programs.expect(code == 0 and files_in(folder) == ["empty.csv", "kinds.csv"],
                    f"saved for a later restart: exit code {code}: {files_in(folder)}")
    done = run(1, "table_writer", "--until", until, "--output", folder, "--output-format", "both",
               "--restart", saved)
    run(1, "table_writer", "--until", until, "--output", whole, "--output-format", "both")
    programs.expect(done.returncode == 0 and (folder / "kinds.csv").read_bytes()
                    == (whole / "kinds.csv").read_bytes(),
                    f"restarted: the CSV equals that of a run in one piece {done.stderr.strip()}")
    programs.expect((folder / "kinds.h5").read_bytes() == (whole / "kinds.h5").read_bytes(),
                    "restarted: the HDF5 equals that of a run in one piece, to the byte")


def check_death_at_the_end():
    """The run is killed when it writes its statistics into a pipe without a reader. The folder
    still contains the CSV files of an unfinished run, and the run can be restarted once more."""
    folder, saved, whole = (programs.work / name for name in ("dying", "dying-saved", "whole"))
    until = 8_000
    stopped(signal.SIGTERM, folder, "--checkpoint", saved, until=until)
    pipe = programs.work / "pipe"
    os.mkfifo(pipe)
    again = [programs.bin / "table_writer", "--until", str(until), "--quiet", "--output", folder,
             "--output-format", "hdf5", "--restart", saved]
    with subprocess.Popen([*again, "--stats", pipe]) as dying:
        os.close(os.open(pipe, os.O_RDONLY))
        code = dying.wait(timeout=120)
    programs.expect(code == -signal.SIGPIPE and files_in(folder) == [
        "empty.csv", "empty.h5", "kinds.csv", "kinds.h5"],
                    f"killed before the statistics: {code}: {files_in(folder)}")
    done = subprocess.run(again, capture_output=True, text=True, timeout=120)
    programs.expect(done.returncode == 0 and files_in(folder) == ["empty.h5", "kinds.h5"]
                    and (folder / "kinds.h5").read_bytes() == (whole / "kinds.h5").read_bytes(),
                    f"restarted once more: the HDF5 equals that of a run in one piece {done.stderr.strip()}")


check_models(1)
check_facts()
check_r()
check_stops()
check_restart()
check_death_at_the_end()
check_no_room()
if shutil.which("mpirun") is None:
    print("not run on two ranks: there is no mpirun here (Debian: openmpi-bin)")
else:
    check_models(2)
check_refusals()
check_version()
programs.leave()
