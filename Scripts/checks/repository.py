# SPDX-License-Identifier: Apache-2.0

"""Checks that names in the repository exist, and that its files agree."""

import pathlib
import re
import subprocess

from checks import common

RUNNERS = r"^\.ci/|^\.github/workflows/.*\.yml$"
# Files that name scripts.
NAMING = r"\.(md|swift|py|yml|yaml)$|^(Scripts|\.ci)/(.*/)?[^./]+$|^Makefile$"
# A declaration that a script of a page exports.
EXPORT = r"^export (?:async )?(?:const|let|function\*?|class) (\w+)"
# Words after `make`, up to the end of the command.
MAKE = r"\bmake((?: [\w=$.{}-]+)+)"


def targets():
    """Every target of the Makefile runs somewhere; targets and scripts that files name exist."""
    makefile = common.read("Makefile")
    existing = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.M))
    runners = {path: re.sub(r"(?m)^ *#.*", "", text) for path, text in common.files(RUNNERS).items()}
    run = {path: set(" ".join(re.findall(MAKE, text)).split()) for path, text in runners.items()}
    named = {path: set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.M)) for path, text in common.files(r"\.md$").items()}
    for target in sorted(existing - set().union(*run.values())):
        yield f"Makefile: neither .ci/run nor .ci/nightly nor a workflow runs the target {target}"
    for path, words in {**run, **named}.items():
        for target in sorted(word for word in words if re.fullmatch(r"[a-z][a-z-]*", word) and word not in existing):
            yield f"{path}: make {target}: the Makefile has no such target"
    for path, text in common.files(NAMING).items():
        for script in sorted(set(re.findall(r"(?<![\w./])(?:Scripts|\.ci)/[\w/-]*\w(?:\.\w+)?", text))):
            if not pathlib.Path(script).exists():
                yield f"{path}: {script} does not exist"


def embedded():
    """The lists of embedded files name each file of their directories once; scripts of pages import what others export."""
    pages, sql = pathlib.Path("Sources/CMartletPages"), pathlib.Path("Sources/CMartletSQL")
    lists = {pages / name: (re.findall(r"^#define EMBEDDED (\S+)$", common.read(pages / name), re.M), f"{name[:-2]}/*")
             for name in ("inbox.c", "relay.c", "shared.h")}
    engines = common.read(sql / "sql.c").split("#define ENGINE ")[1:]
    scripts = [(part.split()[0], script) for part in engines for script in re.findall(r"#define SCRIPT (\w+)", part)]
    declared = re.findall(r"^MARTLET_SQL\((\w+), (\w+)\);$", common.read(sql / "include/CMartletSQL.h"), re.M)
    for path, names in {sql / "sql.c": scripts, sql / "include/CMartletSQL.h": declared}.items():
        lists[path] = [f"{engine}/{script}.sql" for engine, script in names], "*/*.sql"
    for path, (named, pattern) in lists.items():
        folder = pages if pages in path.parents else sql
        existing = [str(file.relative_to(folder)) for file in folder.glob(pattern)]
        yield from (f"{path}: {name} is not in the list" for name in sorted({*existing} - {*named}))
        # A page may also embed a file of another directory.
        yield from (f"{path}: {name} does not exist" for name in sorted({*named} - {*existing}) if not (folder / name).is_file())
        yield from (f"{path}: {name} is in the list twice" for name in sorted({*named}) if named.count(name) > 1)
    modules = {file: file.read_text() for file in pages.glob("*/*.js")}
    for path, text in modules.items():
        for names, module in re.findall(r'^import \{([^}]*)\} from "\./([^"]+)"', text, re.M):
            # Both pages have the files of shared/. What the program makes itself, such as push-types.js, is not there.
            sources = [modules[file] for file in (path.parent / module, pages / "shared" / module) if file in modules]
            exported = {name for source in sources for name in re.findall(EXPORT, source, re.M)}
            imported = {name.split(" as ")[0].strip() for name in names.split(",")} - {""}
            yield from (f"{path}: {module} does not export {name}" for name in sorted(imported - exported) if sources)


def interface():
    """CHANGELOG.md changes with the recorded public interface."""
    recorded = "Documentation/PublicAPI.txt"
    if git("diff", "--name-only", "HEAD", "--", recorded):
        before = "HEAD"
    else:
        changed = git("log", "-1", "--format=%H", "--", recorded)
        if not changed or " " not in git("rev-list", "--parents", "-1", changed):
            common.skip("interface", "this clone has no commit before the last change of the interface")
            return
        before = changed + "^"
    if not git("diff", "--name-only", before, "--", "CHANGELOG.md"):
        yield f"{recorded} changed after {git('rev-parse', '--short', before)}, and CHANGELOG.md does not describe it"


def git(*arguments):
    """Returns the output of git; nothing outside a clone."""
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=False).stdout.strip()


def workflows():
    """The workflows have the form that GitHub's schema requires."""
    common.run(common.PYTHON, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows",
               *sorted(pathlib.Path(".github/workflows").glob("*.yml")))
