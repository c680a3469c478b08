# SPDX-License-Identifier: Apache-2.0

"""The rules of style that the compiler and the formatter do not check, as one table.

Each run also plants the mistake of every rule in memory, and reports a rule that does not find its own.
"""

import collections
import dataclasses
import re
from typing import Callable

from checks import common, source

MOST_METHODS, MOST_PROPERTIES = 30, 20
# Plain records of values without a decision of their own, which may have more stored properties.
RECORDS = {
    "HTTP2Stream",  # one stream's request and response, in separate properties for the exclusivity checks of each access
    "RelayConfiguration",  # the settings of the relay
    "StatusFacts",  # the state of the relay at one time, from which its problems are decided
}
GLOSSARY = ("OrderDesk|PushOrder|Shelf|shelf|FleetMint|InMemoryMint|ProviderTokenMint|HTTP2Patience|HTTP2Watch|HTTP1Places|"
            "WireError|GivenUp|keepHouse|meetOthers|stir|stirred|minted|isDisturbed|Leniency|leniency|"
            "(enum|struct|class) (Letter|Wish|Box|Laws)|enum Order")
QUESTIONS = "what|who|whose|whoever|how|where|why|one that|nobody|somebody|everybody|that|it"
REASON = re.compile("because|what makes it true|is what makes")
UNCHECKED = re.compile(r"^.*((class|struct|extension|enum|actor) .*@unchecked Sendable|nonisolated\(unsafe\)).*", re.M)


@dataclasses.dataclass
class Rule:
    message: str
    # The paths of the files.
    files: str
    # Returns the violations in a path and its text: the position of each, or none for the whole file.
    find: Callable
    # The text of a file that violates the rule.
    mistake: str


def lines(pattern, allowed="$^"):
    """Finds the lines that match a pattern and not the allowed one."""
    pattern, allowed = re.compile(pattern, re.M), re.compile(allowed)
    return lambda path, text: [match.start() for match in pattern.finditer(text)
                               if not allowed.search(source.line(text, match.start()))]


def whole(is_violation):
    """Finds the files whose path and text fulfil a condition."""
    return lambda path, text: [None] if is_violation(path, text) else []


def unchecked(path, text):
    """Finds declarations without a reason in the line or the ten lines before."""
    return [match.start() for match in UNCHECKED.finditer(text)
            if not REASON.search("\n".join(text[:match.end()].split("\n")[-11:]))]


