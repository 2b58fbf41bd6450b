#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the rules for rooms of docs/architecture.md. A room is a folder with its sub-folders. A room
includes only headers of the rooms that the table lists for it, and every listed room is really used.
A second table lists the sub-folders that a sub-folder includes. Every room is described, and every
file in it is named, in a README. The headers of the largest classes include few other headers. A
public header defines and declares no variable that can change. The picture in docs/architecture.md
is made from the table.

usage: rooms.py ROOT            exit code 1 and a line `file:line: ...` for each violation
       rooms.py ROOT --picture  prints the picture for docs/architecture.md
       rooms.py --self-test     checks that each kind of violation is found in a constructed tree

Four tables contain all rules: the rooms that a room uses, the sub-folders that a sub-folder uses, the
external headers that a folder may include besides the C++ standard library, and the number of
numawarp's headers that some headers may reach. An external header that is in no table is an error, so
a reviewer sees a new dependency as a change of this file.
"""

import re
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path

# The headers for model authors.
PUBLIC = "src/include/numawarp"

# For each room the rooms whose headers it includes. The order is the order in which data flows from
# a model to the machine.
ROOMS = {
    "models": [PUBLIC],
    "src/compat": [PUBLIC, "src/app"],
    PUBLIC: [],
    "src/app": [PUBLIC, "src/api", "src/engine", "src/engine/timewarp", "src/engine/inorder", "src/results",
                "src/plan", "src/lp", "mpi", "src/net", "src/memory", "numa", "src/util"],
    "src/api": [PUBLIC, "src/memory", "src/util"],
    "src/engine/timewarp": [PUBLIC, "src/api", "src/engine", "src/results", "src/plan", "src/gvt", "src/lp",
                            "src/event", "src/net", "src/memory", "numa", "src/util"],
    "src/engine/inorder": [PUBLIC, "src/api", "src/engine", "src/results", "src/plan", "src/lp", "src/event",
                           "src/net", "src/memory", "numa", "src/util"],
    "src/engine": [PUBLIC, "src/api", "src/results", "src/plan", "src/lp", "src/event", "src/net", "src/memory",
                   "numa", "src/util"],
    "src/results": [PUBLIC, "src/api", "src/plan", "src/net", "src/memory", "numa", "src/util"],
    "src/plan": [PUBLIC, "src/api", "src/lp", "numa", "src/util"],
    "src/gvt": [PUBLIC, "src/api", "src/net", "src/util"],
    "src/lp": [PUBLIC, "src/api", "src/event", "src/memory", "numa", "src/util"],
    "src/event": [PUBLIC, "src/api", "src/memory", "src/util"],
    "mpi": ["src/net", "numa", "src/util"],
    "src/net": [PUBLIC, "src/util"],
    "src/memory": [PUBLIC, "numa", "src/util"],
    "numa": [PUBLIC, "src/util"],
    "src/util": [PUBLIC],
}

# Programs for measurements, above all rooms: the rooms that they use. They are no room, because no room
# of the simulator includes them, and only NUMAWARP_RESEARCH=ON builds them.
RESEARCH = "jobs/research"
USERS = {**ROOMS, RESEARCH: [PUBLIC, "src/gvt", "mpi", "src/net", "numa", "src/util"]}

# The sub-folders of rooms, with the sub-folders of the same room that they use. "" is the folder of
# the room itself. A sub-folder that is not in the table uses no other one.
PARTS = {
    "src/app": {"": ["options", "report", "modelcheck", "simulation"], "modelcheck": ["options"],
                "reference": ["options", "report"], "report": ["options"]},
    PUBLIC: {"": ["process"], "process": [""]},
    "src/engine/timewarp": {"": ["worker", "rank"], "worker": ["rank"]},
    "src/engine": {"checked": [""], "": ["checkpoint"]},
    "src/results": {"formats": ["output"], "statistics": ["measures", "output"], "measures": ["output"]},
    "src/memory": {"interpose": ["image", "heap", "region", "handler"], "image": ["heap", "region"],
                   "heap": ["region", "handler"], "region": ["handler"]},
    "numa": {"place": ["measure", "decide", "os"], "measure": ["decide", "os"]},
    RESEARCH: {"meter": ["qemu"], "timed": ["qemu"]},
    "src/util": {"file": [""]},
}

MODELS = ["models", "src/compat"]

# The boxes of the picture, at most 15, from the model to the machine. Rooms that every room uses have
# no arrows: src/util, and the public headers except from models.
BOXES = [
    ("models", ["models"]),
    ("models of ROSS and ROOT-Sim", ["src/compat"]),
    ("public headers", [PUBLIC]),
    ("the program: options, reports, start of a run", ["src/app"]),
    ("Time Warp", ["src/engine/timewarp"]),
    ("conservative and sequential engine", ["src/engine/inorder"]),
    ("common part of the engines, checkpoints", ["src/engine"]),
    ("GVT", ["src/gvt"]),
    ("output, measures, statistics", ["src/results"]),
    ("the plan of a run", ["src/plan"]),
    ("LPs, histories, events, pending set", ["src/lp", "src/event"]),
    ("implementation of the public headers", ["src/api"]),
    ("an LP's memory, and the guard around its handlers", ["src/memory"]),
    ("messages between ranks", ["src/net", "mpi"]),
    ("nodes, pages, placement", ["numa"]),
]

# The largest number of other numawarp headers that these headers may include, directly or through
# others. A reader of such a header should not have to understand the whole engine, and a change of
# any header should not rebuild all of it. (worker.hpp works on LpRecord, which contains the LP's
# heap, as declared in lp_heap_class.hpp.)
REACH_MAX = {"src/engine/timewarp/rank/rank.hpp": 27, "src/engine/timewarp/worker/worker.hpp": 46}

# The README that names the rooms and files below a folder.
INDEXES = {"src": "src/README.md", "numa": "numa/README.md", "mpi": "mpi/README.md",
           RESEARCH: "jobs/research/README.md"}

# Allowed headers of the system and of libraries, by folder. Names of C++ headers contain no dot;
# except for C_HEADERS they need no entry. Only numa/ and src/memory/ call the kernel, except for
# files, terminals and the program's own signals; only mpi/ calls MPI. fmt is allowed everywhere.
FILES = ["fcntl.h", "sys/file.h", "sys/stat.h", "unistd.h"]
FOREIGN = {
    PUBLIC: ["numawarp/headers.hpp"],  # generated by CMake
    "models": ["toml++/toml.h"],
    # ROOT-Sim's headers are C.
    "src/compat/rootsim": ["argp.h", "errno.h", "signal.h", "unistd.h", "float.h", "limits.h", "stdarg.h",
                           "stdbool.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "rootsim/*"],
    # Headers that a C program expects ross.h to include.
    "src/compat/ross": ["ross.h", "mpi.h", "errno.h", "float.h", "limits.h", "math.h", "stdarg.h", "stdbool.h",
                        "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "sys/time.h",
                        "sys/types.h", "time.h", "unistd.h"],
    "src/app": [*FILES, "nlohmann/*", "signal.h", "sys/ioctl.h", "sys/personality.h", "time.h"],
    "src/app/options": ["CLI/*", "nlohmann/*", "toml++/toml.h", "fcntl.h", "poll.h", "unistd.h"],
    "src/app/report": ["nlohmann/*", "fcntl.h", "signal.h", "unistd.h"],
    "src/app/modelcheck": ["nlohmann/*", "fcntl.h", "signal.h", "spawn.h", "sys/personality.h", "sys/prctl.h",
                           "sys/wait.h", "unistd.h"],
    "src/app/simulation": ["unistd.h"],
    "src/api": ["cxxabi.h"],
    "src/api/math": ["Random123/philox.h", "emmintrin.h", "immintrin.h"],
    "src/engine/checkpoint": [*FILES, "nlohmann/*"],
    "src/results/formats": ["hdf5.h"],
    "src/plan": ["metis.h"],
    "mpi": ["mpi.h", "signal.h", "sys/ioctl.h", "sys/stat.h", "unistd.h"],
    # The interposer replaces functions of libc, so it may include every header of libc.
    "src/memory/interpose": ["*.h"],
    "src/memory/image": ["cxxabi.h", "link.h", "pthread.h"],
    "src/memory/region": ["unistd.h"],
    "src/memory/handler": ["cxxabi.h", "execinfo.h", "pthread.h", "setjmp.h", "signal.h", "ucontext.h",
                           "unistd.h"],
    RESEARCH: ["nlohmann/*", "unistd.h"],
    # This plug-in replaces functions of libc.
    "jobs/research/timed/plugin": ["*.h"],
    "numa/place": ["pthread.h"],
    "numa/measure": ["nlohmann/*", "unistd.h"],
    "numa/decide": ["nlohmann/*"],
    "numa/os": ["numa.h", "numaif.h", "hwloc.h", "linux/futex.h", "linux/perf_event.h", "sys/*", "sched.h",
                "unistd.h", "fcntl.h", "malloc.h", "link.h", "signal.h"],
    "src/util": ["xxhash.h"],
    "src/util/file": FILES,
}

# Headers of numawarp that CMake writes into the build folder.
GENERATED = {"util/version.hpp": "src/util/version.hpp"}

# C++ names of headers that POSIX extends.
C_HEADERS = {"csignal": "signal.h", "csetjmp": "setjmp.h"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".ipp"}
# A variable at namespace scope, or a static member or local variable.
VARIABLE = re.compile(r"\s*(?:(?:inline|extern|static|constinit|thread_local)\s+)+[^()]*?[;={]")
NO_VARIABLE = re.compile(r"\b(?:const|constexpr|namespace|struct|class|enum|union)\b|\"C\"")


def nearest(folders, path):
    """The longest of the folders that contains `path` (relative to the root), or None."""
    return max((folder for folder in folders if path.startswith(folder + "/")), key=len, default=None)


def part_of(path, room):
    """The sub-folder of the room that contains `path`, as PARTS names it."""
    first, slash, _ = path[len(room) + 1:].partition("/")
    return first if slash else ""


def find_ours(root, includer, name):
    """The numawarp file that an include refers to, relative to the root, or None. Searches like the
    compiler."""
    for base in (includer.parent, root / "src/include", root / "src", root):
        candidate = (base / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root).as_posix()
    return None


class Check:
    def __init__(self, root):
        self.root = root.resolve()
        self.used = set()  # (room, room) and (room, part, part)

    def breach(self, path, bracket, name):
        """The violation by this include, or None. Notes the edge that the include uses."""
        here = nearest(USERS, path)
        target = find_ours(self.root, self.root / path, name)
        if target is None and name in GENERATED:
            target = GENERATED[name]
        if target is None and bracket == '"':
            return "no such file in this tree"
        if target is None:
            name = C_HEADERS.get(name, name)
            if "." not in name and "/" not in name:
                return None
            folder = nearest(FOREIGN, path)
            allowed = ["fmt/*", *FOREIGN.get(folder, [])] if here != PUBLIC else FOREIGN[PUBLIC]
            if any(fnmatch(name, pattern) for pattern in allowed):
                return None
            return f"not among the foreign headers that {folder or here}/ may include"

        there = nearest(USERS, target)
        if there is None:
            return "its target is in no room"
        if there == here:
            return self.breach_inside(here, path, target)
        self.used.add((here, there))
        return None if there in USERS[here] else f"{here}/ does not use {there}/ (ROOMS)"

    def breach_inside(self, room, path, target):
        one, other = part_of(path, room), part_of(target, room)
        if one == other:
            return None
        self.used.add((room, one, other))
        allowed = PARTS.get(room, {}).get(one, [])
        return None if other in allowed else f"{room}/{one} does not use {room}/{other} (PARTS)"

    def includes(self):
        for top in ("src", "numa", "mpi", "models", RESEARCH):
            for file in sorted((self.root / top).rglob("*")):
                if file.suffix not in SUFFIXES:
                    continue
                path = file.relative_to(self.root).as_posix()
                if nearest(USERS, path) is None:
                    yield f"{path}:1: the file is in no room"
                    continue
                for number, line in enumerate(file.read_text().splitlines(), start=1):
                    include = INCLUDE.match(line)
                    wrong = self.breach(path, *include.groups()) if include else None
                    if wrong:
                        yield f"{path}:{number}: {include.group(2)}: {wrong}"

    def unused(self):
        """A line for each listed edge that no include uses. Requires: includes() has ended."""
        for room, others in USERS.items():
            for other in others:
                if (room, other) not in self.used:
                    yield f"{room}:1: no file includes a header of {other}/ (ROOMS)"
        for room, parts in PARTS.items():
            for one, others in parts.items():
                for other in others:
                    if (room, one, other) not in self.used:
                        yield f"{room}:1: {one or 'the folder'} includes no header of {other or 'the folder'} (PARTS)"

    def unnamed(self):
        """A line for each folder, and each file, that its README does not name."""
        folders = sorted({file.parent.relative_to(self.root).as_posix()
                          for top in INDEXES for file in (self.root / top).rglob("*") if file.suffix in SUFFIXES})
        for folder in folders:
            if folder.startswith(PUBLIC) or "include" in Path(folder).parts or folder.endswith("_include"):
                continue
            index = INDEXES[nearest(INDEXES, folder + "/")]
            text = (self.root / index).read_text() if (self.root / index).is_file() else ""
            if folder not in INDEXES:  # several folders in one README, each with a section
                if f"# `{folder}/`" not in text:
                    yield f"{folder}:1: {index} has no section `{folder}/`"
                text = re.split(r"\n##", text.partition(f"# `{folder}/`")[2])[0]
            names = set(re.findall(r"`([^`]+)`", text))
            for file in sorted((self.root / folder).iterdir()):
                if file.suffix in SUFFIXES and file.stem not in names:
                    yield f"{folder}/{file.name}:1: {index} does not name it in the section of its folder"

    def reached(self, header):
        """The numawarp headers that `header` includes, directly or through others."""
        found, waiting = set(), [header]
        while waiting:
            path = self.root / waiting.pop()
            for line in path.read_text().splitlines():
                include = INCLUDE.match(line)
                target = find_ours(self.root, path, include.group(2)) if include else None
                if target and target not in found:
                    found.add(target)
                    waiting.append(target)
        return found

    def too_far(self):
        """A line for each header that reaches more headers than allowed."""
        for header, most in REACH_MAX.items():
            count = len(self.reached(header))
            if count > most:
                yield f"{header}:1: it reaches {count} headers of this tree; allowed: at most {most}"

    def variables(self):
        """A line for each variable of a public header that can change."""
        for file in sorted((self.root / PUBLIC).rglob("*.hpp")):
            for number, line in enumerate(file.read_text().splitlines(), start=1):
                variable = VARIABLE.match(line)
                if variable and not NO_VARIABLE.search(line[:variable.end()]):
                    yield (f"{file.relative_to(self.root)}:{number}: a variable in a public header; "
                           "put it behind a function of src/api/")

    def stale_picture(self):
        page = self.root / "docs/architecture.md"
        if page.is_file() and picture() not in page.read_text():
            yield "docs/architecture.md:1: the picture differs; insert the output of rooms.py ROOT --picture"

    def all(self):
        return [*self.includes(), *self.unused(), *self.unnamed(), *self.too_far(), *self.variables(),
                *self.stale_picture()]


def picture():
    """The boxes as a Mermaid chart. An arrow points from a box to a box that it uses, unless the use
    follows from other arrows. Requires: no cycle."""
    box_of = {room: number for number, (_, rooms) in enumerate(BOXES) for room in rooms}
    uses = {number: set() for number in range(len(BOXES))}
    for room, others in ROOMS.items():
        if room in box_of:
            drawn = [other for other in others if other in box_of and (other != PUBLIC or room in MODELS)]
            uses[box_of[room]] |= {box_of[other] for other in drawn} - {box_of[room]}

    def below(box):
        found = set()
        for other in uses[box]:
            found |= {other} | below(other)
        return found

    lines = ["```mermaid", "flowchart TD"]
    for number, (title, rooms) in enumerate(BOXES):
        folders = ", ".join(f"{room}/" for room in rooms)
        lines.append(f'    b{number}["{title}<br><small>{folders}</small>"]')
    for box, others in uses.items():
        indirect = set().union(*(below(other) for other in others)) if others else set()
        lines += [f"    b{box} --> b{other}" for other in sorted(others - indirect)]
    return "\n".join([*lines, "```"])


# The files that the self-test creates: name, text, and a part of the expected message (None: no
# violation). LONG_CHAIN is one more than rank.hpp may reach.
LONG_CHAIN = REACH_MAX["src/engine/timewarp/rank/rank.hpp"] + 1

PLANTED = [
    ("src/README.md", "## `src/util/`\n`check`, `up`, `lost`\n### `src/util/file/`\n`disk`\n## `src/event/`\n"
     "`clean`\n## `src/gvt/`\n`gvt`, `signals`\n## `src/lp/`\n`check`\n"
     "### `src/engine/timewarp/worker/`\n`worker`\n### `src/memory/handler/`\n`inner`\n## `src/app/`\n`signals`", None),
    ("src/util/check.hpp", "", None),
    ("src/util/file/disk.hpp", '#include "util/check.hpp"', None),
    ("src/event/clean.hpp", '#include <vector>\n#include "util/check.hpp"', None),
    ("src/util/up.hpp", '#include "event/clean.hpp"', "src/util/ does not use src/event/"),
    ("src/util/lost.hpp", '#include "nowhere.hpp"', "no such file"),
    ("src/memory/heap/chunk.hpp", "", "does not name it"),
    ("src/memory/handler/inner.hpp", '#include "memory/heap/chunk.hpp"', "src/memory/handler does not use"),
    ("src/plan", None, "no file includes a header of"),
    ("src/memory", None, "includes no header of"),
    ("src/lp/forgotten.hpp", "", "does not name it"),
    ("src/net/again.hpp", "", "does not name it"),
    ("src/net", None, "has no section"),
    ("src/include/numawarp/model.hpp", '#include "util/check.hpp"', "does not use"),
    ("src/include/numawarp/figures.hpp", "inline VirtualTime measured_from = 0;", "a variable in a public header"),
    ("src/include/numawarp/place.hpp", "extern constinit thread_local Place place;", "a variable in a public header"),
    ("src/include/numawarp/fine.hpp", "inline constexpr int one = 1;\nextern const int& two;\n"
     "inline Place place() { return {}; }\nstatic Place three(int x = 1);", None),
    ("models/phold/phold.cpp", '#include "engine/timewarp/worker/worker.hpp"', "does not use"),
    ("models/phold/main.cpp", "#include <numawarp/model.hpp>", None),
    ("src/engine/timewarp/worker/worker.hpp", "#include <mpi.h>", "foreign"),
    ("src/gvt/gvt.cpp", "#include <sys/mman.h>", "foreign"),
    ("src/gvt/signals.cpp", "#include <csignal>", "foreign"),
    ("src/app/signals.cpp", "#include <csignal>", None),
    ("numa/README.md", "## `numa/os/`\n`os`", None),
    ("numa/os/os.cpp", "#include <sys/mman.h>", None),
    ("src/odd.hpp", "", "in no room"),
    ("docs/architecture.md", "# Architecture", "the picture differs"),
    # A chain: each header includes the next one.
    ("src/engine/timewarp/rank/rank.hpp", '#include "event/row_1.hpp"', f"it reaches {LONG_CHAIN} headers"),
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
        found = Check(root).all()
    failures = []
    for name, _, complaint in PLANTED:
        about = [line for line in found if line.startswith(name + ":")]
        if complaint is None and about:
            failures.append(f"clean file reported: {about[0]}")
        if complaint and not any(complaint in line for line in about):
            failures.append(f"{name}: expected '{complaint}', found {about}")
    return failures


def main():
    if sys.argv[1:] == ["--self-test"]:
        wrong = self_test()
    elif len(sys.argv) == 3 and sys.argv[2] == "--picture":
        print(picture())
        return
    elif len(sys.argv) == 2:
        wrong = Check(Path(sys.argv[1])).all()
    else:
        sys.exit(__doc__)
    edges = sum(len(others) for others in ROOMS.values())
    print("\n".join(wrong) if wrong else f"clean: {len(ROOMS)} rooms, {edges} edges")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
