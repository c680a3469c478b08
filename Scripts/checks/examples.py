# SPDX-License-Identifier: Apache-2.0

"""Builds and runs what readers copy: the examples, the snippets, the commands of tutorials, the first article, and the
package with its traits."""

import contextlib
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

from checks import common
from documentation import blocks, shell, tutorials

# Documents that show a program: the first Swift block with a text is the program.
SHOWN = [("README.md", "SigningKey", "Examples/Sources/SendAlert/main.swift"),
         ("Sources/Martlet/Documentation.docc/RunAsAService.md", "ServiceGroup",
          "Examples/PushService/Sources/PushService/main.swift")]
OUTPUT = "Examples/OrderTracker/Documents/output.txt"
ARTICLE = "Documentation/Guide.docc/SendAFirstPush.md"
DEPENDENCY = re.compile(r'\.package\(url: "[^"]*", branch: "main"\)')
# The packages of the traits, and those that they use.
PACKAGES = ["apple/swift-log", "apple/swift-metrics", "apple/swift-distributed-tracing", "apple/swift-service-context",
            "apple/swift-async-algorithms", "apple/swift-collections", "apple/swift-configuration", "apple/swift-system",
            "swift-server/swift-service-lifecycle"]


def check(program):
    """The examples, the snippets and the commands of tutorials work, and documents show the same programs."""
    swift("build", "--quiet", *common.BUILD_FLAGS)
    swift("build", "--quiet", "--package-path", "Examples", "--scratch-path", ".build-examples")
    for document, text, example in SHOWN:
        shown = next(block.text for block in blocks.read(document).blocks if text in block.text)
        # Without the license.
        if shown.strip() != common.read(example).split("\n", 2)[2].strip():
            yield f"{document}: the example differs from {example}"
    common.run(".build-examples/debug/TestWithSimulator")
    tracked = common.run(".build-examples/debug/OrderTracker", "Examples/OrderTracker/Documents/Localizable.xcstrings",
                         INBOX_PORT="0")
    if re.sub(r"localhost:\d+", "localhost:8197", tracked) != common.read(OUTPUT):
        yield f"{OUTPUT} differs from what OrderTracker prints:\n{tracked}"
    snippets = pathlib.Path(common.run(common.SWIFT, "build", *common.BUILD_FLAGS, "--show-bin-path").strip())
    for snippet in sorted(pathlib.Path("Snippets").glob("*.swift")):
        # FirstPush sends to Apple.
        if snippet.stem != "FirstPush":
            common.run(snippets / snippet.stem)
    with session(os.path.abspath(program)) as world:
        yield from world.check(commands("""
            stored=$("$CHECK_ROOT/.build-examples/debug/JobTable" store jobs)
            sent=$("$CHECK_ROOT/.build-examples/debug/JobTable" send jobs)
            [ -n "$stored" ] && [ "$stored" = "$sent" ] || { echo "JobTable stored $stored and sent $sent"; exit 1; }
            martlet simulate --h2c
            export TOKEN=$(martlet token)
            PATH=${PATH#*:} # with the real curl
            "$CHECK_ROOT/Examples/Scripts/wait-for-push.sh" http://localhost:2197 http://localhost:8197
            python3 "$CHECK_ROOT/Examples/Scripts/test_push.py" http://localhost:8197"""))
    commands_of_tutorials = [each for each in tutorials.steps() if each[0] == "commands"]
    for _, steps in itertools.groupby(commands_of_tutorials, key=lambda step: step[1].split(":")[0]):
        yield from check_tutorial(program, steps)


def check_tutorial(program, steps):
    """Yields the errors of the commands of a tutorial; its program is that of the examples."""
    with session(os.path.abspath(program)) as world:
        shutil.copytree(tutorials.DOCUMENTS, world.directory, dirs_exist_ok=True)
        (world.directory / ".build").symlink_to(os.path.abspath(".build-examples"))
        for _, place, _, path in steps:
            if errors := world.check(commands(tutorials.shown(path))):
                # Later commands may depend on the failed ones.
                yield from (f"{place}: error: {error}" for error in errors)
                return


