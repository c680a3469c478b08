// SPDX-License-Identifier: Apache-2.0

/// Values made of Swift's values.
extension JSONValue {
    /// Returns an object of the members whose values are not nil, in this order.
    package static func members(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
        .object(members.compactMap { name, value in value.map { Member(name, $0) } })
    }

    /// Returns an object of the members whose values are not nil, in this order.
    package static func object(of members: KeyValuePairs<String, (any JSONConvertible)?>) -> JSONValue {
        .object(members.compactMap { name, value in value.map { Member(name, $0.jsonValue) } })
    }

    /// Returns an array of strings.
    package static func strings(_ texts: some Sequence<String>) -> JSONValue { .array(texts.map(JSONValue.string)) }

    /// Returns an integer.
    package static func integer(_ number: some BinaryInteger) -> JSONValue { .number(JSONNumber(number)) }

    /// Returns a number; nil if it is not finite, which JSON cannot represent.
    package static func double(_ number: Double) -> JSONValue? { JSONNumber(number).map(JSONValue.number) }
}

/// A value of Swift that has a form in JSON.
package protocol JSONConvertible {
    /// The value as JSON.
    var jsonValue: JSONValue { get }
}

extension JSONValue: JSONConvertible {
    package var jsonValue: JSONValue { self }
}

extension String: JSONConvertible {
    package var jsonValue: JSONValue { .string(self) }
}

extension Bool: JSONConvertible {
    package var jsonValue: JSONValue { .bool(self) }
}

extension Int: JSONConvertible {
    package var jsonValue: JSONValue { .integer(self) }
}

extension Double: JSONConvertible {
    /// The number; null for one that JSON cannot represent, so that a reader reports it.
    package var jsonValue: JSONValue { .double(self) ?? .null }
}
