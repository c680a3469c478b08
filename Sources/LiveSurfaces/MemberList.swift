internal import MartletCore

/// A builder for a JSON object that preserves the order of members and leaves out nil values.
struct MemberList {
    private var members: [JSONValue.Member] = []

    init(capacity: Int) {
        members.reserveCapacity(capacity)
    }

    mutating func add(_ name: String, _ value: JSONValue?) {
        if let value { members.append(JSONValue.Member(name, value)) }
    }

    mutating func add(_ name: String, _ text: String?) {
        add(name, text.map(JSONValue.string))
    }

    mutating func add(_ name: String, _ number: Double?) {
        // A number that JSON cannot represent is written as null, which the rules reject when they read the object.
        add(name, number.map { value in JSONNumber(value).map(JSONValue.number) ?? .null })
    }

    mutating func add(_ name: String, _ number: Int?) {
        add(name, number.map { JSONValue.number(JSONNumber($0)) })
    }

    mutating func add(_ name: String, _ flag: Bool?) {
        add(name, flag.map(JSONValue.bool))
    }

    mutating func add<Choice: RawRepresentable<String>>(_ name: String, _ choice: Choice?) {
        add(name, choice?.rawValue)
    }

    var object: JSONValue { .object(members) }
}
