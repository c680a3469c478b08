# SPDX-License-Identifier: Apache-2.0

"""What several checks use: commands, files, and notes about what is skipped.

Scripts/check changes to the root of the repository, and paths are relative to it.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SWIFT = os.environ.get("SWIFT", "swift")
# The interpreter with the packages of Tests/Peers/requirements.txt.
PYTHON = os.environ.get("MARTLET_PYTHON", sys.executable)
# The options of the build whose products are checked.
BUILD_FLAGS = shlex.split(os.environ.get("BUILD_FLAGS", "--configuration debug"))
FOLDERS = ["Sources", "Tests", "Examples", "Snippets", "Benchmarks", "Scripts", "Packaging", "Operations", "Documentation",
           ".ci", ".github"]


def files(pattern):
    """Returns the text of each file of the repository whose path matches a pattern, by its path."""
    paths = [*pathlib.Path().glob("*"), *(path for folder in FOLDERS for path in pathlib.Path(folder).rglob("*"))]
    return {str(path): read(path) for path in sorted(paths)
            if re.search(pattern, str(path)) and path.is_file() and not {".build", "__pycache__"} & set(path.parts)}


def read(path):
    return pathlib.Path(path).read_text(encoding="utf-8")


def skip(what, reason):
    print(f"SKIPPED: {what}: {reason}", file=sys.stderr)


def run(*command, cwd=None, show=False, **environment):
    """Runs a command and returns its output, or shows it; ends the check with the output of a command that fails."""
    ran = subprocess.run(list(map(str, command)), cwd=cwd, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                         capture_output=not show, text=True, check=False)
    if ran.returncode:
        output = "" if show else f":\n{ran.stdout[-4000:]}{ran.stderr[-4000:]}"
        sys.exit(f"{shlex.join(map(str, command))} failed with {ran.returncode}{output}")
    return ran.stdout