def first_push():
    """The article "Send and test a first push" works from its first command."""
    lines = common.read(ARTICLE).splitlines()
    shown = [block for block in blocks.read(ARTICLE).blocks if not block.is_hidden and "skip" not in block.marks]
    first = next(block for block in shown if block.language == "sh")
    with session("OrderServer/.build/debug/martlet") as world:
        common.run("sh", "-ec", first.text, cwd=world.directory)
        package, end = world.directory / "OrderServer", 0
        for block in shown:
            before, end = " ".join(lines[end:block.line - 1]), block.line + block.text.count("\n") + 1
            if block.language != "swift":
                continue
            if not (paths := re.findall(r"`([\w/+]+\.swift)`", before)):
                sys.exit(f"{block.place}: error: the text before this block names no file to put it in")
            # The dependency is this repository; one by its path has the name of the directory.
            text, count = DEPENDENCY.subn(f'.package(name: "martlet", path: "{common.ROOT}")', world.localized(block.text))
            if paths[-1] == "Package.swift" and count != 1:
                sys.exit(f"{block.place}: error: the manifest has no dependency of the form {DEPENDENCY.pattern}")
            (package / paths[-1]).write_text(text + "\n")
        swift("build", "--build-tests", "--disable-xctest", cwd=package)
        swift("build", "--product", "martlet", cwd=package)
        swift("test", "--skip-build", "--disable-xctest", cwd=package)
        yield from world.check(commands("""
            martlet simulate --h2c
            answer=$(OrderServer/.build/debug/OrderServer)
            [ "$answer" = accepted ] || { echo "the program prints $answer in place of accepted"; exit 1; }"""))


def traits(directory=None):
    """The package with all traits, in both builds.

    DIRECTORY has git repositories that are named like the packages; without it, they come from the network.
    """
    settings = pathlib.Path(".build-traits/settings")
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "mirrors.json").unlink(missing_ok=True)
    if directory:
        mirrors = [{"original": f"https://github.com/{package}{suffix}",
                    "mirror": f"file://{os.path.abspath(directory)}/{package.split('/')[1]}"}
                   for package in PACKAGES for suffix in ("", ".git")]
        (settings / "mirrors.json").write_text(json.dumps({"version": 1, "object": mirrors}))
    options = ["--scratch-path", ".build-traits", "--config-path", settings, "--enable-all-traits"]
    try:
        if subprocess.run([common.SWIFT, "package", *options, "resolve"], check=False).returncode:
            sys.exit("The traits were NOT CHECKED: their packages cannot be fetched. Pass a directory with their repositories.")
        for build in (["--configuration", "debug"], ["--configuration", "release", "-Xswiftc", "-enable-testing"]):
            swift("test", *options, *build, "--disable-xctest", "--filter", "IntegrationTests")
        swift("build", "--package-path", "Examples/PushService", "--scratch-path", ".build-traits/example",
              "--config-path", settings)
        swift("build", *options, "--product", "martlet")
        with session(os.path.abspath(".build-traits/debug/martlet")) as world:
            # The service sends a push, and ends when it receives SIGTERM.
            yield from world.check(commands("""
                martlet simulate --ca-directory ca
                openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.p8
                export APNS_HOST=localhost APNS_PORT=2197 APNS_AUTHORITIES_FILE=ca/ca.pem
                export APNS_KEY_FILE=key.p8 APNS_KEY_ID=ABC123DEFG APNS_TEAM_ID=DEF123GHIJ
                "$CHECK_ROOT/.build-traits/example/debug/PushService" &
                curl "http://localhost:8197/api/v1/pushes/wait?query=is:accepted&timeout=30"
                kill -TERM $!
                wait $!"""))
    finally:
        # Without this file, builds without traits need no network.
        pathlib.Path("Package.resolved").unlink(missing_ok=True)


def swift(*arguments, **options):
    common.run(common.SWIFT, *arguments, show=True, **options)


@contextlib.contextmanager
def session(program):
    """A directory for commands, in which `martlet` and `curl` are those of the documentation."""
    with tempfile.TemporaryDirectory() as scratch:
        world = shell.Session(program, pathlib.Path(scratch))
        try:
            yield world
        finally:
            world.close()


def commands(text):
    return blocks.Block("", 0, "sh", textwrap.dedent(text))
