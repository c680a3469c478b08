// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The encoding of spans in the JSON of the OpenTelemetry protocol
/// (https://opentelemetry.io/docs/specs/otlp).
///
/// It is the JSON mapping of Protobuf with two exceptions: identifiers are hexadecimal, and enumerations are numbers.
enum OTLP {
    private static let scope: JSONValue = ["name": "martlet.relay", "version": .string(MartletVersion.current)]
    private static let failed: JSONValue = 2

    static func resource(_ attributes: [Attribute]) -> JSONValue { ["attributes": json(attributes)] }

    /// Returns the body of a request to `/v1/traces`.
    static func traces(_ spans: [Span], of resource: JSONValue) -> JSONValue {
        let scoped: JSONValue = ["scope": scope, "spans": .array(spans.map(json))]
        return ["resourceSpans": [["resource": resource, "scopeSpans": [scoped]]]]
    }

    private static func json(_ span: Span) -> JSONValue {
        var attributes = span.attributes
        if let error = span.error { attributes.append(Attribute("error.type", error)) }
        return .members([
            "traceId": .string(span.context.traceID), "spanId": .string(span.context.spanID),
            "parentSpanId": span.parentID.map { .string($0) }, "flags": 1, "name": .string(span.name),
            "kind": .whole(span.kind.rawValue), "startTimeUnixNano": nanoseconds(span.start),
            "endTimeUnixNano": nanoseconds(span.end), "attributes": json(attributes),
            "status": span.error.map { ["code": failed, "message": .string($0)] },
        ])
    }

    private static func json(_ attributes: [Attribute]) -> JSONValue {
        .array(
            attributes.map { attribute in
                let value: JSONValue =
                    switch attribute.value {
                    case .text(let text): ["stringValue": .string(text)]
                    case .whole(let number): ["intValue": .string(String(number))]
                    }
                return ["key": .string(attribute.name), "value": value]
            }
        )
    }

    /// Encodes nanoseconds as a string, as Protobuf's JSON mapping requires for 64-bit integers.
    private static func nanoseconds(_ microseconds: Int64) -> JSONValue { .string(String(microseconds) + "000") }
}
