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
        let members: [JSONValue.Member?] = [
            .init("traceId", .string(span.context.traceID)), .init("spanId", .string(span.context.spanID)),
            span.parentID.map { .init("parentSpanId", .string($0)) },
            .init("flags", 1), .init("name", .string(span.name)), .init("kind", .whole(span.kind.rawValue)),
            .init("startTimeUnixNano", nanoseconds(span.start)), .init("endTimeUnixNano", nanoseconds(span.end)),
            .init("attributes", json(attributes)),
            span.error.map { .init("status", ["code": failed, "message": .string($0)]) },
        ]
        return .object(members.compactMap(\.self))
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
