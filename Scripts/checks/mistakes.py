# SPDX-License-Identifier: Apache-2.0

"""Plants one mistake for each check of .ci/run, and requires that the check fails.

The mistakes are planted one by one in a temporary worktree of the last commit, with the build products of this
directory. A check that succeeds, or fails without the message of its mistake, is printed with ✘. `Scripts/check phone
--mistakes` does the same for the compiler.
"""

import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from checks import common

# A guard against hanging, in seconds.
LONGEST = 1800
SOURCE = "Sources/MartletCore/NearestName.swift"
RELAY_ARTICLE = "Sources/MartletRelay/Documentation.docc/RunTheRelay.md"
VERDICT_ARTICLE = "Sources/MartletSimulator/Documentation.docc/PushVerdicts.md"
TEST_ARTICLE = "Sources/MartletSimulator/Documentation.docc/TestYourPushes.md"
WEIGHT_WALK = "Tests/Peers/inbox/walk_weight.py"


@dataclasses.dataclass
class Mistake:
    name: str
    # The shell command; $program is the built program.
    check: str
    # A part of the output that only this mistake causes.
    message: str
    # The file with the mistake, which may be new; nothing for a check that is called wrongly.
    path: str = ""
    # Replaces every occurrence of the first text by the second, or appends the second if the first is empty.
    old: str = ""
    new: str = ""


# A picture of 1600 × 1600 pixels whose lower half is white, before what is done with it.
PICTURE = """mkdir -p .planted && "$MARTLET_PYTHON" -c 'from PIL import Image
picture = Image.new("RGB", (1600, 1600), "white")
picture.paste("navy", (0, 0, 1600, 800))
picture"""
PICTURES = '"$MARTLET_PYTHON" Scripts/check screenshots .planted'
STYLE = "Scripts/check style"
LINT = f"{common.SWIFT} format lint --strict {SOURCE}"

MISTAKES = [
    Mistake("formatting", LINT, "[Spacing]", SOURCE, new="let  planted=1\n"),
    Mistake("a doc comment without a summary", LINT, "[BeginDocumentationCommentWithOneLineSummary]", SOURCE,
            new="/// A summary\n/// in two lines. And more.\nlet planted = 1\n"),
    # Each run of Scripts/check style also plants the mistakes of its table.
    Mistake("a long line", STYLE, "(longer than 120", SOURCE, new="// " + "a" * 120 + "\n"),
    Mistake("a script without a license", STYLE, "(no SPDX license", "Scripts/" + "planted-mistake", new="#!/bin/sh\n"),
    Mistake("a type with many methods", STYLE, "(too large", SOURCE,
            new="struct Planted {\n" + "".join(f"func planted{number}() {{}}\n" for number in range(31)) + "}\n"),
    Mistake("a type with many properties", STYLE, "(too large", SOURCE,
            new="struct Planted {\n" + "".join(f"var planted{number} = 0\n" for number in range(21)) + "}\n"),
    Mistake("a rule that finds nothing", STYLE, "this rule does not find its mistake: may trap", "Scripts/checks/style.py",
            'lines("try!|as!")', 'lines("never")'),
    Mistake("a module without a purpose", STYLE, "(no file has a comment", "Sources/MartletZlib/GzipStream.swift",
            "/// The module", "/// This module"),
    Mistake("a module that the picture omits", STYLE, "(not in Documentation/architecture.svg",
            "Documentation/architecture.svg", "MartletZlib", "Planted"),
    Mistake("a module that the description omits", STYLE, "(not in ARCHITECTURE.md", "ARCHITECTURE.md", "MartletZlib", "Planted"),
    Mistake("a target that nothing runs", "Scripts/check targets", "runs the target orphan", "Makefile",
            new="orphan: ## Do nothing\n"),
    Mistake("a target that does not exist", "Scripts/check targets", "has no such target", "README.md",
            new="`make nonsense`\n"),
    Mistake("a workflow that runs no target", "Scripts/check targets", "make nonsense: the Makefile has no such target",
            ".github/workflows/ci.yml", "run: make lint", "run: make nonsense"),
    Mistake("a script that does not exist", "Scripts/check targets", "nonsense does not exist", "CONTRIBUTING.md",
            new="Scripts/" + "nonsense\n"),
    Mistake("a file of a page that is not embedded", "Scripts/check embedded", "inbox/planted.js is not in the list",
            "Sources/CMartletPages/inbox/planted.js", new="// planted\n"),
    Mistake("an import of what a script does not export", "Scripts/check embedded", "components.js does not export planted",
            "Sources/CMartletPages/inbox/facets.js", "import { menu }", "import { menu, planted }"),
    Mistake("a script without a declaration", "Scripts/check embedded", "sqlite/lanes.sql is not in the list",
            "Sources/CMartletSQL/include/CMartletSQL.h", "MARTLET_SQL(sqlite, lanes);\n", "\n"),
    Mistake("an interface that changes without its description", "Scripts/check interface", "CHANGELOG.md does not describe it",
            "Documentation/PublicAPI.txt", new="planted\n"),
    Mistake("a symbol of a later system", "Scripts/check availability", "mutableSpan requires macOS 26", SOURCE,
            new="let planted = bytes.mutableSpan\n"),
    Mistake("a workflow outside the schema", "Scripts/check workflows", "runs-onto", ".github/workflows/ci.yml", "runs-on:",
            "runs-onto:"),
    Mistake("manifests that differ from the chart", 'Scripts/check deployment "$program"', "differs from the chart",
            "Packaging/kubernetes/relay.yaml", "replicas: 2", "replicas: 3"),
    Mistake("a manifest outside the schema", 'Scripts/check deployment --update && Scripts/check deployment "$program"',
            "replicaz", "Packaging/helm/martlet/templates/deployment.yaml", "replicas:", "replicaz:"),
    Mistake("a setting of the chart that the relay refuses",
            'Scripts/check deployment --update && Scripts/check deployment "$program"', "bundle-idz",
            "Packaging/helm/martlet/values.yaml", "bundle-ids:", "bundle-idz:"),
    Mistake("a Compose file outside the schema", 'Scripts/check deployment "$program"', "reads_only",
            "Packaging/compose/simulator.yml", "read_only:", "reads_only:"),
    Mistake("a JSON block that is not JSON", f'Scripts/check documentation "$program" {VERDICT_ARTICLE}',
            "the block is not JSON", VERDICT_ARTICLE, '"kind": "shown"', '"kind": shown'),
    Mistake("a transcript that differs", f'Scripts/check documentation "$program" {RELAY_ARTICLE}',
            "and the document shows", RELAY_ARTICLE, 'The entry for "callers"', 'The entry for "clients"'),
    Mistake("a command that fails", f'Scripts/check documentation "$program" {RELAY_ARTICLE}', "exited with 2",
            RELAY_ARTICLE, "relay keys make", "relay keys mistake"),
    Mistake("an example that does not compile", f'Scripts/check documentation "$program" {TEST_ARTICLE}', "error:",
            TEST_ARTICLE, "withSimulatedAPNs", "withoutSimulatedAPNs"),
    Mistake("a change of the public interface", "Scripts/api .build/symbol-graphs --check",
            "The public interface has changed", "Documentation/PublicAPI.txt", "APNsID.description", "APNsID.planted"),
    Mistake("a picture of a page at another density", f'{PICTURE}.resize((1440, 900)).save(".planted/push-1440-light.webp")\' && {PICTURES}',
            "must have 2880 × 1800 pixels"),
    Mistake("a picture of previews with a blank bottom", f'{PICTURE}.save(".planted/previews-widgets-light.webp")\' && {PICTURES}',
            "is blank in its last"),
    Mistake("pages without their program", 'Scripts/walks "$(command -v false)" walk_weight', "1 walks failed"),
    Mistake("a test of a page that does not run", 'Scripts/walks "$program" walk_weight', "1 walks failed", WEIGHT_WALK,
            new="\n\ndef planted():\n    def test_planted():\n        pass\n"),
    Mistake("a test of a page that fails", 'Scripts/walks "$program" walk_weight', "AssertionError", WEIGHT_WALK,
            "250_000", "2"),
    Mistake("tests that fail", "Scripts/run-tests .planted/tests.log false", "The complete output"),
    Mistake("tests that crash", "Scripts/run-tests .planted/tests.log sh -c 'kill -9 $$'", "The complete output"),
    # Without the table of steps of .ci/nightly.
    Mistake("a step that fails", "TIMES= Scripts/timed step false", "step failed with 1"),
]


