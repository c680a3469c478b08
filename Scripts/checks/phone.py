# SPDX-License-Identifier: Apache-2.0

"""Type-checks the modules and examples for iOS apps as iOS and macOS see them.

Apple's frameworks exist only on Apple's systems, so Tests/PhoneStandIns declares what the phone's code uses of them.
The sources are copied to .build/phone with os(iOS) replaced by a condition that is true for iOS and false for macOS.
The app of the tutorials is compiled as it is shown at each step.
"""

import concurrent.futures
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

from checks import common
from checks.common import ROOT
from documentation import tutorials

BUILD = ROOT / ".build" / "phone"
SWIFTC = os.environ.get("SWIFTC", "swiftc")
STAND_INS = ["UIKit", "SwiftUI", "ActivityKit", "AppIntents", "WidgetKit", "UserNotifications", "UserNotificationsUI",
             "Security"]
# The frameworks of each platform, and the condition that replaces os(iOS).
PLATFORMS = {"iOS": (STAND_INS, "compiler(>=6)"), "macOS": (["UserNotifications", "Security"], "compiler(<6)")}
MODULES = ["MartletCore", "LiveSurfaces"]
EXAMPLES = "Examples/Sources/PhoneSide"
FLAGS = ["-swift-version", "6", "-parse-as-library", "-warnings-as-errors"]
# Apple's Foundation contains URLSession, which is a module of its own here.
NETWORKING = ["-Xfrontend", "-import-module", "-Xfrontend", "FoundationNetworking"]
EXAMPLE_FLAGS = [*FLAGS, *NETWORKING]
FEATURES = ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "NonisolatedNonsendingByDefault"]
PACKAGE_FLAGS = [*FLAGS, *NETWORKING, "-package-name", "martlet",
                 *(flag for feature in FEATURES for flag in ("-enable-upcoming-feature", feature))]


def compile(folder, *arguments):
    """Runs the compiler, and returns its messages; None if it succeeds."""
    run = subprocess.run([SWIFTC, "-I", folder, "-I", BUILD, *map(str, arguments)], capture_output=True, text=True)
    return None if run.returncode == 0 else run.stderr + run.stdout


def require(messages):
    """Ends the check if the compiler has reported messages."""
    if messages is not None:
        sys.exit(messages.replace(str(BUILD) + "/", ""))


def emit(folder, name, sources, flags):
    """Compiles a module into a folder."""
    module = folder / f"{name}.swiftmodule"
    return compile(folder, "-emit-module", "-emit-module-path", module, "-module-name", name, *flags, *sources)


def copy(source, folder, condition):
    """Copies the Swift files of a directory, with the condition in place of os(iOS); the lines stay the same."""
    copies = []
    for file in sorted((ROOT / source).rglob("*.swift")):
        copy = folder / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(file.read_text().replace("os(iOS)", condition))
        copies.append(copy)
    return copies


def check_platform(name):
    """Compiles the modules and the examples as a platform sees them."""
    stand_ins, condition = PLATFORMS[name]
    folder = BUILD / name
    folder.mkdir()
    for stand_in in stand_ins:
        source = ROOT / "Tests/PhoneStandIns" / f"{stand_in}.swift"
        require(emit(folder, stand_in, [source], [*FLAGS, "-enable-upcoming-feature", "InternalImportsByDefault"]))
    require(emit(folder, "LiveSurfaces", copy("Sources/LiveSurfaces", folder, condition), PACKAGE_FLAGS))
    require(compile(folder, "-typecheck", "-module-name", "PhoneSide", *EXAMPLE_FLAGS, *copy(EXAMPLES, folder, condition)))


def check_tutorials():
    """Compiles the app of the tutorials as it is after each step."""
    folder = BUILD / "iOS"
    for number, (place, files) in enumerate(tutorials.states("phone")):
        step = folder / "Tutorials" / str(number)
        step.mkdir(parents=True)
        for name, path in files.items():
            (step / name).write_text(tutorials.shown(path))
        messages = compile(folder, "-typecheck", "-module-name", "PhoneSide", *EXAMPLE_FLAGS, *sorted(step.iterdir()))
        require(messages and f"{place}: the app does not compile after this step:\n{messages}")


def plant(mistake):
    """Compiles the sources with one mistake, and returns the compiler's messages; None if it accepts the mistake."""
    folder = BUILD / "iOS"
    file = folder / mistake["file"]
    text = file.read_text()
    if text.count(mistake["from"]) != 1:
        sys.exit(f"{mistake['name']}: {mistake['file']} must contain once: {mistake['from']}")
    is_example = mistake["file"].startswith(EXAMPLES)
    sources = sorted((folder / (EXAMPLES if is_example else "Sources/LiveSurfaces")).rglob("*.swift"))
    module, flags = ("PhoneSide", EXAMPLE_FLAGS) if is_example else ("LiveSurfaces", PACKAGE_FLAGS)
    with tempfile.TemporaryDirectory(dir=BUILD) as planted:
        copy = pathlib.Path(planted) / file.name
        copy.write_text(text.replace(mistake["from"], mistake["to"]))
        sources[sources.index(file)] = copy
        return compile(folder, "-typecheck", "-module-name", module, *flags, *sources)


def check_mistakes():
    """Plants mistakes one by one, and requires that the compiler reports each."""
    mistakes = json.loads((ROOT / "Tests/PhoneStandIns/mistakes.json").read_text())
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for mistake, messages in zip(mistakes, pool.map(plant, mistakes)):
            if messages is None:
                sys.exit(f"{mistake['name']}: the compiler accepts {mistake['to']} in {mistake['file']}.")
            if mistake["message"] not in messages:
                sys.exit(f"{mistake['name']}: no message contains \"{mistake['message']}\":\n{messages}")
            print(f"found: {mistake['name']}")
    if len(mistakes) < 10:
        sys.exit(f"Tests/PhoneStandIns/mistakes.json has {len(mistakes)} mistakes; the minimum is 10.")


def check(option=""):
    """The modules and examples for iOS apps compile as iOS and macOS see them.

    With --mistakes, also plants each mistake of Tests/PhoneStandIns/mistakes.json, and fails if one is not found.
    """
    if option not in ("", "--mistakes"):
        sys.exit(f"unknown argument {option}; the only one is --mistakes")
    if platform.system() == "Darwin":
        # Apple's SDK has the frameworks themselves.
        for product in MODULES:
            common.run("xcodebuild", "-quiet", "-scheme", product, "-destination", "generic/platform=iOS",
                       "-derivedDataPath", ".build/ios", "build", show=True)
        return
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    # MartletCore has no code for one platform; its function bodies are checked by the build of the package.
    sources = sorted((ROOT / "Sources/MartletCore").rglob("*.swift"))
    require(emit(BUILD, "MartletCore", sources, [*PACKAGE_FLAGS, "-Xfrontend", "-experimental-skip-all-function-bodies"]))
    for name in PLATFORMS:
        check_platform(name)
    check_tutorials()
    if option:
        check_mistakes()
