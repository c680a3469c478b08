# SPDX-License-Identifier: Apache-2.0

"""Finds symbols of the standard library that are newer than the platforms in Package.swift.

Only a build with Apple's SDK checks availability. On Linux, this reads the versions in the interfaces of the toolchain,
and compares names: a name that also has an older declaration is checked only if it is in ALWAYS.
"""

import pathlib
import re
import shutil

from checks import common, source

MODULES = ["Swift", "_Concurrency", "Synchronization", "_StringProcessing", "Observation"]
# Patterns of symbols that share their name with older ones, with the version of macOS.
ALWAYS = {r"\.mutableSpan\b": "26", r"\bisolated deinit\b": "15.4", r"\bUTF8Span\b": "26", r"\bInlineArray\b": "26"}
# Uses that are correct on older systems.
ALLOWED = {"isIsolatingCurrentContext": "a witness that older systems do not call"}
AVAILABLE = re.compile(r"@available\(macOS ([\d.]+)")
DECLARATION = re.compile(r"\b(?:func|var|struct|class|enum|protocol|actor|typealias|static let)\b (\w+)")
# Declarations and parameters of the package.
OWN = re.compile(r"\b(?:func|var|let|case|struct|class|enum|protocol|actor) `?(\w+)|\b(\w+):")


def version(text):
    return tuple(int(part) for part in (text + ".0").split(".")[:2])


def declarations(path):
    """Yields the names of an interface with the version of each: that of the declaration or of what encloses it."""
    enclosing = []
    pending = (0, 0)
    for line in path.read_text().splitlines():
        text = line.strip()
        if match := AVAILABLE.match(text):
            pending = max(pending, version(match[1]))
            continue
        declaration = DECLARATION.search(text)
        if not text or text.startswith(("#", "@")) and not declaration and "{" not in text:
            continue
        if declaration and re.search(r"\b(public|open)\b", text):
            yield declaration[1], max([pending, *enclosing])
        change = text.count("{") - text.count("}")
        enclosing += [pending] * max(0, change)
        del enclosing[len(enclosing) - min(len(enclosing), max(0, -change)):]
        pending = (0, 0)


def check():
    """Sources use no symbol of the standard library that is newer than the platforms."""
    oldest = re.search(r"\.macOS\(\.v(\d+)\)", common.read("Package.swift"))[1]
    toolchain = pathlib.Path(shutil.which(common.SWIFT)).resolve().parent.parent
    interfaces = [path for module in MODULES
                  for path in toolchain.glob(f"lib/swift/linux/{module}.swiftmodule/*.private.swiftinterface")]
    if not interfaces:
        common.skip("availability", "this toolchain has no interfaces of the standard library")
        return
    newer, older = {}, set()
    for path in interfaces:
        for name, needed in declarations(path):
            if needed > version(oldest):
                newer[name] = ".".join(map(str, needed))
            else:
                older.add(name)
    sources = {path: source.code(path.read_text()) for path in sorted(pathlib.Path("Sources").rglob("*.swift"))}
    own = {name for text in sources.values() for names in OWN.findall(text) for name in names}
    names = newer.keys() - older - own - ALLOWED.keys()
    patterns = {rf"\b{name}\b": newer[name] for name in sorted(names)} | ALWAYS
    for path, text in sources.items():
        for pattern, needed in patterns.items():
            for match in re.finditer(pattern, text):
                yield (f"{source.place(path, text, match.start())}: {match[0]} requires macOS {needed}, "
                       f"and the package supports macOS {oldest}")