def plant(mistake, copy):
    """Writes a mistake into the copy."""
    if not mistake.path:
        return
    path = copy / mistake.path
    text = path.read_text() if path.exists() else ""
    if mistake.old and mistake.old not in text:
        sys.exit(f"{mistake.name}: {mistake.path} must contain: {mistake.old}")
    path.write_text(text.replace(mistake.old, mistake.new) if mistake.old else text + mistake.new)


def outcome(mistake, copy, environment):
    """Returns whether a check fails for its mistake, and the line about it."""
    plant(mistake, copy)
    run = subprocess.run(mistake.check, shell=True, cwd=copy, env=environment, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=LONGEST)
    if run.returncode == 0:
        return False, f"✘ green although: {mistake.name} ({mistake.check})\n{run.stdout[-2_000:]}"
    if mistake.message not in run.stdout:
        return False, f"✘ red for another reason than: {mistake.name} ({mistake.check})\n{run.stdout[-2_000:]}"
    return True, f"✔ red for: {mistake.name}"


def check(program, word=""):
    """Every check of .ci/run fails for its mistake; WORD is a part of the name or command of some."""
    mistakes = [each for each in MISTAKES if word in each.name or word in each.check]
    if not mistakes:
        sys.exit(f"Scripts/check mistakes: no mistake or command contains {word}")
    environment = {**os.environ, "program": str(pathlib.Path(program).resolve())}
    environment.setdefault("MARTLET_PYTHON", str(common.ROOT / ".build/python/bin/python3"))
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="martlet-checks-"))
    # PostgreSQL runs as another user, which needs access to its directory.
    scratch.chmod(0o755)
    copy = scratch / "martlet"
    failed = 0
    try:
        common.run("git", "worktree", "add", "--quiet", "--detach", copy, "HEAD")
        (copy / ".build").symlink_to(common.ROOT / ".build")
        for mistake in mistakes:
            is_red, line = outcome(mistake, copy, environment)
            if is_red:
                print(line, flush=True)
            else:
                failed += 1
                yield line
            common.run("git", "checkout", "--quiet", "--", ".", cwd=copy)
            common.run("git", "clean", "-fdq", "--exclude", ".build", cwd=copy)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        common.run("git", "worktree", "prune")
    print(f"{len(mistakes)} mistakes planted, {failed} of them not found.")
