#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A filter of Doxygen (FILTER_PATTERNS): prints a public header with its plain comments as Doxygen
comments. So headers need no Doxygen syntax.

    // Before a declaration.            becomes   /// Before a declaration.
    double mean() const;  // 0 if none            double mean() const;  ///< 0 if none

The comment at the top belongs to the file. The declarations become members of the header's group. A
comment that is followed by an empty line belongs to no declaration and is not changed. Lines keep
their numbers, so that the line numbers in Doxygen's warnings are those of the header.
"""

import re
import sys
from pathlib import Path

# The groups of the front page, with their headers. A header that is in no group is an error.
# front.dox describes the groups.
GROUPS = {
    "model": ["model", "errors", "ids", "time"],
    "lp": ["logical_process", "process_factory", "rollback"],
    "context": ["context"],
    "events": ["event", "event_types", "handles", "kinds"],
    "processes": ["process", "process/*"],
    "measures": ["figures", "measures"],
    "options": ["options"],
    "random": ["random"],
    "mathematics": ["math"],
    None: ["payload_bytes", "send_buffer"],
}
# Classes that are in the group `output`, independently of their header.
OUTPUT = r"struct (OutputValue|OutputTable) "

COMMENT = re.compile(r"(\s*)//( ?)(.*)")
RULER = re.compile(r"\s*// -{3,}")
TRAILING = re.compile(r"""((?:[^"'/]|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|/(?!/)|(?<=\d)')*?\S)(\s+)//\s?(.*)""")
# Deleted copy operations, which need no documentation.
NO_COPIES = re.compile(r"\s*(\w+)\(const \1&\) = delete;|\s*\w+& operator=\(const \w+&\) = delete;")


def group_of(name):
    for group, members in GROUPS.items():
        if any(Path(name).match(member + ".hpp") for member in members):
            return group
    sys.exit(f"{name}: in no group of {__file__}")


def plain(text):
    """Escapes characters that Doxygen would read as tags or commands. Text in backticks and code
    blocks is not changed."""
    if text.startswith("    "):
        return text
    parts = re.split(r"(`[^`]*`)", text)
    parts[::2] = [re.sub(r"([<>&\\@#%]|--)", r"\\\1", part).replace("Requires:", "**Requires:**")
                  for part in parts[::2]]
    return "".join(parts)


def blocks_of(lines):
    """The comments on separate lines: pairs (first line, line after the last one)."""
    begun = None
    for number, line in enumerate([*lines, ""]):
        is_comment = COMMENT.fullmatch(line) and not RULER.match(line)
        if is_comment and begun is None:
            begun = number
        elif not is_comment and begun is not None:
            yield begun, number
            begun = None


def documented(lines, header):
    """The lines of a header with their comments as documentation."""
    header_name = str(header).split("include/numawarp/")[-1]
    group = group_of(header_name)
    main_class = "".join(word.capitalize() for word in Path(header_name).stem.split("_"))
    done = list(lines)
    for first, end in blocks_of(lines):
        if first > 0 and end < len(lines) and not lines[end].strip():
            continue
        marker = "///"
        before = TRAILING.fullmatch(lines[first - 1]) if first > 0 else None
        # A comment block directly below a trailing comment, in the same column, continues it.
        if before and len(COMMENT.fullmatch(lines[first])[1]) == before.start(3) - 3:
            marker = "///<"
        for number in range(first, end):
            indent, _, text = COMMENT.fullmatch(lines[number]).groups()
            done[number] = f"{indent}{marker} {plain(text)}".rstrip()
        if first == 0:
            done[end] = "/// @file"  # in place of the #pragma once
    for number, line in enumerate(lines):
        if COMMENT.fullmatch(line):
            continue
        if NO_COPIES.match(line):
            done[number] = ""
        elif (found := TRAILING.fullmatch(line)) and found[1] != "}":
            done[number] = f"{found[1]}{found[2]}///< {plain(found[3])}"
        elif re.match(OUTPUT, line):
            done[number - 1] += " @ingroup output"
        elif re.match(rf"(class|struct) (\[\[nodiscard\]\] )?{main_class}\b[^;]*{{", line):
            # The main class also gets the documentation of its header.
            said = number - 1 - lines[number - 1].startswith("template")
            done[said] += f" @copydoc {header_name}"
        elif line.startswith("struct std::"):
            # Doxygen cannot parse a class of another namespace, so it is left out.
            end = lines.index("};", number)
            done[number - 1:end + 1] = [""] * (end + 2 - number)
    for number, line in enumerate(lines):
        if group and re.fullmatch(r"namespace nw(::math)? {", line):
            done[number] += f"  /** @begin{{{group}}} */"  # an alias in the Doxyfile
        elif group and re.fullmatch(r"}  // namespace nw(::math)?", line):
            done[number] = f"/** @}} */ {line}"
    return done


if __name__ == "__main__":
    for header in map(Path, sys.argv[1:]):
        lines = header.read_text().splitlines()
        # The license in the first line is not documentation.
        print("\n".join(["", *documented(lines[1:], header)]))