SWIFT, SOURCES, TESTS = r"\.swift$", r"^Sources/.*\.swift$", r"^Tests/.*\.swift$"
RULES = [
    Rule("longer than 120 characters", r"^(?!Tests/PhoneStandIns/).*\.swift$", lines(r".{121}", r"\\\(authorityFile\)"),
         "/" * 121),
    Rule("space at the end of the line", SWIFT, lines(r"[ \t]$"), "// a \n"),
    Rule("use an issue instead of a comment for open work", SWIFT, lines(r"\b(TODO|FIXME|XXX)\b"), "// TODO: later\n"),
    Rule("may trap", SWIFT, lines("try!|as!"), "let planted = try! read()\n"),
    Rule("wait for an event, or with eventually, instead of a fixed time",
         r"^Tests/(?!TestSupport/(?:Eventually|OpenDescriptors)\.swift).*\.swift$", lines(r"Task\.sleep|usleep|\bsleep\("),
         "func planted() async throws { try await Task.sleep(for: .seconds(1)) }\n"),
    Rule("wait with eventually", TESTS, lines(r"while .*Task\.yield"),
         "func planted() async { while true { await Task.yield() } }\n"),
    # An element can be replaced between its being found and its being measured.
    Rule("measure with box or evaluated of browser.py", r"^Tests/Peers/.*walk[^/]*\.py$",
         lines(r"\.bounding_box\(|[\])a-z]\.evaluate\(", r"\b(page|frame)\.evaluate\("), "element.bounding_box()\n"),
    Rule("not allowed in Sources", SOURCES, lines("@_implementationOnly|@testable"), "@testable import Martlet\n"),
    Rule("put the awaited value into a constant first: the optimiser overwrites the elements before it", SWIFT,
         lambda path, text: source.late_awaits(source.code(text)) if "await" in text else [],
         "let planted = (1, await read())\n"),
    # https://github.com/swiftlang/swift-foundation
    Rule("import FoundationEssentials if it can be imported", SOURCES, whole(
        lambda path, text: re.search("^ *(public |internal |package )?import Foundation$", text, re.M)
        and "canImport(FoundationEssentials)" not in text), "import Foundation\n"),
    Rule("not available to iOS apps", r"^Sources/(MartletCore|LiveSurfaces)/.*\.swift$", lines(
        r"^ *(\w+ )?import (?!(MartletCore|LiveSurfaces|ActivityKit|Foundation|FoundationEssentials|Security|UserNotifications"
        r"|WidgetKit)\b)\w"),
        "internal import Synchronization\n"),
    Rule("unchecked without a comment that gives the reason", SOURCES, unchecked, "class Planted: @unchecked Sendable {}\n"),
    Rule("too many lines; split the file", SWIFT, whole(
        lambda path, text: text.count("\n") > (400 if path.startswith("Sources") else 450)), "\n" * 451),
    # https://spdx.dev
    Rule("no SPDX license identifier",
         r"^(?!Snippets/).*(\.(swift|[ch]|js|css|sql|py|sh|rb|ya?ml|tpl|service)|/Makefile)$|^Makefile$|^(Scripts|\.ci)/[^.]*$",
         whole(lambda path, text: "SPDX-License-Identifier: Apache-2.0" not in text), "#!/bin/sh\n"),
    Rule("doc comment starts with a question word", r"^(Sources|Tests)/.*\.swift$", lambda path, text: [
        match.start(1) for match in re.finditer(
            r"^(?! *///).*\n( */// (What|Who|Whose|How|Where|When|Why|Since when) )", "\n" + text, re.M)],
        "/// What it is.\nlet planted = 1\n"),
    # Names of tests are sentences about their subject.
    Rule("name of a test starts with a question word", r"^Tests/.*\.(swift|py)$",
         lines(rf"(?i:func `({QUESTIONS}) |def test_({QUESTIONS.replace(' ', '_')})_)"), "func `what it does`() {}\n"),
    Rule("use the standard term", r"^(Sources|Tests)/.*\.swift$", lines(rf"\b({GLOSSARY})\b", "It is on shelf"),
         "struct Shelf {}\n"),
]


def sizes(files):
    """Yields the types that are too large, counted over all their extensions."""
    counts = collections.defaultdict(collections.Counter)
    for path, text in files.items():
        if re.search(SOURCES, path):
            source.count_members(source.code(text), "", counts)
    for name, count in sorted(counts.items()):
        most = {"methods": MOST_METHODS, "stored properties": float("inf") if name in RECORDS else MOST_PROPERTIES}
        yield from (f"{name}: {count[kind]} {kind}  (too large; divide it by responsibility)"
                    for kind in most if count[kind] > most[kind])


def modules(files):
    """Yields the modules without a description of their purpose."""
    documents = {path: common.read(path) for path in ("Documentation/architecture.svg", "ARCHITECTURE.md")}
    for name in sorted({path.split("/")[1] for path in files if path.startswith("Sources/")}):
        if re.match("CMartlet|MartletBench$|MartletCLI$|MartletPhones$", name):
            continue
        if not any(path.startswith(f"Sources/{name}/") and re.search(rf"^/// The module `{name}`", text, re.M)
                   for path, text in files.items()):
            yield f"Sources/{name}  (no file has a comment that starts with The module)"
        yield from (f"Sources/{name}  (not in {path})" for path, text in documents.items() if name not in text)


def check():
    """Style of the sources, size of files and types, licenses, descriptions of modules."""
    files = common.files("|".join(rule.files for rule in RULES))
    for rule in RULES:
        paths = [path for path in files if re.search(rule.files, path)]
        if not paths or not [*rule.find(paths[0], rule.mistake)]:
            yield f"Scripts/checks/style.py: this rule does not find its mistake: {rule.message}"
        for path in paths:
            for position in rule.find(path, files[path]):
                place = path if position is None else source.place(path, files[path], position)
                yield f"{place}  ({rule.message})"
    yield from sizes(files)
    yield from modules(files)
