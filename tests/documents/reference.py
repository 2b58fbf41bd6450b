#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The reference of the public headers (jobs/reference) is generated without a warning. It contains
all public headers. If a name of any kind has no comment, the generation fails with a line that
contains the name. The test is skipped if Doxygen is missing."""

import re
import shutil
import subprocess
import sys
from html import unescape

from programs import CHECKOUT, Programs

HEADERS = CHECKOUT / "src/include/numawarp"
# (header, the removed text, the name that then has no comment)
BREACHES = [
    ("ids", "// The number of an event type, chosen by the model.\n", "EventType"),
    ("ids", "// A rank (an operating-system process of the run). Used by the engine.\n", "RankId"),
    ("time", "// The time at which every run begins.\n", "time_zero"),
    ("context", "    // The LP whose handler is running.\n", "self()"),
    ("model", "  // of all ranks", "committed_events"),
    ("options", "// The numbers ≥ `bound`: nw::from(1), nw::from(0).to(1).\n", "from(double bound)"),
    ("measures", "// A figure of the run, combined from one figure of each LP.\n", "nw::Measure"),
    ("process/resource", "// A resource with a queue of requests.\n", "nw::Resource"),
    ("process/resource", "    // The number of requests in the queue now.\n", "waiting()"),
    ("process/environment", "    // Uniform in [0, 1).\n", "uniform()"),
]

programs = Programs()


def reference(name, *headers):
    folder = programs.work / name
    done = subprocess.run([CHECKOUT / "jobs/reference", folder, *headers], capture_output=True, text=True)
    if done.returncode == 4:
        print(f"skipped: {done.stderr.strip()}")
        sys.exit(77)
    return done, folder / "html"


def words_of(page):
    return unescape(re.sub(r"<[^>]*>", " ", page.read_text())).replace("\u200b", "")


def public_part(text):
    for part in (r"^namespace (nw::)?detail {.*?^}  // namespace (nw::)?detail$", r"^  private:.*?^};$"):
        text = re.sub(part, "", text, flags=re.DOTALL | re.MULTILINE)
    return text


def enumerators_without_comment(text):
    """Enumerators without a comment, which Doxygen does not report."""
    return [line.strip() for body in re.findall(r"enum (?:class )?\w+[^;{]*{([^}]*)}", public_part(text))
            for line in body.split("\n") if line.strip() and "//" not in line]


def check_pages(html):
    """Checks that every header, every class and every group is in the index pages."""
    files, classes = words_of(html / "files.html"), words_of(html / "annotated.html")
    count = 0
    for header in HEADERS.rglob("*.hpp"):
        programs.expect(header.name in files, f"{header.name} has a page")
        text = public_part(header.read_text())
        for name in re.findall(r"^(?:class|struct)(?: \[\[nodiscard\]\])? (\w+)\b[^;:(]*(?:: [^;]*)?{", text,
                               re.MULTILINE):
            count += 1
            if not re.search(rf"\bC?{name}\b", classes):
                programs.expect(False, f"{name} is among the classes")
        bare = enumerators_without_comment(text)
        programs.expect(not bare, f"{header.name}: enumerators without a comment: {bare}")
    programs.expect(count > 50, f"{count} classes")
    groups = set(re.findall(r"group__\w+\.html", (html / "index.html").read_text()))
    programs.expect(len(groups) == 10, f"the front page leads to {len(groups)} groups")
    for group in sorted(groups):
        rows = (html / group).read_text().count('class="memitem:')
        programs.expect(rows >= 1, f"{group}: {rows} names")
    text = words_of(html / "classnw_1_1Resource.html")
    programs.expect("first come, first served" in text and "counters, machines, staff" in text,
                    "a class has its own comments and those of its header")


programs.expect(enumerators_without_comment("enum class A { a, b };\nenum B : int {\n    a,  // one\n    b\n};")
                == ["a, b", "b"], "an enumerator without a comment is found")
done, html = reference("reference")
programs.expect(done.returncode == 0 and not done.stderr, f"exit code {done.returncode} {done.stderr[-2000:]}")
if done.returncode == 0:
    check_pages(html)

copy = programs.work / "include/numawarp"
shutil.copytree(HEADERS, copy)
for header, comment, _ in BREACHES:
    file = copy / f"{header}.hpp"
    programs.expect(file.read_text().count(comment) == 1, f"{header}: contains once {comment.strip()}")
    file.write_text(file.read_text().replace(comment, "\n" * comment.count("\n")))
done, _ = reference("without", copy)
programs.expect(done.returncode == 1, f"without comments: exit code {done.returncode}")
for header, comment, name in BREACHES:
    # The reported line must be the line of the name.
    lines = (copy / f"{header}.hpp").read_text().splitlines()
    word = re.escape(name.split("::")[-1].split("(")[0])
    found = re.search(rf"{header}\.hpp:(\d+): .*\b{word}\b.* is not documented", done.stderr)
    programs.expect(bool(found) and any(re.search(rf"\b{word}\b", line) for line in
                                        lines[int(found[1]) - 1:int(found[1])]),
                    f"{header}: {name} is named{', line ' + found[1] if found else ''}")

(copy / "other.hpp").write_text("namespace nw {\n}  // namespace nw\n")
done, _ = reference("other", copy)
programs.expect(done.returncode == 1 and "other.hpp: in no group" in done.stderr,
                f"a header without a group: exit code {done.returncode} {done.stderr.strip()}")
done, _ = reference("nowhere", programs.work / "nowhere")
programs.expect(done.returncode == 2 and done.stderr.count("\n") == 1, f"no headers: {done.stderr.strip()}")
programs.leave()
