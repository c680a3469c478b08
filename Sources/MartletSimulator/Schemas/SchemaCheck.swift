// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The types that a schema can name.
enum SchemaType: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    case null, boolean, integer, number, string, array, object

    /// Returns whether a value has the type.
    func matches(_ value: JSONValue) -> Bool {
        switch (self, value) {
        case (.null, .null), (.boolean, .bool), (.number, .number), (.string, .string), (.array, .array),
            (.object, .object):
            true
        case (.integer, .number(let number)): number.isWhole
        default: false
        }
    }

    /// The description of the type, for messages.
    var description: String {
        switch self {
        case .null: "null"
        case .boolean: "true or false"
        case .integer: "a whole number"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// A check that a schema demands; subschemas are indices into the list of all schemas.
enum SchemaCheck: Sendable, Hashable {
    enum Bound: Sendable, Hashable {
        case minimum, maximum
    }

    enum Comparison: Sendable, Hashable {
        case atLeast, atMost, above, below
    }

    /// Rejects every value.
    case never
    case types([SchemaType])
    case values([JSONValue])
    case required([String])
    /// Subschemas by the UTF-8 bytes of member names, because strings of different bytes can be equal in Swift.
    case properties([[UInt8]: Int])
    /// The subschema of all members except those with these names.
    case otherProperties(Set<[UInt8]>, Int)
    case firstElements([Int])
    case elements(from: Int, Int)
    case any([Int])
    case one([Int])
    case all([Int])
    case not(Int)
    case number(Comparison, JSONNumber)
    case length(Bound, Int)
    case count(Bound, Int)
}

extension JSONValue {
    /// The description of the type, for messages.
    var typeName: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// Returns whether two values are equal by JSON Schema: numbers by value, members in any order.
    func isSame(as other: JSONValue) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left.isEqual(to: right)
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
        case (.object(let left), .object(let right)):
            left.count == right.count
                && left.allSatisfy { member in
                    right.contains { $0.isNamed(member.name) && $0.value.isSame(as: member.value) }
                }
        default: false
        }
    }
}

extension JSONValue.Member {
    /// Returns whether the name has exactly these UTF-8 bytes.
    func isNamed(_ name: String) -> Bool { self.name.utf8.elementsEqual(name.utf8) }
}

extension JSONNumber {
    /// Whether the number has no fraction.
    var isWhole: Bool { integerValue != nil || doubleValue.rounded() == doubleValue }

    /// Returns whether both numbers have the same value, compared as integers if both are, otherwise in double
    /// precision.
    func isEqual(to other: JSONNumber) -> Bool {
        if let whole = integerValue, let otherWhole = other.integerValue { return whole == otherWhole }
        return doubleValue == other.doubleValue
    }

    /// Returns whether this number is less, compared as in ``isEqual(to:)``.
    func isLess(than other: JSONNumber) -> Bool {
        if let whole = integerValue, let otherWhole = other.integerValue { return whole < otherWhole }
        return doubleValue < other.doubleValue
    }
}
