internal import MartletCore
internal import MartletOutbox

/// The encoding of spans and metrics in the JSON of the OpenTelemetry protocol
/// (https://opentelemetry.io/docs/specs/otlp).
///
/// It is the JSON mapping of Protobuf with two exceptions: identifiers are hexadecimal, and enumerations are numbers.
enum OTLP {
    private static let scope: JSONValue = ["name": "martlet.relay", "version": .string(MartletVersion.current)]
    /// `AGGREGATION_TEMPORALITY_CUMULATIVE`: values count from the start of the process.
    private static let cumulative: JSONValue = 2
    private static let failed: JSONValue = 2

    /// Returns the resource that identifies the process.
    static func resource(_ attributes: [Attribute]) -> JSONValue { ["attributes": json(attributes)] }

    /// Returns the body of a request to `/v1/traces`.
    static func traces(_ spans: [Span], of resource: JSONValue) -> JSONValue {
        let scoped: JSONValue = ["scope": scope, "spans": .array(spans.map(json))]
        return ["resourceSpans": [["resource": resource, "scopeSpans": [scoped]]]]
    }

    /// Returns the body of a request to `/v1/metrics`.
    ///
    /// - Parameters:
    ///   - sheet: The metrics.
    ///   - resource: The resource that they describe.
    ///   - start: The start of the counters, in microseconds since 1970.
    ///   - time: The time of the values.
    /// - Returns: The JSON.
    static func metrics(
        _ sheet: MetricSheet,
        of resource: JSONValue,
        since start: Int64,
        at time: Int64
    ) -> JSONValue {
        let times: [JSONValue.Member] = [
            .init("startTimeUnixNano", nanoseconds(start)), .init("timeUnixNano", nanoseconds(time)),
        ]
        let metrics = sheet.families.filter { !$0.points.isEmpty }.map { json($0, times) }
        let scoped: JSONValue = ["scope": scope, "metrics": .array(metrics)]
        return ["resourceMetrics": [["resource": resource, "scopeMetrics": [scoped]]]]
    }

    // MARK: Spans

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

    // MARK: Metrics

    private static func json(_ family: MetricSheet.Family, _ times: [JSONValue.Member]) -> JSONValue {
        let (name, unit) = nameAndUnit(of: family)
        var data: [JSONValue.Member] = [.init("dataPoints", .array(family.points.map { json($0, times) }))]
        switch family.kind {
        case .gauge: break
        case .counter:
            data += [.init("aggregationTemporality", cumulative), .init("isMonotonic", true)]
        case .histogram:
            data.append(.init("aggregationTemporality", cumulative))
        }
        let kind =
            switch family.kind {
            case .counter: "sum"
            case .gauge: "gauge"
            case .histogram: "histogram"
            }
        return .object([
            .init("name", .string(name)), .init("description", .string(family.help)), .init("unit", .string(unit)),
            .init(kind, .object(data)),
        ])
    }

    /// Returns the name of a metric in the form of OpenTelemetry, with dots and without units and kinds, and its unit.
    private static func nameAndUnit(of family: MetricSheet.Family) -> (name: String, unit: String) {
        var name = family.name[...]
        if name.hasSuffix("_total") { name = name.dropLast("_total".count) }
        var unit = "1"
        for (suffix, symbol) in [("_seconds", "s"), ("_bytes", "By")] where name.hasSuffix(suffix) {
            name = name.dropLast(suffix.count)
            unit = symbol
        }
        let prefix = "martlet_relay_"
        let own = name.hasPrefix(prefix) ? "martlet.relay." + name.dropFirst(prefix.count) : String(name)
        return (family.openTelemetryName ?? own, unit)
    }

    private static func json(_ point: MetricSheet.Point, _ times: [JSONValue.Member]) -> JSONValue {
        let attributes = point.labels.map { name, value in
            // Attributes of OpenTelemetry's semantic conventions, which have dots, may be numbers.
            name.contains(".")
                ? Int64(value).map { Attribute(name, $0) } ?? Attribute(name, value)
                : Attribute(name, value)
        }
        var members = [JSONValue.Member("attributes", json(attributes))] + times
        switch point.value {
        case .whole(let value): members.append(.init("asInt", .string(String(value))))
        case .fraction(let value): members.append(.init("asDouble", number(value)))
        case .histogram(let histogram):
            members += [
                .init("count", .string(String(histogram.counts.reduce(0, +)))),
                .init("sum", number(histogram.sum)),
                .init("bucketCounts", .array(histogram.counts.map { .string(String($0)) })),
                .init("explicitBounds", .array(histogram.bounds.map(number))),
            ]
        }
        return .object(members)
    }

    // MARK: Attributes and numbers

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

    private static func number(_ value: Double) -> JSONValue { JSONNumber(value).map(JSONValue.number) ?? 0 }

    /// Encodes nanoseconds as a string, as Protobuf's JSON mapping requires for 64-bit integers.
    private static func nanoseconds(_ microseconds: Int64) -> JSONValue { .string(String(microseconds) + "000") }
}
