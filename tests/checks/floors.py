#!/usr/bin/env python3
"""Includes point down (docs/architecture.md): from a room to those below it. Every room is described,
and every file in it is named, in the README of the folder it lies in; no room is too large. The headers
of the largest classes reach few others.

usage: floors.py ROOT          exit code 1 and a line `file:line: ...` for each breach
       floors.py --self-test   shows on a planted tree that each kind of breach is found

Three tables are the whole policy: in which order the rooms stand, which headers of others a room may
include besides the C++ standard library, and how many headers of ours some headers may reach. A header
of others that is in no table is an error, so a new dependency is a change of this file that a reviewer sees.
"""

import re
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path

# From the ground up. A room includes itself and what stands before it.
ROOMS = [
    "src/base", "src/math", "src/file",
    "numa/os", "numa/handler", "numa/region", "numa/heap", "numa/image", "numa/decide",
    "numa/measure", "numa/place", "numa/interpose",
    "src/event", "src/net", "src/lp", "src/gvt", "src/plan", "src/output", "src/measures", "src/stats", "src/checkpoint",
    "src/engine", "src/checked", "src/inorder", "src/rank", "src/worker", "src/timewarp", "src/run",
    "mpi", "models",
    "src/formats", "src/options", "src/results", "src/modelcheck", "src/main", "src/rootsim", "src/ross",
]
FLOORS = {room: floor for floor, room in enumerate(ROOMS)}

# What one person keeps in mind of a room.
FILES_MAX = 20

# How many other headers of ours these reach at most, directly or through others. Who reads one of them
# should not have to know the whole engine, and who changes any header should not rebuild all of it.
# (worker.hpp: what it works on is LpRecord, which has the LP's heap in it, as lp_heap_class.hpp.)
REACH_MAX = {"src/rank/rank.hpp": 22, "src/timewarp/worker.hpp": 43}

# Where each of these rooms' files is named.
INDEXES = {"src": "src/README.md", "numa": "numa/README.md", "mpi": "mpi/README.md"}

# The model writer's headers: they include each other only, and everyone may include them.
PUBLIC = "src/include/numawarp"

# Models are written like a user's: of ours they see the public headers and their own folder.
ONLY_PUBLIC = {"models"}

