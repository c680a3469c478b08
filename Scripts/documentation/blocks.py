# SPDX-License-Identifier: Apache-2.0

"""Reads the fenced code blocks of articles and doc comments, with the hidden comments that control their checks.

A hidden comment is an HTML comment that starts with "check:". DocC and GitHub do not render it.

    <!-- check: swift            Swift at file scope for every Swift block of the document: imports, private names
    …
    -->
    <!-- check: sh               shell code that runs at this position and is not rendered
    …
    -->
    <!-- check: skip REASON -->  the next block is not checked
    <!-- check: main-actor -->   the next Swift block must also compile on the main actor, like the top-level code of main.swift
    <!-- check: file-scope -->   the next Swift block is at file scope, so that later blocks can use its declarations
    <!-- check: exit STATUS -->  the last command of the next block exits with this status
    <!-- check: shape -->        numbers in the output of the next block may differ
    <!-- check: file NAME -->    the next block is written to this file, for the commands that follow
    <!-- check: sql ADDRESS -->  the next block runs in this PostgreSQL database
"""

import dataclasses
import pathlib
import re
import textwrap

FENCE = re.compile(r"^( *)```(\S*)\s*$")
DOC_COMMENT = re.compile(r"^\s*/// ?")


@dataclasses.dataclass
class Block:
    path: str
    line: int
    language: str
    text: str
    is_hidden: bool = False
    marks: dict = dataclasses.field(default_factory=dict)

    @property
    def place(self):
        return f"{self.path}:{self.line}"


@dataclasses.dataclass
class Document:
    path: str
    # Swift at file scope: the text of each hidden comment, and the number of its first line.
    setup: list
    blocks: list
    errors: list


MARKS = {"skip": r".+", "main-actor": r"", "file-scope": r"", "exit": r"\d+", "shape": r"", "file": r"[\w.-]+", "sql": r"\S+"}


def read(path):
    """Reads a document: an article, or the doc comments of a Swift file."""
    lines = pathlib.Path(path).read_text().splitlines()
    if path.endswith(".swift"):
        lines = [DOC_COMMENT.sub("", line) if DOC_COMMENT.match(line) else "" for line in lines]
    document = Document(path, [], [], [])
    marks = {}
    index = 0
    while index < len(lines):
        line, number = lines[index], index + 1
        index += 1
        if found := re.match(r"^ *<!-- check: ([\w-]+) ?(.*)$", line):
            kind, rest = found.groups()
            if kind in ("swift", "sh"):
                end = next((at for at in range(index, len(lines)) if lines[at].strip() == "-->"), len(lines))
                text = "\n".join(lines[index:end])
                if kind == "swift":
                    document.setup.append((number + 1, text))
                else:
                    document.blocks.append(Block(path, number + 1, "sh", text, is_hidden=True))
                index = end + 1
            elif kind in MARKS and (value := re.fullmatch(rf"({MARKS[kind]}) *-->", rest)):
                marks[kind] = value[1].rstrip()
            else:
                document.errors.append(f"{path}:{number}: error: unknown check comment: {line.strip()}")
        elif found := FENCE.match(line):
            closing = f"{found[1]}```"
            end = next((at for at in range(index, len(lines)) if lines[at].rstrip() == closing), None)
            if end is None:
                document.errors.append(f"{path}:{number}: error: the code block is not closed")
                break
            text = textwrap.dedent("\n".join(lines[index:end]))
            document.blocks.append(Block(path, number + 1, found[2], text, marks=marks))
            marks, index = {}, end + 1
    if marks:
        document.errors.append(f"{path}: error: no code block follows the check comment {marks}")
    return document
