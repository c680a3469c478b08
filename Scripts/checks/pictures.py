# SPDX-License-Identifier: Apache-2.0

"""Checks the pictures that Scripts/screenshots takes; its names are PAGE-WIDTH-SCHEME and previews-KIND-SCHEME."""

import pathlib
import re
import sys

# The heights of the windows by their widths, the least width of the previews of a push, and the pixels for one of these.
SIZES = {1440: 900, 1024: 768, 390: 844}
PREVIEWS_WIDTH = 400
DENSITY = 2
# The height of the strip that must not be blank: a part of the previews, or the margin below the last one.
STRIP, MARGIN = 0.05, 24
# The differences between the pixels of one colour, which the compression makes.
NOISE = 8


def check(directory="Documentation/Screenshots"):
    """Pictures of pages have twice the pixels of the window, and those of previews are painted to the last row."""
    try:
        # Scripts/prerequisites installs Pillow for this check only.
        from PIL import Image
    except ImportError:
        sys.exit("Scripts/check screenshots needs Pillow: run it with .build/python/bin/python3, after Scripts/prerequisites test")
    paths = sorted(pathlib.Path(directory).glob("*.webp"))
    if not paths:
        yield f"{directory} has no pictures"
    for path in paths:
        with Image.open(path) as file:
            picture = file.convert("RGB")
        width, height = picture.size
        if is_blank(picture):
            yield f"{path} is blank"
        elif page := re.search(r"-(\d+)-(?:light|dark)$", path.stem):
            expected = (DENSITY * int(page[1]), DENSITY * SIZES[int(page[1])])
            if picture.size != expected:
                yield f"{path} must have {expected[0]} × {expected[1]} pixels (found {width} × {height})"
        else:
            strip = max(round(STRIP * height), DENSITY * MARGIN)
            if width < DENSITY * PREVIEWS_WIDTH:
                yield f"{path} must be at least {DENSITY * PREVIEWS_WIDTH} pixels wide (found {width})"
            if is_blank(picture.crop((0, height - strip, width, height))):
                yield f"{path} is blank in its last {strip} rows: the window was lower than the previews"


def is_blank(picture):
    """Whether all pixels have one colour."""
    return all(most - least <= NOISE for least, most in picture.getextrema())
