# SPDX-License-Identifier: Apache-2.0

"""Checks every example of the documentation.

Compiles Swift blocks with the modules beside the program, and runs shell blocks and transcripts with the program.
Scripts/documentation/blocks.py describes the comments that control the checks. It also compiles the server of the
tutorials as it is after each step; Scripts/check examples runs their commands, and Scripts/check phone compiles the app.
"""

import json
import pathlib
import sys
import tempfile

from documentation import blocks, shell, swift, tutorials

COMMANDS = ["sh", "console", "sql"]
# The modules with public doc comments.
PUBLIC_MODULES = ["MartletCore", "Martlet", "LiveSurfaces", "MartletSimulator"]
LANGUAGES = {"swift", "sh", "console", "json", "text", "yaml", "sql", "python"}


def documents_of(paths):
    """Returns the articles and Swift files with examples, and the Swift setup code of each."""
    catalogs = [*pathlib.Path("Sources").glob("*/*.docc"), *pathlib.Path("Documentation").glob("*.docc")]
    pages = sorted(str(page) for catalog in catalogs for page in catalog.glob("*.md"))
    articles = ["README.md", "CONTRIBUTING.md", *pages]
    documents = [blocks.read(path) for path in articles]
    setups = {each.path: each.setup for each in documents}
    for module in PUBLIC_MODULES:
        # Doc comments use the setup code of the module's main page.
        page = setups[f"Sources/{module}/Documentation.docc/{module}.md"]
        for path in sorted(map(str, pathlib.Path(f"Sources/{module}").rglob("*.swift"))):
            document = blocks.read(path)
            if any(each.language == "swift" for each in document.blocks):
                documents.append(document)
                setups[path] = [(1, f"import {module}"), *page]
    for document in documents:
        module = document.path.split("/")[1] if document.path.startswith("Sources/") else None
        if document.path.endswith(".md") and module in PUBLIC_MODULES:
            setups[document.path] = [(1, f"import {module}"), *setups[document.path]]
    return [each for each in documents if not paths or each.path in paths], setups


def is_json(text):
    """Returns whether the text is JSON: a value, or members of an object."""
    for candidate in (text, f"{{{text}}}"):
        try:
            json.loads(candidate)
            return True
        except ValueError:
            pass
    return False


def check_shell(document, program, scratch):
    """Returns the errors of the commands of a document."""
    session = shell.Session(program, scratch)
    try:
        for block in document.blocks:
            if "skip" not in block.marks and (errors := session.check(block)):
                # Later blocks may depend on the failed one.
                return [f"{block.place}: error: {each}" for each in errors]
        return []
    finally:
        session.close()


def check_tutorials(program, scratch):
    """Returns the errors of the server of the tutorials after each step."""
    errors = [f"{path}: error: no tutorial shows this file" for path in tutorials.unused()]
    for number, (place, files) in enumerate(tutorials.states("server")):
        directory = scratch / "tutorials" / str(number)
        directory.mkdir(parents=True)
        for name, path in files.items():
            (directory / name).write_text(tutorials.shown(path))
        errors += [f"{place}: {each}" for each in swift.compile_package(directory, program.parent)]
    return errors


def check(program, *paths):
    """The examples in documents compile and run, and print what is shown."""
    program = pathlib.Path(program).resolve()
    if not program.exists() or not (program.parent / "Modules").is_dir():
        sys.exit(f"{program} or the modules beside it are missing; run `make test` or `swift build` first.")
    documents, setups = documents_of(paths)
    errors = [error for document in documents for error in document.errors]
    shown = [block for document in documents for block in document.blocks if not block.is_hidden]
    for block in shown:
        if block.path.endswith(".md") and block.language not in LANGUAGES:
            errors.append(f"{block.place}: error: name the language of the block, one of {', '.join(sorted(LANGUAGES))}")
        if block.language == "json" and "skip" not in block.marks and not is_json(block.text):
            errors.append(f"{block.place}: error: the block is not JSON")
    with tempfile.TemporaryDirectory(prefix="martlet-documentation-") as name:
        scratch = pathlib.Path(name)
        # PostgreSQL runs as another user, which needs access to its directory.
        scratch.chmod(0o755)
        errors += swift.compile_blocks(documents, setups, program.parent, scratch)
        for number, document in enumerate(documents):
            if any(each.language in COMMANDS for each in document.blocks):
                errors += check_shell(document, program, scratch / str(number))
        if not paths:
            errors += check_tutorials(program, scratch)
    if errors:
        return errors
    checked = {name: sum(each.language in names and "skip" not in each.marks for each in shown)
               for name, names in (("Swift", ["swift"]), ("shell and SQL", COMMANDS), ("JSON", ["json"]))}
    skipped = [block for block in shown if "skip" in block.marks]
    print("Checked in the documentation: " + ", ".join(f"{count} {name} blocks" for name, count in checked.items()) + ".")
    if not paths:
        print(f"Checked in the tutorials: {len(tutorials.states('server'))} steps of the server.")
    print(f"Skipped: {len(skipped)} blocks:")
    for block in skipped:
        print(f"  {block.place}: {block.marks['skip']}")
    return []
