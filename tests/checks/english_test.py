#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that each rule of english.py flags its examples in english_examples.txt, that the readers find the texts and
the lines of the texts in each kind of file, and that limits and --change work. Exit code 1 and a line for each
failure."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from english import RULES, Findings, breaches_of_limits, examine, rules_against
from english_texts import QUOTES_BEGIN, QUOTES_END, Piece, sentences_of

EXAMPLES = Path(__file__).with_name("english_examples.txt")

BAD, GOOD = "That of its owner.", "The owner frees the block."
# (file, text, lines): exactly one sentence is flagged at each of the lines
PLANTED = [
    ("src/comment.cpp", f"""// {GOOD}
// {BAD} {GOOD}
int million = 1'000'000;  // {BAD}
int next = 0;  // {GOOD}
/* {GOOD}
 * It reads the file that nobody
 * has written. */
char quote = '"';  // {BAD}
// --- Lines that nobody has written ------
// {GOOD}
""", [2, 3, 6, 8, 9]),
    ("src/literal.cpp", f"""auto one = "the file that nobody has written";
auto two = "the file of the worker that "
           "nobody has written";
auto few = "nobody is here";
auto code = R"(// nobody has written this line
int x;
)";
auto text = R"(usage: program

{GOOD}
The file that nobody has written.)";
#include "nobody/has/written/a/header.hpp"
""", [1, 2, 11]),
    ("tests/docstring.py", f'''#!/usr/bin/env python3
"""{GOOD}

{BAD}"""

x = 1  # {BAD}
y = f"the file {{x}} that nobody has written"
z = "nobody is here"


def f():
    """{BAD}"""
''', [4, 6, 7, 12]),
    ("jobs/script", f"""#!/usr/bin/env bash
# {GOOD}
# {BAD}
echo "the file that nobody has written" # {BAD}
cat <<< word
cat <<END
{GOOD}

  It reads the file that nobody has written.
END
number=${{#array}}
""", [3, 4, 4, 9]),
    ("mpi/CMakeLists.txt", f"""# {BAD}
message(FATAL_ERROR "the file that nobody has written")
""", [1, 2]),
    ("docs/page.md", f"""# The heading that nobody has written

{GOOD} It reads the file
that nobody has written.

- {BAD}
- {GOOD}

| head | head |
| --- | --- |
| {GOOD} | the file that nobody has written |
| nobody | knows |

    nobody runs this command line here

```text
The file that nobody has written.
```

{QUOTES_BEGIN}
| {BAD} | the file that nobody has written |
{QUOTES_END}

> {BAD}
""", [3, 6, 11, 24]),
    ("README.md", f"{BAD}\n", [1]),
    ("docs/renamed.md", "The anti-event is sent.\n", []),
    ("docs/decisions/0001-old.md", "The anti-event is sent.\n", []),
    ("docs/open.md", f"{QUOTES_BEGIN}\n", []),
    ("tests/fuzz/corpus/seed", f"# {BAD}\n", []),
]
PLANTED_ERRORS = ["docs/open.md:1: ", "docs/renamed.md:1: anti-event: "]


def examples():
    """Yields (rule, whether the rule flags the sentence, sentence) for each example."""
    rule = None
    for line in EXAMPLES.read_text().splitlines():
        if line.startswith("["):
            rule = line.strip("[]")
        elif line.startswith(("- ", "+ ")):
            yield rule, line[0] == "-", line[2:]


def failures_of_rules():
    bad_examples = Counter()
    for name, is_bad, text in examples():
        matching = {rule.name for sentence in sentences_of("prose", [Piece(1, 1, text)])
                    for rule in rules_against(sentence.text)}
        bad_examples[name] += is_bad
        if is_bad and name not in matching:
            yield f"{name}: not flagged: {text}"
        if not is_bad and matching:
            yield f"{name}: flagged by {matching}: {text}"
    names = {rule.name for rule in RULES}
    yield from (f"{name}: no bad example" for name in sorted(names) if not bad_examples[name])
    yield from (f"{name}: no such rule" for name in sorted(bad_examples.keys() - names))


def failures_of_readers(root):
    for name, text, _ in PLANTED:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    findings = examine(root)
    for name, _, expected in PLANTED:
        found = sorted(sentence.first for hit, sentence, _ in findings.hits if hit == name)
        if found != expected:
            yield f"{name}: flagged in lines {found}, expected {expected}"
    errors = sorted(findings.errors)
    if len(errors) != len(PLANTED_ERRORS) or not all(map(str.startswith, errors, PLANTED_ERRORS)):
        yield f"expected {PLANTED_ERRORS}, found {errors}"
    # The 6 literals are: 3 in src, 2 in jobs, 1 in mpi.
    for area, expected in {"src": 5, "strings": 6, "tests": 4, "jobs": 2, "mpi": 1, "docs": 4, "README": 1}.items():
        if findings.flagged[area] != expected:
            yield f"area {area}: {findings.flagged[area]} sentences flagged, expected {expected}"


def failures_of_change(root):
    """`root` has the planted files."""
    def git(*words):
        subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True)

    git("init")
    for option, value in {"user.name": "test", "user.email": "test@localhost", "commit.gpgsign": "false"}.items():
        git("config", option, value)
    git("add", ".")
    git("commit", "--no-verify", "-m", "planted")
    page = root / "docs/page.md"
    lines = page.read_text().split("\n")
    lines[3:3] = ["This line is added to it, and"]  # within the first flagged sentence
    lines[6:6] = ["- The anti-event of " + GOOD, "- " + BAD]
    page.write_text("\n".join(lines))
    (root / "docs/new.md").write_text(f"{GOOD}\n\n{BAD}\n")
    findings = examine(root, "HEAD")
    found = sorted((name, sentence.first) for name, sentence, _ in findings.hits)
    expected = [("docs/new.md", 3), ("docs/page.md", 3), ("docs/page.md", 8)]
    errors = [error for error in findings.errors if not error.startswith("docs/open.md")]
    if found != expected or len(errors) != 1 or not errors[0].startswith("docs/page.md:7: anti-event"):
        yield f"--change: found {found} and {findings.errors}, expected {expected} and docs/page.md:7"


def failures_of_limits():
    findings = Findings()
    findings.sentences["src"], findings.flagged["src"] = 1000, 55
    for limit, word in {5: "at most 5 %", 6: None, 7: None, 8: "LIMITS of src to 6", 20: "LIMITS of src to 6"}.items():
        found = list(breaches_of_limits(findings, {"src": limit}))
        if len(found) != bool(word) or word and word not in found[0]:
            yield f"5.5 % with a limit of {limit} %: {found}"


def main():
    failures = [*failures_of_rules(), *failures_of_limits()]
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        del os.environ[name]  # the variables of a Git hook name another repository
    with tempfile.TemporaryDirectory() as folder:
        failures += failures_of_readers(Path(folder))
        if shutil.which("git"):
            failures += failures_of_change(Path(folder))
    print("\n".join(failures) or "every rule and every reader finds its examples")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
