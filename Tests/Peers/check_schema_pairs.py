# SPDX-License-Identifier: Apache-2.0

"""Validates documents with JSON Schemas: check_schema_pairs.py FILE, where FILE is a list of [SCHEMA, [DOCUMENT…]].

Prints `valid` or `invalid` for each document, in order.
"""

import json
import sys

from jsonschema import Draft202012Validator

with open(sys.argv[1], encoding="utf-8") as file:
    pairs = json.load(file)
for schema, documents in pairs:
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    for document in documents:
        print("valid" if validator.is_valid(document) else "invalid")
