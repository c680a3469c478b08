# SPDX-License-Identifier: Apache-2.0

"""Parses exports of traces with OpenTelemetry's Protobuf definitions.

Usage: check_otlp.py TRACES...
Prints a line for each span. Unknown members and wrong types are errors.
"""

import base64
import json
import sys

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


def with_base64(value):
    """Converts identifiers from the hexadecimal form of OTLP to the base64 form of Protobuf's JSON."""
    if isinstance(value, list):
        return [with_base64(element) for element in value]
    if not isinstance(value, dict):
        return value
    names = ("traceId", "spanId", "parentSpanId")
    return {
        name: base64.b64encode(bytes.fromhex(member)).decode() if name in names else with_base64(member)
        for name, member in value.items()
    }


def read(path, message):
    with open(path, "rb") as file:
        return ParseDict(with_base64(json.load(file)), message)


def main(*traces):
    for resource in [resource for file in traces for resource in read(file, ExportTraceServiceRequest()).resource_spans]:
        attributes = {attribute.key: attribute.value.string_value for attribute in resource.resource.attributes}
        assert attributes["service.name"], attributes
        for scope in resource.scope_spans:
            for span in scope.spans:
                assert len(span.trace_id) == 16 and len(span.span_id) == 8 and span.parent_span_id
                assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano
                print("span", span.name, span.kind, span.trace_id.hex())


main(*sys.argv[1:])
