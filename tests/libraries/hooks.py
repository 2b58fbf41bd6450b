#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Model::on_process_start() is called once, before setup(). on_worker_start() is called on every
thread that runs handlers. A failure in one of these hooks ends the program with exit code 2 and one
line, on every engine."""

from programs import Programs

programs = Programs()

for engine, workers in (("sequential", 1), ("conservative", 3), ("timewarp", 1), ("timewarp", 3)):
    arguments = ["--engine", engine, "--workers", workers, "--quiet"]
    done = programs.run("library_starter", *arguments)
    programs.expect(done.returncode == 0, f"{engine}, {workers}: {done.stderr.strip() or 'well'}")
    for hook in "process", "worker":
        for by, words in (("exception", "the library is too old"), ("setup", "the library is too old"),
                          ("number", "an exception that is not a std::exception"),
                          ("crash", "SIGSEGV")):
            done = programs.run("library_starter", *arguments, "--fail", hook, "--by", by)
            lines = done.stderr.splitlines()
            programs.expect(done.returncode == 2 and len(lines) == 1 and words in lines[0]
                            and (by == "setup" or f"on_{hook}_start()" in lines[0]),
                            f"{engine}, {workers}, {hook}, {by}: {done.returncode} {done.stderr.strip()}")

# Memory that a library allocated in a handler is named in a notice, and still exists when the
# library frees it at the end of the program.
for engine in "sequential", "conservative", "timewarp":
    done = programs.run("library_starter", "--engine", engine, "--lazy")
    programs.expect(done.returncode == 0 and "the program contains 1 pointer into memory of LPs"
                    in done.stdout, f"{engine}, lazy: {done.returncode} {done.stdout[-300:]}{done.stderr}")
    done = programs.run("library_starter", "--engine", engine)
    programs.expect(done.returncode == 0 and "pointers into memory of LPs" not in done.stdout, f"{engine}: no notice")

# --help does not need the library.
done = programs.run("library_starter", "--fail", "process", "--help")
programs.expect(done.returncode == 0, "--help calls no hooks")

programs.leave()
