// SPDX-License-Identifier: Apache-2.0

/// A span of OpenTelemetry: a timed step in the processing of a push.
struct Span: Sendable, Hashable {
    /// The kind of a span, by OpenTelemetry's `SpanKind`.
    enum Kind: Int, Sendable {
        case client = 3
        case producer = 4
    }

    var name: String
    var kind: Kind
    var context: TraceContext
    /// The identifier of the parent span; nil for the root of a trace.
    var parentID: String?
    /// The start, in microseconds since 1970.
    var start: Int64
    var end: Int64
    var attributes: [Attribute]
    /// The value of `error.type`; nil for a successful step.
    var error: String?
}

/// An attribute: a name with a text or an integer.
struct Attribute: Sendable, Hashable {
    enum Value: Sendable, Hashable {
        case text(String)
        case whole(Int64)
    }

    var name: String
    var value: Value

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = .text(value)
    }

    init(_ name: String, _ value: some BinaryInteger) {
        self.name = name
        self.value = .whole(Int64(clamping: value))
    }
}
