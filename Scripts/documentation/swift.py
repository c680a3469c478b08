# SPDX-License-Identifier: Apache-2.0

"""Compiles the Swift blocks of documents against the built modules of the package."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

FEATURES = ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "NonisolatedNonsendingByDefault"]
# Examples may contain values that they do not use.
HARMLESS = re.compile(r"never (used|mutated|read|executed)")
# The name of a module in an example of a manifest: its code is in the same document.
TARGET = re.compile(r"\.executableTarget\(\s*name: \"(\w+)\"")
IMPORT = re.compile(r"^(?:@\w+ )?import \w+.*$", re.MULTILINE)


def compile_blocks(documents, setups, build, scratch):
    """Compiles each block as a separate function, and returns the compiler's diagnostics for the document.

    `setups` maps the path of a document to the Swift code at the start of its file.
    """
    sources = []
    for number, document in enumerate(documents):
        blocks = [each for each in document.blocks if each.language == "swift" and "skip" not in each.marks]
        if blocks:
            source = scratch / f"{pathlib.Path(document.path).stem}_{number}.swift"
            source.write_text(source_of(document.path, setups.get(document.path, []), blocks))
            sources.append(source)
    if not sources:
        return []
    arguments = ["-parse-as-library", "-module-name", "DocumentationExamples"]
    for feature in FEATURES:
        arguments += ["-enable-upcoming-feature", feature]
    return compile(arguments, sources, build)


def compile_package(directory, build):
    """Compiles the manifest and the program in a directory, and returns the compiler's diagnostics."""
    manifests = [file for file in directory.iterdir() if file.name == "Package.swift"]
    program = sorted(file for file in directory.iterdir() if file not in manifests)
    errors = compile(["-module-name", "Manifest"], manifests, build) if manifests else []
    mode = [] if any(file.name == "main.swift" for file in program) else ["-parse-as-library"]
    return errors + (compile([*mode, "-module-name", "Program"], program, build) if program else [])


def compile(arguments, sources, build):
    """Compiles files against the built modules, and returns the compiler's diagnostics."""
    compiler = compiler_path()
    resources = pathlib.Path(json.loads(output_of(compiler, "-print-target-info"))["paths"]["runtimeResourcePath"])
    arguments = [
        compiler, "-emit-sil", "-o", os.devnull, "-wmo", "-swift-version", "6",
        "-module-cache-path", str(build / "ModuleCache"), "-I", str(build / "Modules"), *arguments,
    ]
    # For package manifests.
    arguments += ["-I", str(resources / "pm/ManifestAPI"), "-package-description-version", "6.3.0"]
    run = subprocess.run([*arguments, *system_arguments(build, resources), *map(str, sources)], capture_output=True, text=True)
    return errors_of(run)


def source_of(path, setup, blocks):
    """Returns a Swift file with the blocks of a document and their source locations."""
    imports, bodies = [], []
    for line, text in setup:
        imports += IMPORT.findall(text)
        bodies += located(path, line, without_imports(text))
    for block in blocks:
        imports += IMPORT.findall(block.text)
        if "file-scope" in block.marks:
            bodies += located(path, block.line, without_imports(block.text))
            continue
        declares_tests = "@Test" in block.text
        openings = ["private struct {} {{"] if declares_tests else ["private func {}() async throws {{"]
        if "main-actor" in block.marks:
            openings.append("@MainActor private func {}OnMainActor() async throws {{")
        for opening in openings:
            bodies.append(opening.format(f"block{block.line}"))
            bodies += located(path, block.line, without_imports(block.text))
            bodies.append("}")
        if declares_tests:
            imports.append("import Testing")
    own = [f"@testable import {name}" for block in blocks for name in TARGET.findall(block.text)]
    imports = [each for each in imports if each not in own]
    return "\n".join([*dict.fromkeys(imports), *bodies, ""])


def located(path, line, text):
    return [f'#sourceLocation(file: "{path}", line: {line})', text, "#sourceLocation()"]


def without_imports(text):
    """Replaces each import by an empty line."""
    return IMPORT.sub("", text)


def compiler_path():
    if "SWIFTC" in os.environ:
        return os.environ["SWIFTC"]
    return output_of("xcrun", "--find", "swiftc") if sys.platform == "darwin" else shutil.which("swiftc")


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def system_arguments(build, resources):
    """Returns the arguments for the C modules of the package, and for the SDK on macOS."""
    arguments = []
    maps = [*pathlib.Path("Sources").glob("C*/module.modulemap"), *build.glob("C*.build/module.modulemap")]
    for each in maps:
        arguments += ["-Xcc", f"-fmodule-map-file={each.resolve()}"]
    for flag in output_of("pkg-config", "--cflags", "libuv", "libnghttp2", "openssl", "sqlite3").split():
        arguments += ["-Xcc", flag]
    if sys.platform == "darwin":
        developer = pathlib.Path(output_of("xcrun", "--show-sdk-platform-path")) / "Developer"
        # The deployment target of the manifest, for which the modules are built.
        arguments += ["-sdk", output_of("xcrun", "--show-sdk-path"), "-target", f"{os.uname().machine}-apple-macosx15.0"]
        arguments += ["-F", str(developer / "Library/Frameworks"), "-I", str(developer / "usr/lib")]
        arguments += ["-plugin-path", str(resources / "host/plugins/testing")]
    return arguments


def errors_of(run):
    """Returns the relevant diagnostics, one line each."""
    errors = []
    for line in run.stderr.splitlines():
        if re.search(r": (error|warning): ", line) and not HARMLESS.search(line):
            errors.append(line)
    if run.returncode != 0 and not errors:
        errors.append(f"swiftc exited with {run.returncode}:\n{run.stderr}")
    return list(dict.fromkeys(errors))
