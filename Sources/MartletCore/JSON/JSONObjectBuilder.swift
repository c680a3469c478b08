/// A builder for a JSON object that preserves the order of members and leaves out nil values.
package struct JSONObjectBuilder {
    private var members: [JSONValue.Member] = []

    /// Creates a builder that reserves space for this many members.
    package init(capacity: Int) {
        members.reserveCapacity(capacity)
    }

    /// Adds a member unless its value is nil.
    package mutating func add(_ name: String, _ value: JSONValue?) {
        if let value { members.append(JSONValue.Member(name, value)) }
    }

    /// Adds a member unless its value is nil.
    package mutating func add(_ name: String, _ text: String?) {
        add(name, text.map(JSONValue.string))
    }

    /// Adds a member unless its value is nil.
    package mutating func add(_ name: String, _ number: Double?) {
        // Null stands for a number that JSON cannot represent, so that a reader reports it.
        add(name, number.map { JSONValue.double($0) ?? .null })
    }

    /// Adds a member unless its value is nil.
    package mutating func add(_ name: String, _ number: Int?) {
        add(name, number.map { .integer($0) })
    }

    /// Adds a member unless its value is nil.
    package mutating func add(_ name: String, _ flag: Bool?) {
        add(name, flag.map(JSONValue.bool))
    }

    /// Adds a member unless its value is nil.
    package mutating func add<Choice: RawRepresentable<String>>(_ name: String, _ choice: Choice?) {
        add(name, choice?.rawValue)
    }

    package var object: JSONValue { .object(members) }
}
