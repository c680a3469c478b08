# SPDX-License-Identifier: Apache-2.0
"""Validates a list of components against the schema of CycloneDX 1.5, and checks that each component has a version.

Usage: check_components.py FILE
"""

import json
import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

text = open(sys.argv[1]).read()
error = JsonStrictValidator(SchemaVersion.V1_5).validate_str(text)
if error:
    sys.exit(f"{sys.argv[1]}: {str(error).splitlines()[0]}")
document = json.loads(text)
names = {component["name"] for component in document["components"]}
missing = {"libuv", "nghttp2", "openssl", "sqlite", "libpq", "zlib"} - names
if missing:
    sys.exit(f"{sys.argv[1]}: no component {', '.join(sorted(missing))}")
for component in document["components"]:
    if not component.get("version") or component["version"] == "unknown":
        sys.exit(f"{sys.argv[1]}: {component['name']} has no version")
