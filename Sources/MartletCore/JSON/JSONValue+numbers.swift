/// Values made of Swift's numbers.
extension JSONValue {
    /// Returns an integer.
    package static func integer(_ number: some BinaryInteger) -> JSONValue { .number(JSONNumber(number)) }

    /// Returns an integer; nil for nil.
    package static func integer(_ number: (some BinaryInteger)?) -> JSONValue? { number.map { .integer($0) } }

    /// Returns a number; nil for nil and for a number that is not finite, which JSON cannot represent.
    package static func double(_ number: Double?) -> JSONValue? {
        number.flatMap { JSONNumber($0) }.map { .number($0) }
    }
}
