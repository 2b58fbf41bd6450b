#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the English of comments, messages and documents. docs/writing.md describes the style.

usage: english.py ROOT [-v] [--change BASE]

The check splits the texts of the tree into sentences. A sentence is flagged if one of RULES matches it. In each area
the share of flagged sentences must not be above the limit in LIMITS. It must not be more than SLACK percentage points
below the limit either, so that limits are lowered as the texts improve. The check also fails for each line with one of
the words in REPLACED, the old names of things in docs/glossary.md.

It reads
  comments  of C, C++, Promela, Python, shell and CMake, and docstrings
  strings   literals of five or more words, also of shell and CMake: help texts, messages, names of tests
  prose     of Markdown: paragraphs, list items, and table cells of five or more words

A flagged sentence is not always wrong, and a sentence that is not flagged can still be bad.

-v             prints each flagged sentence with its file and line
--change BASE  reads only sentences that touch a line added since commit BASE, prints those that are flagged, and
               ignores the limits

Exit code 1: a share is outside of its limits, a replaced word was found, or an added sentence is flagged.
"""

import argparse
import math
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from english_texts import QUOTES_BEGIN, QUOTES_END, sentences_in

# Percent of the sentences that may be flagged. The row "strings" counts the literals of src, numa, mpi and jobs. Each
# other row counts comments and prose. The rows of models and tests also count literals. README: all files outside of
# these folders.
LIMITS = {
    "src": 1,
    "numa": 0,
    "mpi": 0,
    "models": 1,
    "jobs": 1,
    "docs": 1,
    "tests": 1,
    "README": 1,
    "strings": 1,
}
SLACK = 2
STRINGS_APART = {"src", "numa", "mpi", "jobs"}

# Things that were renamed: a pattern of the old name, and the present name.
REPLACED = {
    r"anti[-_ ]event": "anti-message",
    r"set_back|\b(?:was|is|were|are|be) set back|\bsets (?:it|its LP|an LP|the LP) back": "rolled back",
    r"checkpoint[-_]every": "state-saving-interval for LPs, checkpoint-period for runs",
    r"run_checkpoints": "checkpoints",
    r"free_history": "fossil collection",
    r"waiting_anti": "unmatched_anti_messages",
    r"from_afar": "canceled_by_identity",
    r"\bhopeless": "infeasible",
    r"learn_gvt|take_in\b|wind_up|mind_memory|plan_ahead|spend_ahead|thrift": "the word of docs/glossary.md",
    r"[Ww]hereabouts": "error context",
    r"\bMapMove|\bmove_sobj\(": "GroupHome, request_migration",
    r"[Rr]ollback_?[Ss]pot": "most rolled back LPs",
    r"\blong_runs\b|how_to_go_on": "checkpoint_folders, restart_hint",
    r"lp_building|[Ff]inal_?[Ee]xecutor": "lp_lifetime, in_order_executor",
    r"[Uu]nmeasured guess": "how the value was derived, or what tests/bench/constants.py measured",
}
ANY_REPLACED = re.compile("|".join(REPLACED))
# These files may contain replaced words: they contain the patterns and examples, or they read the first format of the
# statistics.
MAY_HAVE_REPLACED = {
    "tests/checks/english.py", "tests/checks/english_test.py",
    "jobs/report_page/load.py", "tests/system/report_page.py",
}
# Decisions keep the words of their time.
HISTORY = "docs/decisions/"
# The literals of these files are patterns and examples of the rules.
OWN_LITERALS = {"tests/checks/english.py", "tests/checks/english_test.py"}

FOLDERS = ("src", "numa", "mpi", "models", "jobs", "docs", "tests")
# Files that are not read: input of tests, in part random bytes; files that Python makes; the examples of the rules.
NOT_READ = re.compile(r"tests/fuzz/corpus/|(?:.*/)?__pycache__/|tests/checks/english_examples\.txt$")


# --- Rules -----------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Rule:
    name: str
    pattern: re.Pattern
    advice: str
    names_too: bool = True  # False: code in backticks, paths and addresses are not searched
    not_after: re.Pattern | None = None  # no match counts if this matches the end of the text before it

    def matches(self, text):
        return any(self.not_after is None or not self.not_after.search(text[:match.start()])
                   for match in self.pattern.finditer(text))


PERSONS = """author customer developer driver engineer modeler modeller newcomer nurse patient planner person reader
    researcher user visitor writer""".split()
PERSON = "(?:" + "|".join(PERSONS) + ")s?|people|those|(?:any|every|some)one|(?:any|every|no|some)body"
PERIOD_OR_OWNER = "call|event|group|hour|LP|minute|node|page|rank|round|second|worker"
COUNTED = "batches|bytes|calls|events|faults|GB|messages|MB|pages|reductions|rollbacks|rounds|samples|times|turns"
BRITISH = """(?:behaviou|colou|favou|harbou|honou|humou|labou|neighbou|rumou)r(?:s|ed|ing|hood|able|al)?
    |(?:analy|cataly|paraly)s(?:e[ds]?|ing)|centred?|catalogue[ds]?|defence|licences?|grey
    |(?:cancell|channell|labell|modell|signall|travell)(?:ed|ing|ers?)
    |(?:final|general|initial|local|maxim|minim|normal|optim|organ|parallel|random|real|recogn|serial|special|summar
       |synchron|util|visual)is(?:e[ds]?|ers?|ing|ations?)"""

RULES = [
    Rule("headless",
         re.compile(r"""^(?:The\ same\b
                    | (?:That|Those|The\ ones?)\ of\b
                    | (?:Those|The\ ones?)\ (?:for|from|in|that|which|whose|with)\b
                    | Of\ (?:all|an?|its|the|these|what)\b
                    | (?:All|Both|Either|Neither|None|Nothing)\.
                    | Its\b[^.]*\.$)""", re.X),
         "begin with the noun that is meant"),
    Rule("what", re.compile(r"^What\b(?!.*\?$)"), "name the thing instead of describing it with 'What ...'"),
    Rule("who", re.compile(r"\bwho(?:m|ever)?\b", re.I), "a thread or an object is 'it'; name it",
         not_after=re.compile(rf"\b(?:{PERSON}),? $", re.I)),
    Rule("nobody", re.compile(r"\b(?:any|every|no|some)body\b", re.I), "name the actor, or use the passive"),
    Rule("says", re.compile(r"\b(?:says|said|tells?|told)\b|(?<!, )\bsay\b"),
         "objects store, return, report, describe or print; they do not speak"),
    Rule("speaks", re.compile(r"\b(?:speaks?|spoke)\b"), "objects send, describe or support; they do not speak", False),
    Rule("knows", re.compile(r"\b(?:knows|knew)\b"), "objects store or receive; they do not know", False),
    Rule("wants", re.compile(r"\bwants?\b", re.I), "objects need, require or request; they do not want", False,
         not_after=re.compile(rf"\b(?:{PERSON}|we|you)(?: may| might)? $", re.I)),
    Rule("looks",
         re.compile(r"\blooks\b|\blooked (?:after|at|into)\b|\blook(?:ing)? after\b"
                    r"|\b(?:an?|each|every|last|one|the|two) look\b", re.I),
         "objects read, check, search or poll; they do not look"),
    Rule("stands", re.compile(r"\bstand(?:s|ing)?\b|\bstood\b"), "things are in, at or part of something"),
    Rule("goes on", re.compile(r"\b(?:go|goes|going|gone|went) on\b"), "write 'continues'"),
    Rule("for good", re.compile(r"\bfor (?:good|ever)\b"), "write 'irrevocably', 'finally' or 'without end'"),
    Rule("so many", re.compile(r"\b[Ss]o (?:few|little|long|many|much|often)\b(?! (?:as|that)\b)"),
         "name the number, and its unit"),
    Rule("all that", re.compile(r"\bAll (?:in|is|of it|that)\b|\ball that\b"), "write 'everything that', or name it"),
    Rule("ours", re.compile(r"\bof (?:mine|ours|theirs|yours|(?:its|one's|our) own)\b"),
         "write 'its own ...', or name the owner"),
    Rule("legal", re.compile(r"\b(?:il)?legal(?:ly)?\b", re.I), "write 'allowed' or 'valid'", False),
    Rule("a second",
         re.compile(rf"\ban? (?:{PERIOD_OR_OWNER}) (?:at (?:least|most)|each)\b"
                    rf"|\b(?:{COUNTED}) an? (?:{PERIOD_OR_OWNER}|turn)\b"),
         "write 'per second', 'per worker'"),
    Rule("dear", re.compile(r"\b(?:is|are) well\b(?! (?:above|below|defined|formed|kept|known|tested|within))"
                            r"|\bdear(?:er|est|ly)?\b"),
         "write 'expensive', or 'correct'", False),
    Rule("put aside", re.compile(r"\b(?:put|puts|putting|set|sets) aside\b", re.I), "write 'deferred'", False),
    Rule("born", re.compile(r"\bborn\b"), "things are created or allocated; they are not born", False),
    Rule("spelling", re.compile(rf"\b(?:{BRITISH})\b", re.I | re.X), "use American spelling", False),
]

NAME = re.compile(r"``.+?``|\$\{.*?\}|`[^`]*`|\]\([^)]*\)|[\w-]*[/\\.][\w/\\.-]*\w")


def rules_against(sentence):
    """The rules that flag `sentence`."""
    without_names = NAME.sub("…", sentence)
    return [rule for rule in RULES if rule.matches(sentence if rule.names_too else without_names)]


# --- The check -------------------------------------------------------------------------------------------------------

# The license line of a source. It stays as an empty line, so that the numbers of lines are right.
LICENSE = re.compile(r"^(//|#|/\*) SPDX-License-Identifier: .*$", re.MULTILINE)


def files_below(root):
    """(name, text) of each file that the check reads."""
    paths = [*root.glob("*.md"), root / "CMakeLists.txt", root / "CITATION.cff", *(root / ".ci").rglob("*")]
    for folder in FOLDERS:
        paths += (root / folder).rglob("*")
    for path in sorted(paths):
        name = path.relative_to(root).as_posix()
        if path.is_file() and not NOT_READ.match(name):
            source = path.read_bytes()
            if b"\0" not in source:
                yield name, LICENSE.sub("", source.decode(errors="replace"))


def area_of(name, kind):
    folder = name.partition("/")[0]
    if folder not in FOLDERS:
        return "README"
    return "strings" if kind == "strings" and folder in STRINGS_APART else folder


class Findings:
    def __init__(self):
        self.sentences, self.flagged = Counter(), Counter()  # numbers of sentences in each area
        self.hits = []  # of flagged sentences: (file, sentence, rules)
        self.errors = []  # lines of output for all other faults


def added_lines(root, base):
    """The numbers of the lines that were added since commit `base`, for each file; None: all of its lines."""
    def git(*words):
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            sys.exit(f"english.py: --change {base}: {done.stderr.strip()}")
        return done.stdout

    added = dict.fromkeys(git("ls-files", "--others", "--exclude-standard").splitlines())
    name, left = None, 0
    difference = git("diff", "--no-color", "--no-ext-diff", "--no-renames", "--relative", "-U0", base, "--", ".")
    for line in difference.split("\n"):
        if left and line[:1] in ("+", "-"):
            left -= 1  # a line of the present hunk, which can begin with +++, too
        elif line.startswith("+++ "):
            name = line.removeprefix("+++ ").removeprefix("b/").rstrip("\t")
        elif hunk := re.match(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", line):
            removed, first, count = (int(number) if number else 1 for number in hunk.groups())
            left = removed + count
            added.setdefault(name, set()).update(range(first, first + count))
    return added


def examine(root, base=None):
    findings = Findings()
    added = added_lines(root, base) if base else None

    def counts(name, first, last):
        if added is None:
            return True
        return name in added and (added[name] is None or not added[name].isdisjoint(range(first, last + 1)))

    for name, source in files_below(root):
        if name.endswith(".md") and source.count(QUOTES_BEGIN) != source.count(QUOTES_END):
            findings.errors.append(f"{name}:1: {QUOTES_BEGIN} and {QUOTES_END} do not come in pairs")
        for sentence in sentences_in(name, source):
            if not counts(name, sentence.first, sentence.last):
                continue
            area = area_of(name, sentence.kind)
            findings.sentences[area] += 1
            rules = rules_against(sentence.text)
            if rules and not (name in OWN_LITERALS and sentence.kind == "strings"):
                findings.flagged[area] += 1
                findings.hits.append((name, sentence, rules))
        if name in MAY_HAVE_REPLACED or name.startswith(HISTORY) or not ANY_REPLACED.search(source):
            continue
        for number, line in enumerate(source.splitlines(), 1):
            for word, instead in REPLACED.items():
                if (match := re.search(word, line)) and counts(name, number, number):
                    findings.errors.append(f"{name}:{number}: {match[0]}: replaced by {instead}")
    return findings


def percent(part, whole):
    return 100 * part / max(1, whole)


def breaches_of_limits(findings, limits):
    for area, limit in limits.items():
        flagged, sentences = findings.flagged[area], findings.sentences[area]
        share = percent(flagged, sentences)
        found = f"{area}: {flagged} of {sentences} sentences are flagged ({share:.1f} %)"
        if share > limit:
            yield f"{found}; allowed: at most {limit} %. -v prints them, --change BASE prints the new ones"
        elif share < limit - SLACK:
            yield f"{found}, far below the limit of {limit} %; set LIMITS of {area} to {math.ceil(share)}"


def check(root, verbose, base):
    findings = examine(root, base)
    if verbose or base:
        for name, sentence, rules in sorted(findings.hits, key=lambda hit: (hit[0], hit[1].first)):
            print(f"{name}:{sentence.first}: {', '.join(rule.name for rule in rules)}: {sentence.text}")
        for rule in RULES:
            if any(rule in rules for _, _, rules in findings.hits):
                print(f"{rule.name}: {rule.advice}")
    errors = list(findings.errors)
    if base:
        print(f"{len(findings.hits)} of {sum(findings.sentences.values())} added sentences are flagged")
        failed = bool(errors or findings.hits)
    else:
        print("area     flagged  sentences   share  limit")
        for area, limit in LIMITS.items():
            flagged, sentences = findings.flagged[area], findings.sentences[area]
            print(f"{area:8} {flagged:7} {sentences:10} {percent(flagged, sentences):5.1f} % {limit:4} %")
        errors += breaches_of_limits(findings, LIMITS)
        failed = bool(errors)
    for error in errors:
        print(error)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("root", type=Path, metavar="ROOT")
    parser.add_argument("-v", "--verbose", action="store_true", help="print each flagged sentence")
    parser.add_argument("--change", metavar="BASE", help="check only what was added since commit BASE")
    given = parser.parse_args()
    sys.exit(check(given.root, given.verbose, given.change))


if __name__ == "__main__":
    main()
