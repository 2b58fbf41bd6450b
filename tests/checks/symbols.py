#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no symbol is declared in a header of one room and defined in another room
(docs/architecture.md). The check reads the symbols of the object files of a build with nm. A function or
variable that another room uses must appear in a header of the room that defines it. Functions of the
public headers are defined in src/api. The check compares words: it does not find a violation if headers of
both rooms contain the same word.

It also checks the size of classes: a class has at most FUNCTIONS_MAX functions that are not inline, and these
functions are in one source file.

usage: symbols.py ROOT BUILD    exit code 1 and a line for each violation
       symbols.py --self-test   checks that each kind of violation is found
"""

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from rooms import PUBLIC, ROOMS, nearest

WORD = re.compile(r"[A-Za-z_]\w*")
METHOD = re.compile(r"nw::((?:\w+::)*\w+)::(~?\w+|operator[^(]+)\(")
NAMESPACES = {"detail", "process", "interpose"}
FUNCTIONS_MAX = 40
# Classes with several source files, and the reason.
SPREAD = {
    "LpHeap": "its snapshots are a separate part, and the files have 670 lines together",
}


def objects(root, build):
    """Pairs of room and object file, for all objects of numawarp's libraries."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = Path(entry["directory"], entry["file"]).resolve()
        output = re.search(r" -o (\S+\.o)", entry["command"])
        if output is None or not source.is_relative_to(root):
            continue
        room = nearest(ROOMS, source.relative_to(root).as_posix())
        file = Path(entry["directory"], output[1])
        if room not in (None, "models", "src/compat") and file.is_file():
            yield room, file


def symbols(file):
    """The symbols of an object file: pairs of kind and readable name, only of numawarp."""
    text = subprocess.run(["nm", "-C", str(file)], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        kind, name = line[17:18], re.sub(r"\[abi:\w+\]", "", line[19:])
        if "nw::" in name:
            yield kind, name


def last_word(name):
    """The word that a declaration of the symbol contains: of nw::Heap::free(void*), free."""
    head = re.sub(r"^(vtable|typeinfo|typeinfo name|VTT|guard variable|TLS \w+ function) for ", "", name)
    if "operator" in head:
        return "operator"
    head = head.split("(")[0]
    while "<" in head:
        shorter = re.sub(r"<[^<>]*>", "", head)
        if shorter == head:
            break
        head = shorter
    words = WORD.findall(head)
    return words[-1] if words else ""


def violations(declared, defined, used):
    """Yields a line for each violation. `declared`: for each room, the words of its headers. `defined`: the
    room of each symbol. `used`: for each symbol, the rooms that call it."""
    for name, room in sorted(defined.items()):
        word = last_word(name)
        if word in declared[room] or (room == "src/api" and word in declared[PUBLIC]):
            continue
        users = used.get(name, set()) - {room}
        if word in declared[PUBLIC]:
            yield f"{room}: {name}: a public header declares it; define it in src/api"
        elif users:
            yield f"{room}: {name}: no header of {room}/ declares it, but {', '.join(sorted(users))} uses it"


def class_violations(methods):
    """Yields a line for each violation. `methods`: for each class, the source file of each of its
    functions."""
    for name, files in sorted(methods.items()):
        if len(files) > FUNCTIONS_MAX:
            yield f"{name}: {len(files)} functions; a class has at most {FUNCTIONS_MAX}"
        spread = set(files.values())
        if len(spread) > 1 and name not in SPREAD:
            yield f"{name}: its functions are in {', '.join(sorted(spread))}; a class has one source file (SPREAD)"
    for name in sorted(SPREAD):
        if len(set(methods.get(name, {}).values())) < 2:
            yield f"SPREAD: {name} does not have several source files"


def methods_of(root, build):
    """For each class outside of src/api: its functions that are not inline, and their source files."""
    methods = defaultdict(dict)
    for room, file in objects(root, build):
        if room == "src/api":
            continue
        for kind, name in symbols(file):
            found = METHOD.match(name) if kind == "T" and "[clone" not in name else None
            if found and found[1].split("::")[-1] not in NAMESPACES:
                methods[found[1]][found[2]] = file.name.removesuffix(".o")
    return methods


def self_test():
    declared = {"src/lp": {"History"}, "src/api": set(), PUBLIC: {"Context", "now"}}
    defined = {"nw::History::push(int)": "src/lp", "nw::History::History()": "src/lp", "nw::Context::now()": "src/lp",
               "nw::Context::Context()": "src/api", "nw::(anonymous namespace)::helper()": "src/lp"}
    found = list(violations(declared, defined, {"nw::History::push(int)": {"src/engine"}}))
    expected = ["src/lp: nw::Context::now(): a public", "src/lp: nw::History::push(int): no header"]
    matches = len(found) == len(expected) and all(map(str.startswith, found, expected))
    wrong = [] if matches else [f"expected {expected}, found {found}"]
    spread = {name: {"a": "one.cpp", "b": "two.cpp"} for name in SPREAD}
    found = list(class_violations({**spread, "Two": {"f": "a.cpp", "g": "b.cpp"},
                                   "Large": {f"f{i}": "a.cpp" for i in range(FUNCTIONS_MAX + 1)}}))
    if [line.split(":")[0] for line in found] != ["Large", "Two"] or not list(class_violations({})):
        wrong.append(f"sizes of classes: {found}")
    return wrong


def check(root, build):
    declared = defaultdict(set)
    for path in [*root.glob("src/**/*.hpp"), *root.glob("numa/**/*.hpp"), *root.glob("mpi/*.hpp")]:
        declared[nearest(ROOMS, path.relative_to(root).as_posix())] |= set(WORD.findall(path.read_text()))
    defined, used = {}, defaultdict(set)
    for room, file in objects(root, build):
        for kind, name in symbols(file):
            if kind in "TDBR":
                defined[name] = room
            elif kind == "U":
                used[name].add(room)
    if not defined:
        return [f"{build}: no object files"]
    return [*violations(declared, defined, used), *class_violations(methods_of(root, build))]


def main():
    if sys.argv[1:] == ["--self-test"]:
        wrong = self_test()
    elif len(sys.argv) == 3:
        wrong = check(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
    else:
        sys.exit(__doc__)
    print("\n".join(wrong) if wrong else "clean")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
