#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that Clang finds a member that is used without its lock (src/util/locks.hpp). A build with
Clang checks all sources in this way (compilers clang). Exit code 77: there is no clang++ here.

usage: thread_safety.py ROOT
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """
#include <condition_variable>

#include "util/locks.hpp"

struct Counter {
    void add() {
        const nw::LockGuard guard(lock);
        ++value;
    }
    void add_if_free() {
        if (!lock.try_lock()) return;
        const nw::LockGuard guard(lock, std::adopt_lock);
        ++value;
    }
    void add_locked() NW_REQUIRES(lock) { ++value; }
    WRONG
    nw::SpinLock lock;
    int value NW_GUARDED_BY(lock) = 0;
};

struct Event {
    void await() {
        nw::LockGuard guard(mutex);
        changed.wait(guard, [this]() NW_REQUIRES(mutex) { return happened; });
    }
    nw::Mutex mutex;
    std::condition_variable_any changed;
    bool happened NW_GUARDED_BY(mutex) = false;
};

int main() {
    Counter counter;
    counter.add();
    counter.add_if_free();
    Event().await();
}
"""

# The text that replaces WRONG, and a part of the expected error of the compiler. None: the program
# compiles.
CASES = [
    ("", None),
    ("void wrong() { ++value; }", "requires holding"),
    ("void wrong() { add_locked(); }", "requires holding"),
    ("void wrong() { if (!lock.try_lock()) return; ++value; }", "not held on every path"),
]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    compiler = shutil.which("clang++")
    if compiler is None:
        print("skipped: there is no clang++ here")
        sys.exit(77)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for wrong, expected in CASES:
            source = Path(folder, "program.cpp")
            source.write_text(PROGRAM.replace("WRONG", wrong))
            run = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wthread-safety", "-Werror",
                                  f"-I{sys.argv[1]}/src", str(source)], capture_output=True, text=True)
            fits = run.returncode == 0 if expected is None else run.returncode != 0 and expected in run.stderr
            print(f"{'ok     ' if fits else 'FAILED '} {wrong or 'correct uses'}")
            if not fits:
                print(run.stderr)
                failures += 1
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
