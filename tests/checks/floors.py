#!/usr/bin/env python3
"""Includes point down the floors (docs/architecture.md). Checks every source file outside tests/.

usage: floors.py ROOT          exit code 1 and a line `file:line: ...` for each breach
       floors.py --self-test   shows on a planted tree that each kind of breach is found

Two tables are the whole policy: which folder stands on which floor, and which headers of others a
folder may include besides the C++ standard library. A header that is in no table is an error, so a
new dependency is a change of this file that a reviewer sees.
"""

import re
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path

FLOORS = {
    "src/main": 7,
    "models": 6,
    "mpi": 6,
    "src/engine": 5,
    "src/gvt": 4,
    "src/lp": 3,
    "src/net": 3,
    "src/event": 2,
    "numa": 1,
    "src/base": 0,
}

# The model writer's headers: they include each other only, and everyone may include them.
PUBLIC = "src/include/numawarp"

# Models are written like a user's: of ours they see the public headers and their own folder.
ONLY_PUBLIC = {"models"}

# Headers of the system and of libraries, by folder. C++ has no dots in its headers' names; those
# need no mention, but for C_HEADERS. Only numa/ speaks to the kernel, but for files, terminals and the
# program's own signals; only mpi/ speaks MPI.
FOREIGN = {
    PUBLIC: [],
    "src/base": ["fmt/*", "xxhash.h", "Random123/philox.h"],
    "numa": ["fmt/*", "numa.h", "numaif.h", "hwloc.h", "sys/*", "sched.h", "unistd.h", "pthread.h",
             "errno.h", "fcntl.h", "malloc.h", "stdio_ext.h", "cxxabi.h", "dlfcn.h", "link.h",
             "signal.h", "setjmp.h", "ucontext.h", "linux/*",
             # What the interposer stands in for.
             "err.h", "error.h", "grp.h", "iconv.h", "libintl.h", "locale.h", "netdb.h", "pwd.h",
             "spawn.h", "stdio.h", "stdlib.h", "string.h", "time.h", "unwind.h", "wchar.h"],
    "src/event": ["fmt/*"],
    "src/lp": ["fmt/*"],
    "src/net": ["fmt/*"],
    "src/gvt": ["fmt/*"],
    "src/engine": ["fmt/*", "metis.h", "nlohmann/*", "fcntl.h", "sys/file.h", "sys/stat.h", "unistd.h"],
    "mpi": ["fmt/*", "mpi.h", "signal.h", "sys/ioctl.h", "sys/stat.h", "unistd.h"],
    "models": ["fmt/*", "toml++/toml.h"],
    "src/main": ["fmt/*", "CLI/*", "nlohmann/*", "toml++/toml.h", "hdf5.h", "signal.h", "time.h",
                 "fcntl.h", "unistd.h", "poll.h", "sys/ioctl.h", "sys/personality.h", "sys/stat.h"],
}

# C++'s names of headers to which POSIX adds.
C_HEADERS = {"csignal": "signal.h", "csetjmp": "setjmp.h"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".ipp"}


def folder_of(path):
    """The folder of our tables that `path` (relative to the root) lies in, or None."""
    for folder in (PUBLIC, *FLOORS):
        if path.startswith(folder + "/"):
            return folder
    return None


def find_ours(root, includer, name):
    """The file of ours that an include means, relative to the root, or None: as the compiler looks."""
    for base in (includer.parent, root / "src/include", root / "src", root):
        candidate = (base / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root).as_posix()
    return None


def breach(root, path, bracket, name):
    """What is wrong with this include, or None."""
    here = folder_of(path.relative_to(root).as_posix())
    target = find_ours(root, path, name)
    if target is None and bracket == '"':
        # A file that is not there yet still names its floor.
        if folder_of(name) or folder_of("src/" + name):
            target = name if folder_of(name) else "src/" + name
        else:
            return "no such file of ours"
    if target is None:
        name = C_HEADERS.get(name, name)
        if "." not in name and "/" not in name:
            return None
        if any(fnmatch(name, pattern) for pattern in FOREIGN[here]):
            return None
        return f"not among the foreign headers that {here}/ may include"

    there = folder_of(target)
    if there is None:
        return "stands on no floor"
    if there in (PUBLIC, here):
        return None
    if here == PUBLIC:
        return "public headers include only each other"
    if here in ONLY_PUBLIC:
        return f"{here}/ sees only <numawarp/...>"
    if FLOORS[there] > FLOORS[here]:
        return f"points up, from floor {FLOORS[here]} to {FLOORS[there]}"
    if FLOORS[there] == FLOORS[here]:
        return f"points sideways, to another folder of floor {FLOORS[here]}"
    return None


def check(root):
    """All breaches, as lines `file:line: include: what is wrong`."""
    root = root.resolve()
    breaches = []
    for top in ("src", "numa", "mpi", "models"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            relative = path.relative_to(root).as_posix()
            if folder_of(relative) is None:
                breaches.append(f"{relative}:1: the file stands on no floor")
                continue
            for number, line in enumerate(path.read_text().splitlines(), start=1):
                include = INCLUDE.match(line)
                if include:
                    wrong = breach(root, path, *include.groups())
                    if wrong:
                        breaches.append(f"{relative}:{number}: {include.group(2)}: {wrong}")
    return breaches


# What the self-test plants: file, its text, and a word of the expected complaint (None: clean).
PLANTED = [
    ("src/base/check.hpp", "", None),
    ("src/event/clean.hpp", '#include <vector>\n#include "base/check.hpp"', None),
    ("src/base/up.hpp", '#include "event/clean.hpp"', "points up"),
    ("src/base/up_to_missing.hpp", '#include "engine/missing.hpp"', "points up"),
    ("src/base/lost.hpp", '#include "nowhere.hpp"', "no such file"),
    ("src/lp/sideways.hpp", '#  include "net/port.hpp"', "sideways"),
    ("src/net/port.hpp", "", None),
    ("src/include/numawarp/model.hpp", '#include "base/check.hpp"', "public"),
    ("models/phold/phold.cpp", '#include "timewarp/worker.hpp"', "sees only"),
    ("models/phold/main.cpp", "#include <numawarp/model.hpp>", None),
    ("src/timewarp/worker.hpp", "#include <mpi.h>", "foreign"),
    ("src/gvt/gvt.cpp", "#include <sys/mman.h>", "foreign"),
    ("src/gvt/signals.cpp", "#include <csignal>", "foreign"),
    ("src/main/signals.cpp", "#include <csignal>", None),
    ("numa/os/os.cpp", "#include <sys/mman.h>", None),
    ("src/odd.hpp", "", "no floor"),
]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text, _ in PLANTED:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text + "\n")
        found = check(root)
    failures = []
    for name, _, complaint in PLANTED:
        about = [line for line in found if line.startswith(name + ":")]
        if complaint is None and about:
            failures.append(f"clean file reported: {about[0]}")
        if complaint and not any(complaint in line for line in about):
            failures.append(f"{name}: expected '{complaint}', found {about}")
    return failures


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    wrong = self_test() if sys.argv[1] == "--self-test" else check(Path(sys.argv[1]))
    print("\n".join(wrong) if wrong else "clean")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
