"""Parses exports of traces and metrics with OpenTelemetry's Protobuf definitions.

Usage: check_otlp.py TRACES... METRICS
Prints a line for each span and the names of the metrics. Unknown members and wrong types are errors.
"""

import base64
import json
import sys

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
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


def main(*files):
    *traces, metrics = files
    for resource in [resource for file in traces for resource in read(file, ExportTraceServiceRequest()).resource_spans]:
        attributes = {attribute.key: attribute.value.string_value for attribute in resource.resource.attributes}
        assert attributes["service.name"], attributes
        for scope in resource.scope_spans:
            for span in scope.spans:
                assert len(span.trace_id) == 16 and len(span.span_id) == 8 and span.parent_span_id
                assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano
                print("span", span.name, span.kind, span.trace_id.hex())
    for resource in read(metrics, ExportMetricsServiceRequest()).resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                kind = metric.WhichOneof("data")
                data = getattr(metric, kind)
                assert data.data_points, metric.name
                if kind != "gauge":
                    assert data.aggregation_temporality == 2, metric.name
                for point in data.data_points:
                    assert 0 < point.start_time_unix_nano <= point.time_unix_nano
                    if kind == "histogram":
                        assert len(point.bucket_counts) == len(point.explicit_bounds) + 1
                        assert sum(point.bucket_counts) == point.count
                print("metric", metric.name, metric.unit, kind)


main(*sys.argv[1:])
