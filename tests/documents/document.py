# SPDX-License-Identifier: Apache-2.0
"""Splits a Markdown document into the parts that tests check.

The documents follow a rule: an indented block, or a fence of `sh`, contains shell lines to type;
every other separate block is in a fence that names its language (`mermaid` for charts, `text` for
output, layouts and formulas)."""

import re
from dataclasses import dataclass
from functools import cached_property

from programs import CHECKOUT

LANGUAGES = {"sh", "text", "cpp", "cmake", "toml", "python", "r", "json", "mermaid"}


def program(path):
    """The text of a source file without its license line, which documents do not show."""
    license, _, text = path.read_text().partition("\n")
    assert "SPDX-License-Identifier" in license, path
    return text


@dataclass(frozen=True)
class Block:
    line: int  # number of its first line in the document, from 1
    language: str
    text: str


@dataclass(frozen=True)
class Command:
    line: int
    text: str  # without its comment


class Document:
    def __init__(self, path):
        self.path = path
        self.name = str(path.relative_to(CHECKOUT))
        self.text = path.read_text()

    def __str__(self):
        return self.name

    @cached_property
    def _parts(self):
        """(blocks, lines of prose)"""
        blocks, prose, block, language = [], [], [], None
        start, before = 0, ""
        for number, line in enumerate(self.text.split("\n") + [""], 1):
            indented = re.match(r" {4,}\S", line)
            if language in (None, "indented") and line.startswith("```"):
                language, start, block = line[3:].strip() or "none", number + 1, []
            elif language not in (None, "indented"):
                if line.startswith("```"):
                    blocks.append(Block(start, language, "".join(block)))
                    language = None
                else:
                    block.append(line + "\n")
            elif indented and (language == "indented" or not before.strip()):
                if language is None:
                    language, start, block = "indented", number, []
                block.append(line + "\n")
            else:
                if language == "indented":
                    blocks.append(Block(start, language, "".join(block)))
                    language = None
                prose.append(line)
            before = line
        return blocks, prose

    @property
    def blocks(self):
        return self._parts[0]

    @property
    def prose(self):
        return "\n".join(self._parts[1])

    @property
    def commands(self):
        """All shell lines, in order."""
        return [command for block in self.blocks if block.language in ("indented", "sh")
                for command in commands_of(block)]

    @property
    def spans(self):
        """The texts in backticks in the prose."""
        return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", self.prose)]

    @property
    def links(self):
        return re.findall(r"\]\(([^)\s]+)\)", self.prose)

    @property
    def anchors(self):
        """The anchors that GitHub generates from the headings."""
        headings = re.findall(r"^#+ (.*)$", self.prose, re.MULTILINE)
        return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def commands_of(block):
    found, begun = [], ""
    for number, line in enumerate(block.text.splitlines(), block.line):
        line = re.sub(r"(^|\s+)#( .*|!.*|SBATCH .*)?$", "", line).strip()
        if line.endswith("\\"):
            begun += line[:-1]
        elif begun + line:
            found.append(Command(number, begun + line))
            begun = ""
    return found


def documents():
    """All documents, README.md first."""
    folders = ["docs", "jobs", "models", "mpi", "numa", "src", "tests"]
    below = sorted(path for folder in folders for path in (CHECKOUT / folder).rglob("*.md"))
    top = [CHECKOUT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return [Document(path) for path in [*top, *below]]
