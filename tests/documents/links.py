#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the documents: targets and anchors of links exist, files named in backticks exist, each
page can be reached from the README, and blocks follow the rule of document.py, which the other
tests require."""

import re
import sys

from document import LANGUAGES, Document, documents
from programs import CHECKOUT

pages = documents()
failures = []


def target_of(page, link):
    path, _, anchor = link.partition("#")
    return ((page.path.parent / path).resolve() if path else page.path), anchor


def local_links(page):
    return [link for link in page.links if not re.match(r"\w+:", link)]


for page in pages:
    for link in local_links(page):
        file, anchor = target_of(page, link)
        if not file.exists():
            failures.append(f"{page}: link {link}: no such file")
        elif anchor and anchor not in Document(file).anchors:
            failures.append(f"{page}: link {link}: no such heading")
    top = "src|numa|models|mpi|docs|tests|jobs"
    for name in re.findall(rf"`(?:\./)?((?:{top})/[\w./-]+)`", page.prose):
        if not (CHECKOUT / name).exists():
            failures.append(f"{page}: no file {name}")
    for block in page.blocks:
        if block.language not in LANGUAGES | {"indented"}:
            failures.append(f"{page}:{block.line}: a fence of '{block.language}'; allowed: "
                            f"{', '.join(sorted(LANGUAGES))}")

reached, ahead = set(), [pages[0].path]
while ahead:
    path = ahead.pop()
    if path in reached or path.suffix != ".md" or not path.exists():
        continue
    reached.add(path)
    page = Document(path)
    ahead += [target_of(page, link)[0] for link in local_links(page)]
failures += [f"{page}: no path of links leads here from README.md" for page in pages
             if page.path not in reached]

for file in sorted((CHECKOUT / "docs/results").iterdir()):
    if not any(file in [target_of(page, link)[0] for link in local_links(page)] for page in pages):
        failures.append(f"docs/results/{file.name}: no document links to it")

print("\n".join(failures) or f"{len(pages)} documents, "
      f"{sum(len(local_links(page)) for page in pages)} links")
sys.exit(1 if failures else 0)
