#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the commits at which figures in the documents and in docs/results were measured. They are
ancestors of the present commit, so that the measurements can be repeated. So no figure is from a
commit that a rebase has replaced, or from a tree with changes. The documents call another project's
commit a revision, so that this test ignores it. The test needs the history, which an unpacked
archive or a shallow clone does not contain."""

import re
import shutil
import subprocess
import sys

from document import documents
from programs import CHECKOUT, Programs, rows_of

SKIPPED = 77
NAMED = re.compile(r'(?:"commit": "|\bcommit:?\s+|\bnumawarp )([0-9a-f]{7,40}(?:-dirty)?)\b')
# Commits that were rebased after the measurement. A commit is removed from this list when its page
# is generated again.
REPLACED = {"c7b8a65f0153"}
# Results that were predicted and not measured: a beginning of their names, with the first digit of
# the date. (The names of the metered series differ before the date.)
PREDICTED = ("paper-bwap-2",)

programs = Programs()


def git(*arguments):
    return subprocess.run(["git", "-C", CHECKOUT, *arguments], capture_output=True, text=True)


if shutil.which("git") is None:
    print("no git here")
    sys.exit(SKIPPED)


def commits_of(file):
    if file.suffix == ".csv":
        return {row["commit"] for row in rows_of(file) if row.get("commit")}
    return set(NAMED.findall(file.read_text()))


top = git("rev-parse", "--show-toplevel", "--is-shallow-repository")
if top.stdout.split("\n")[:2] != [str(CHECKOUT), "false"]:
    print(f"no history of this tree: {top.stdout}{top.stderr}")
    sys.exit(SKIPPED)

results = sorted((CHECKOUT / "docs/results").iterdir())
for file in sorted({*results, *(page.path for page in documents())}):
    for commit in sorted(commits_of(file) - REPLACED):
        known = git("merge-base", "--is-ancestor", commit, "HEAD").returncode == 0
        programs.expect(known, f"{file.relative_to(CHECKOUT)}: {commit} is an ancestor of HEAD")
# It is enough if the page or one of its tables names the commit.
for name in sorted({file.stem for file in results if not file.name.startswith(PREDICTED)}):
    said = any(commits_of(file) for file in results if file.stem == name)
    programs.expect(said, f"docs/results/{name} names the commit of its measurement")
programs.leave()