# Headers of the system and of libraries, by folder. C++ has no dots in its headers' names; those
# need no mention, but for C_HEADERS. Only numa/ speaks to the kernel, but for files, terminals and the
# program's own signals; only mpi/ speaks MPI.
FOREIGN = {
    PUBLIC: ["numawarp/headers.hpp"],  # which CMake writes
    "src/base": ["fmt/*", "xxhash.h"],
    "src/math": ["Random123/philox.h", "emmintrin.h", "immintrin.h"],
    "src/file": ["fmt/*", "fcntl.h", "sys/file.h", "sys/stat.h", "unistd.h"],
    "numa/os": ["fmt/*", "numa.h", "numaif.h", "hwloc.h", "linux/futex.h", "linux/perf_event.h", "sys/*", "sched.h", "unistd.h", "fcntl.h",
                "malloc.h", "link.h", "signal.h"],
    "numa/handler": ["cxxabi.h", "execinfo.h", "pthread.h", "setjmp.h", "signal.h", "ucontext.h",
                     "unistd.h"],
    "numa/region": ["unistd.h"],
    "numa/heap": [],
    "numa/image": ["cxxabi.h", "link.h", "pthread.h"],
    "numa/decide": ["fmt/*", "nlohmann/*"],
    "numa/measure": ["fmt/*", "nlohmann/*", "unistd.h"],
    "numa/place": ["fmt/*", "pthread.h"],
    # The interposer replaces functions of libc, and so may include every header of libc.
    "numa/interpose": ["*.h"],
    "src/event": ["fmt/*"],
    "src/net": ["fmt/*"],
    "src/lp": ["fmt/*", "cxxabi.h"],
    "src/gvt": ["fmt/*"],
    "src/plan": ["fmt/*", "metis.h"],
    "src/output": ["fmt/*"],
    "src/measures": ["fmt/*"],
    "src/stats": ["fmt/*"],
    "src/checkpoint": ["fmt/*", "nlohmann/*", "fcntl.h", "sys/file.h", "unistd.h"],
    "src/engine": ["fmt/*"],
    "src/checked": ["fmt/*"],
    "src/inorder": ["fmt/*"],
    "src/rank": [],
    "src/worker": ["fmt/*"],
    "src/timewarp": ["fmt/*"],
    "src/run": ["fmt/*", "unistd.h"],
    "mpi": ["fmt/*", "mpi.h", "signal.h", "sys/ioctl.h", "sys/stat.h", "unistd.h"],
    "models": ["fmt/*", "toml++/toml.h"],
    "src/formats": ["fmt/*", "hdf5.h"],
    "src/options": ["fmt/*", "CLI/*", "nlohmann/*", "toml++/toml.h", "fcntl.h", "poll.h", "unistd.h"],
    "src/results": ["fmt/*", "nlohmann/*", "fcntl.h", "signal.h", "unistd.h"],
    "src/modelcheck": ["fmt/*", "nlohmann/*", "fcntl.h", "signal.h", "spawn.h", "sys/personality.h",
                       "sys/prctl.h", "sys/wait.h", "unistd.h"],
    "src/main": ["fmt/*", "nlohmann/*", "fcntl.h", "signal.h", "sys/ioctl.h", "sys/personality.h",
                 "sys/stat.h", "time.h", "unistd.h"],
    # ROOT-Sim's headers are C.
    "src/rootsim": ["fmt/*", "argp.h", "errno.h", "signal.h", "unistd.h", "float.h", "limits.h",
                    "stdarg.h", "stdbool.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "rootsim/*"],
    # What a C program expects of ross.h, besides what is in it.
    "src/ross": ["fmt/*", "ross.h", "mpi.h", "errno.h", "float.h", "limits.h", "math.h", "stdarg.h",
                 "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "sys/time.h",
                 "sys/types.h", "time.h", "unistd.h"],
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
        # A file that is not there yet still names its room.
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
        return "stands in no room"
    if there in (PUBLIC, here):
        return None
    if here == PUBLIC:
        return "public headers include only each other"
    if here in ONLY_PUBLIC:
        return f"{here}/ sees only <numawarp/...>"
    return "points up" if FLOORS[there] > FLOORS[here] else None


def unnamed(root):
    """A line for each room, and each file, that its README does not name."""
    for room in ROOMS:
        index = INDEXES.get(room.split("/")[0])
        if index is None or not (root / room).is_dir():
            continue
        text = (root / index).read_text() if (root / index).is_file() else ""
        if room not in INDEXES:  # several rooms in one README, each with a section
            if f"## `{room}/`" not in text:
                yield f"{room}:1: {index} has no section `## `{room}/``"
            text = text.partition(f"## `{room}/`")[2].partition("\n## ")[0]
        names = set(re.findall(r"`([^`]+)`", text))
        files = sorted(path for path in (root / room).iterdir() if path.suffix in SUFFIXES)
        if len(files) > FILES_MAX:
            yield f"{room}:1: {len(files)} files: at most {FILES_MAX} in a room"
        for path in files:
            if path.stem not in names:
                yield f"{path.relative_to(root).as_posix()}:1: {index} does not name it in its room"


def reached(root, header):
    """The headers of ours that `header` includes, directly or through others."""
    found, waiting = set(), [header]
    while waiting:
        path = root / waiting.pop()
        for line in path.read_text().splitlines():
            include = INCLUDE.match(line)
            target = find_ours(root, path, include.group(2)) if include else None
            if target and target not in found:
                found.add(target)
                waiting.append(target)
    return found


def too_far(root):
    """A line for each header that reaches more than it may."""
    for header, most in REACH_MAX.items():
        count = len(reached(root, header))
        if count > most:
            yield f"{header}:1: it reaches {count} headers of ours: at most {most}"


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
                breaches.append(f"{relative}:1: the file stands in no room")
                continue
            for number, line in enumerate(path.read_text().splitlines(), start=1):
                include = INCLUDE.match(line)
                if include:
                    wrong = breach(root, path, *include.groups())
                    if wrong:
                        breaches.append(f"{relative}:{number}: {include.group(2)}: {wrong}")
    return breaches + list(unnamed(root)) + list(too_far(root))


# What the self-test plants: file, its text, and a word of the expected complaint (None: clean).
# One more than rank.hpp may reach.
LONG_CHAIN = REACH_MAX["src/rank/rank.hpp"] + 1

PLANTED = [
    ("src/README.md", "## `src/base/`\n`check`, `up`, `up_to_missing`, `lost`\n## `src/event/`\n`clean`, "
     "`again`\n## `src/gvt/`\n`gvt`, `signals`\n## `src/lp/`\n`check`\n## `src/timewarp/`\n`worker`\n"
     "## `src/main/`\n`signals`", None),
    ("src/base/check.hpp", "", None),
    ("src/event/clean.hpp", '#include <vector>\n#include "base/check.hpp"', None),
    ("src/base/up.hpp", '#include "event/clean.hpp"', "points up"),
    ("src/base/up_to_missing.hpp", '#  include "timewarp/missing.hpp"', "points up"),
    ("src/base/lost.hpp", '#include "nowhere.hpp"', "no such file"),
    ("src/lp/forgotten.hpp", "", "does not name it"),
    ("src/net/again.hpp", "", "does not name it"),
    ("src/net", None, "has no section"),
    ("src/include/numawarp/model.hpp", '#include "base/check.hpp"', "public"),
    ("models/phold/phold.cpp", '#include "timewarp/worker.hpp"', "sees only"),
    ("models/phold/main.cpp", "#include <numawarp/model.hpp>", None),
    ("src/timewarp/worker.hpp", "#include <mpi.h>", "foreign"),
    ("src/gvt/gvt.cpp", "#include <sys/mman.h>", "foreign"),
    ("src/gvt/signals.cpp", "#include <csignal>", "foreign"),
    ("src/main/signals.cpp", "#include <csignal>", None),
    ("numa/README.md", "## `numa/os/`\n`os`", None),
    ("numa/os/os.cpp", "#include <sys/mman.h>", None),
    ("src/odd.hpp", "", "in no room"),
    *((f"src/formats/file_{i}.hpp", "", "does not name it") for i in range(FILES_MAX + 1)),
    ("src/formats", None, "files: at most"),
    # A chain: each is reached through the one before.
    ("src/rank/rank.hpp", '#include "event/row_1.hpp"', f"it reaches {LONG_CHAIN} headers"),
    *((f"src/event/row_{i}.hpp", f'#include "event/row_{i + 1}.hpp"', "does not name it")
      for i in range(1, LONG_CHAIN)),
    (f"src/event/row_{LONG_CHAIN}.hpp", "", "does not name it"),
]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text, _ in PLANTED:
            if text is None:
                continue
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
