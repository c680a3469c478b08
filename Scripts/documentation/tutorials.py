# SPDX-License-Identifier: Apache-2.0

"""Reads the tutorials of the guide: the code that each step shows, and the program as it is at each step.

The code is in Examples: the last step of a file shows the file of an example, and earlier steps are in
Examples/OrderTracker/Steps. It is shown without the license and without the condition for iOS.
"""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GUIDE = ROOT / "Documentation/Guide.docc"
STEPS = "Examples/OrderTracker/Steps"
DOCUMENTS = ROOT / "Examples/OrderTracker/Documents"
# The directories with the code of each side.
SIDES = {
    "server": ["Examples/Sources/OrderTracker", f"{STEPS}/Server"],
    "phone": ["Examples/Sources/PhoneSide", f"{STEPS}/Phone"],
    "commands": [f"{STEPS}/Commands"],
    "documents": ["Examples/OrderTracker/Documents"],
}
REFERENCE = re.compile(r'@TutorialReference\(tutorial: "doc:(\w+)"\)')
CODE = re.compile(r'@Code\(name: "([^"]+)", file: "([^"]+)"')
IMAGE = re.compile(r'@Image\(source: "([^"]+)"')


def find(file):
    """Returns the side and the path of a file that a step shows."""
    for side, folders in SIDES.items():
        for folder in folders:
            if (path := ROOT / folder / file).is_file():
                return side, path
    raise FileNotFoundError(f"{file} is in none of the directories with the code of tutorials")


def steps():
    """Returns the steps of all tutorials in their order: side, place, displayed name and path."""
    found = []
    for contents in sorted(GUIDE.rglob("*.tutorial")):
        for name in REFERENCE.findall(contents.read_text()):
            tutorial = contents.with_name(f"{name}.tutorial")
            for number, line in enumerate(tutorial.read_text().splitlines(), 1):
                if code := CODE.search(line):
                    side, path = find(code[2])
                    found.append((side, f"{tutorial.relative_to(ROOT)}:{number}", code[1], path))
    return found


def states(side):
    """Returns the program after each step: the place of the step, and the path of each file by its displayed name."""
    files, found = {}, []
    for each, place, name, path in steps():
        if each == side:
            files = {**files, name: path}
            found.append((place, files))
    return found


def unused():
    """Returns the files of steps that no tutorial shows."""
    shown = {path for _, _, _, path in steps()}
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / STEPS).rglob("*.*") if path not in shown)


def shown(path):
    """Returns the text of a file as a tutorial shows it."""
    lines = path.read_text().splitlines()
    license = next((index for index, line in enumerate(lines) if "SPDX-License-Identifier" in line), None)
    if license is not None:
        # The first line of a manifest is the version of its tools, and the first line of a script its interpreter.
        del lines[license:license + 1 + (lines[license + 1] == "")]
    start = next((index for index, line in enumerate(lines) if line.startswith("#if os(iOS)")), None)
    if start is not None:
        end = max(index for index, line in enumerate(lines) if line == "#endif")
        lines[start:end + 1] = [line.removeprefix("    ") for line in lines[start + 1:end]]
    return "\n".join(lines) + "\n"
