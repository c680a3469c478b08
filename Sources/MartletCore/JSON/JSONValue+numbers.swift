/// Values made of Swift's numbers.
extension JSONValue {
    package static func integer(_ number: some BinaryInteger) -> JSONValue { .number(JSONNumber(number)) }

    /// Returns a number; nil if it is not finite, which JSON cannot represent.
    package static func double(_ number: Double) -> JSONValue? { JSONNumber(number).map(JSONValue.number) }
}
