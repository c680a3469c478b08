/// A step of a push that took some time, as OpenTelemetry tells of steps.
struct Span: Sendable, Hashable {
    /// On which side of a queue or a wire the step is.
    enum Kind: Int, Sendable {
        case client = 3
        case producer = 4
    }

    var name: String
    var kind: Kind
    /// The trace that it belongs to, and its own identifier there.
    var context: TraceContext
    /// The step that it is part of; nil for the first of a trace.
    var parentID: String?
    /// In microseconds since 1970.
    var start: Int64
    var end: Int64
    var attributes: [Attribute]
    /// Why the step failed, in a word; nil when it did not.
    var error: String?
}

/// What is told besides: a name with a text or a whole number.
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
