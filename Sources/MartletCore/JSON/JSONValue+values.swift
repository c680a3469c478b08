/// Values made of Swift's values.
extension JSONValue {
    /// Returns an object of the members whose values are not nil, in this order.
    package static func members(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
        .object(members.compactMap { name, value in value.map { Member(name, $0) } })
    }

    /// Returns an array of strings.
    package static func strings(_ texts: some Sequence<String>) -> JSONValue { .array(texts.map(JSONValue.string)) }

    /// Returns an integer.
    package static func integer(_ number: some BinaryInteger) -> JSONValue { .number(JSONNumber(number)) }

    /// Returns a number; nil if it is not finite, which JSON cannot represent.
    package static func double(_ number: Double) -> JSONValue? { JSONNumber(number).map(JSONValue.number) }
}
