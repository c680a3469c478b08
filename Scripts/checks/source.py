# SPDX-License-Identifier: Apache-2.0

"""Reads Swift without a compiler: code without literals, `await` behind other elements, and the members of types."""

import re

# Comments, regular expressions, the starts of string literals, and parentheses.
LITERAL = re.compile(r'''//[^\n]*|/\*.*?\*/|(?<=[(\s,])/(?![\s*/])(?:\\.|[^/\n\\])+/|(#*)("""|")|[()]''', re.S)
SEPARATOR = re.compile(r"[()\[\]{},:]|\bawait\b")

TYPE = re.compile(r"\b(?:struct|class|actor|enum|protocol|extension)\s+(?!func\b|var\b|let\b)([A-Za-z_][\w.]*)[^{};]*$", re.S)
MEMBER = re.compile(r"\s*((?:@\w+(?:\([^)]*\))?\s+|\w+(?:\(\w+\))?\s+)*?)(func|let|var)\s")
STATIC = re.compile(r"\b(static|class)\b")
COMPUTED = re.compile(r"^[^=]*\{\s*(?!\s*(willSet|didSet)\b)", re.S)


def line(text, position):
    """Returns the line at a position."""
    return text[text.rfind("\n", 0, position) + 1:].split("\n", 1)[0]


def place(path, text, position):
    """Returns the file, the number and the beginning of the line at a position."""
    number = text.count("\n", 0, position) + 1
    return f"{path}:{number}: {line(text, position).strip()[:100]}"


def code(source):
    """Returns the source with spaces in place of comments, regular expressions and strings, without their interpolations."""
    blank = []

    def end_of_code(index, depth):
        """Returns the index after the parenthesis that closes an interpolation; otherwise the end."""
        while depth and (token := LITERAL.search(source, index)):
            index = token.end()
            if token[2]:
                index = end_of_string(*token.span(), token[1], token[2])
            elif token[0] in "()":
                depth += 1 if token[0] == "(" else -1
            else:
                blank.append(token.span())
        return index

    def end_of_string(start, index, pounds, quotes):
        while stop := re.compile(rf"{quotes}{pounds}|\\{pounds}(.)", re.S).search(source, index):
            index = stop.end()
            if stop[1] == "(":
                blank.append((start, index - 1))
                start = index = end_of_code(index, 1)
            elif not stop[1]:
                blank.append((start, index))
                return index
        return len(source)

    # A depth that no file reaches: all of it is code.
    end_of_code(0, len(source) + 1)
    characters = list(source)
    for start, end in blank:
        characters[start:end] = re.sub(r"[^\n]", " ", source[start:end])
    return "".join(characters)


def late_awaits(text):
    """Yields the position of each `await` that follows another element of a tuple, list or argument list in code.

    The optimiser of Swift 6.3.1 overwrites an element that was evaluated before an `await` in the same expression. Assign
    the awaited value to a constant first: `let receipt = try await send(); return (index, receipt)`. The operands of
    operators are not checked.
    """
    # For each open bracket: its character, and whether an element precedes the current position.
    open_brackets = []
    for token in SEPARATOR.finditer(text):
        if token[0] in "([{":
            open_brackets.append([token[0], False])
        elif token[0] in ")]}":
            del open_brackets[-1:]
        elif token[0] == "await":
            # A closure's body is evaluated separately, so only the brackets within it count.
            for bracket, follows in reversed(open_brackets):
                if bracket == "{":
                    break
                if follows:
                    yield token.start()
                    break
        elif open_brackets and (token[0] == "," or open_brackets[-1][0] == "["):
            open_brackets[-1][1] = True


def count_members(text, prefix, counts):
    """Adds the methods and the stored properties in the body of a type, or in the code of a file, to `counts`.

    Nested types count separately. Initializers and computed and static properties are not counted.
    """
    start = depth = 0
    flat = []
    for brace in re.finditer(r"[{}]", text):
        index = brace.start()
        if brace[0] == "{":
            if depth == 0:
                opened = index
            depth += 1
            continue
        depth -= 1
        if depth == 0:
            head = text[start:opened]
            if declaration := TYPE.search(head):
                name = declaration[1]
                count_members(text[opened + 1:index], f"{prefix}.{name}" if prefix else name, counts)
                flat.append(head[:declaration.start()])
            else:
                flat.append(head + "{ " + text[opened + 1:index].strip()[:6].replace("\n", " ") + "}")
            start = index + 1
    flat.append(text[start:])
    if not prefix:
        return
    for line in "".join(flat).split("\n"):
        if not (member := MEMBER.match(line)):
            continue
        if member[2] == "func":
            counts[prefix]["methods"] += 1
        elif not STATIC.search(member[1]) and not COMPUTED.match(line):
            counts[prefix]["stored properties"] += 1
