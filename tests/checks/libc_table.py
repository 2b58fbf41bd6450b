#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks src/memory/interpose/libc_functions.txt. Every function that libc and libm export is in exactly
one class. The interposer defines every function whose class needs code, and no other function.
docs/reference/libc.md is the page that this program generates from the list.

usage: libc_table.py CHECKOUT [OBJECTS]   the interposer's objects, separated by semicolons
       libc_table.py CHECKOUT --write     writes the page

Exit code 77: glibc or nm is missing.
"""

import re
import subprocess
import sys
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

LIST = "src/memory/interpose/libc_functions.txt"
DOCUMENT = "docs/reference/libc.md"
NEEDS_CODE = {"platform", "worker", "refused"}
# Classes of which the interposer may define some functions.
MAY_HAVE_CODE = {"lp", "outside"}
CLASSES = {"pure", "libm", "libc", "internal"} | NEEDS_CODE | MAY_HAVE_CODE

HEAD = """\
# Functions of libc in handlers

This page is made from `src/memory/interpose/libc_functions.txt`. Every function that glibc's `libc.so.6` and
`libm.so.6` export is in one class. A star matches any letters. If a name with a star and a name without one
both match a function, the name without a star decides. `__X_chk` and `__isoc99_X`, which headers use, are in the class of `X`.
[Libraries in handlers](../how-to/libraries.md) explains the classes.

Other libraries keep results and files, too: a database that `dbm_open()` opens is a file that no rollback
restores.
"""


@dataclass
class Line:
    kind: str
    names: list
    remark: str


@dataclass
class Section:
    kind: str
    title: str
    text: str
    lines: list


def read_list(path):
    sections = []
    text = "\n".join(line for line in path.read_text().splitlines() if not line.startswith("#"))
    for part in re.split(r"\n(?=\[)", text.strip()):
        head, words, lines = part.split("\n", 1)[0], *part.split("\n", 1)[1].split("\n\n", 1)
        kind, title = re.fullmatch(r"\[(\w+): (.*)\]", head).groups()
        if kind not in CLASSES:
            sys.exit(f"{path}: no class {kind}")
        sections.append(Section(kind, title, words + "\n", []))
        for line in lines.strip().splitlines():
            names, _, remark = line.partition(" - ")
            sections[-1].lines.append(Line(kind, names.split(), remark))
    return sections


def document(sections):
    parts = [HEAD]
    for section in sections:
        rows = "".join(f"| {', '.join(f'`{name}`' for name in line.names)} | {line.remark} |\n"
                       for line in section.lines)
        parts.append(f"## {section.title}\n\n{section.text}\n| functions | |\n| --- | --- |\n{rows}")
    return "\n".join(parts)


def exported(library):
    """The functions of the library that a program can call."""
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    for line in lines:
        *_, kind, symbol = line.split()
        name, _, version = symbol.partition("@@")
        if kind in "TWi" and version and version != "GLIBC_PRIVATE":
            yield name


def loaded_libraries():
    """The files of the libc and libm of this machine."""
    lines = subprocess.run(["ldd", sys.executable], capture_output=True, text=True).stdout
    libc = re.search(r"=> (\S*/libc\.so\.6)", lines)
    return [libc[1], str(Path(libc[1]).with_name("libm.so.6"))] if libc else []


class Table:
    def __init__(self, sections):
        self.exact, self.families, self.twice = {}, [], []
        for section in sections:
            for line in section.lines:
                for name in line.names:
                    if re.search(r"[*\[]", name):
                        self.families.append((name, section))
                    elif name in self.exact:
                        self.twice.append(name)
                    else:
                        self.exact[name] = section

    def look_up(self, name, is_of_libm=False):
        """The classes of the function; in a correct list there is exactly one. If several families
        match, the longest name decides."""
        if name in self.exact:
            return {self.exact[name].kind}
        base = re.sub(r"^(__isoc\d\d_|__)", "", name)
        base = re.sub(r"_chk$", "", base) if name.startswith("__") else base
        if base in self.exact:
            kind = self.exact[base].kind
            return {f"{kind}, by the name {base}" if kind in NEEDS_CODE else kind}
        fitting = [(len(family), section.kind) for family, section in self.families
                   if (fnmatchcase(name, family) or fnmatchcase(base, family))
                   and (section.kind in {"libm", "libc"} or not is_of_libm)
                   and (section.kind != "libm" or is_of_libm)]
        return {kind for length, kind in fitting if length == max(fitting)[0]}


def defined(objects):
    for file in objects:
        for line in subprocess.run(["nm", "--defined-only", file], capture_output=True, text=True,
                                   check=True).stdout.splitlines():
            *_, kind, symbol = line.split()
            if kind in "TW":
                yield symbol


def main():
    root = Path(sys.argv[1])
    sections = read_list(root / LIST)
    if sys.argv[2:] == ["--write"]:
        (root / DOCUMENT).write_text(document(sections))
        return 0
    try:
        libraries = loaded_libraries()
        subprocess.run(["nm", "--version"], capture_output=True, check=True)
    except OSError:
        libraries = []
    if not libraries:
        print("skipped: needs glibc and nm")
        return 77
    wrong = []
    if document(sections) != (root / DOCUMENT).read_text():
        wrong.append(f"{DOCUMENT} differs from {LIST}; tests/checks/libc_table.py . --write generates the page again")
    table = Table(sections)
    wrong += [f"{name}: twice in {LIST}" for name in table.twice]
    libc, libm = (set(exported(library)) for library in libraries)
    for name in sorted(libc | libm):
        kinds = table.look_up(name, name in libm)
        if len(kinds) != 1:
            wrong.append(f"{name}: in {' and '.join(sorted(kinds)) or 'no class'}")
        elif not kinds <= CLASSES:
            wrong.append(f"{name}: has no line, but its class needs code: {kinds.pop()}")
    objects = sys.argv[2].split(";") if sys.argv[2:] and sys.argv[2] else []
    if objects:
        ours = set(defined(objects))
        for name in sorted(ours & (libc | libm)):
            kind = next(iter(table.look_up(name)), "none")
            if name not in table.exact or kind not in NEEDS_CODE | MAY_HAVE_CODE:
                wrong.append(f"{name}: the interposer defines it, and its class is {kind}")
        wrong += [f"{name}: class {section.kind}, and the interposer does not define it"
                  for name, section in table.exact.items()
                  if section.kind in NEEDS_CODE and name in libc | libm and name not in ours]
    for line in wrong:
        print(line)
    print(f"{len(libc | libm)} functions, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
