// SPDX-License-Identifier: Apache-2.0

/// A JSON value that preserves the order of members and the text of numbers.
public enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number, with its original text.
    case number(JSONNumber)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object.
    case object([Member])

    /// A name and its value in an object.
    public struct Member: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value.
        public var value: JSONValue

        /// Creates a member from its name and value.
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }

        /// Returns whether this is the name of the member.
        ///
        /// Names of other lengths are not compared: Swift normalizes both, which takes long for a name of megabytes.
        func isNamed(_ name: String) -> Bool { self.name.utf8.count == name.utf8.count && self.name == name }
    }

    /// The value of the first member with this name; nil if there is none or the value is not an object.
    public subscript(name: String) -> JSONValue? {
        members?.first { $0.isNamed(name) }?.value
    }

    /// The members; nil if the value is not an object.
    public var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The elements; nil if the value is not an array.
    public var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The text; nil if the value is not a string.
    public var stringValue: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The integer; nil if the value is not a number or not written as an integer.
    public var integerValue: Int64? {
        if case .number(let number) = self { number.integerValue } else { nil }
    }

    /// The integer in any notation, such as `1.0` or `1e0`; nil if the value is not a number or not whole.
    package var wholeValue: Int64? {
        if case .number(let number) = self { number.wholeValue } else { nil }
    }

    /// Returns the value as compact JSON in UTF-8.
    ///
    /// - Returns: The bytes, without white space.
    public func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        write(into: &bytes)
        return bytes
    }

    private func write(into bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let number): bytes.append(contentsOf: number.text.utf8)
        case .string(let text): bytes.appendJSON(text)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(into: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes.appendJSON(member.name)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(into: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as compact JSON.
    public var description: String { String(decoding: encoded(), as: UTF8.self) }
}

extension JSONValue: Encodable {
    /// Encodes the value with any encoder; an integer as `Int64`, any other number in double precision.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value):
            try value.encode(to: encoder)
        case .number(let number):
            if let whole = number.integerValue {
                try whole.encode(to: encoder)
            } else {
                try number.doubleValue.encode(to: encoder)
            }
        case .string(let text):
            try text.encode(to: encoder)
        case .array(let elements):
            try elements.encode(to: encoder)
        case .object(let members):
            var container = encoder.container(keyedBy: MemberName.self)
            for member in members { try container.encode(member.value, forKey: MemberName(stringValue: member.name)) }
        }
    }

    private struct MemberName: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) {
            nil
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a string.
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    /// Creates a number.
    public init(integerLiteral value: Int64) {
        self = .number(JSONNumber(value))
    }

    /// Creates `true` or `false`.
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    /// Creates an array.
    public init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }

    /// Creates an object, with its members in the order of the literal.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member($0, $1) })
    }
}

/// A JSON number with its original text, so that no digits are lost.
public struct JSONNumber: Sendable, Hashable {
    /// The text, a number in the grammar of RFC 8259 §6.
    public let text: String

    /// Creates a number from an integer.
    ///
    /// - Parameter value: The integer.
    public init(_ value: some BinaryInteger) {
        text = String(value)
    }

    /// Creates a number in double precision with the shortest text that represents it; integers have no fraction.
    ///
    /// - Parameter value: The number; the result is nil if it is not finite, because JSON cannot represent it.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        text = Int64(exactly: value).map { String($0) } ?? JSONNumber.text(of: value)
    }

    /// Returns the shortest text of a number, with an exponent where JavaScript writes one (ECMA-262,
    /// `Number::toString`), so that programs in both languages write the same bytes.
    ///
    /// Swift writes the same digits, but exponents for more numbers, and with at least two digits.
    private static func text(of value: Double) -> String {
        let parts = value.description.split(separator: "e")
        guard parts.count == 2, let exponent = Int(parts[1]) else { return value.description }
        let digits = String(parts[0]).filter(\.isWholeNumber)
        let sign = value < 0 ? "-" : ""
        switch exponent {
        case -6..<0: return sign + "0." + String(repeating: "0", count: -1 - exponent) + digits
        case 0...20: return sign + digits + String(repeating: "0", count: max(0, exponent + 1 - digits.count))
        default: return "\(parts[0])e\(exponent < 0 ? "" : "+")\(exponent)"
        }
    }

    init(text: String) {
        self.text = text
    }

    /// The number if it is an integer, written without fraction and exponent; nil otherwise.
    public var integerValue: Int64? { Int64(text) }

    /// The number if it is whole, also when it is written with a fraction or an exponent; nil otherwise.
    ///
    /// Phones decode `1.0` and `1e0` as the integer 1.
    package var wholeValue: Int64? {
        if let integerValue { return integerValue }
        let parts = text.split(omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }
        let mantissa = (parts.first ?? "").split(separator: ".", omittingEmptySubsequences: false)
        guard var exponent = parts.count > 1 ? Int(parts[1]) : 0, let whole = mantissa.first else { return nil }
        let fraction = mantissa.count > 1 ? mantissa[1] : ""
        var digits = whole + fraction
        // Leading zeros count nothing, and trailing ones can make up for the fraction.
        let isNegative = digits.first == "-"
        digits = digits.drop { $0 == "-" || $0 == "0" }
        guard !digits.isEmpty else { return 0 }
        exponent = exponent.subtractingReportingOverflow(fraction.utf8.count).partialValue
        while exponent < 0, digits.last == "0" {
            digits.removeLast()
            exponent += 1
        }
        guard (0...18).contains(exponent) else { return nil }
        return Int64((isNegative ? "-" : "") + digits + String(repeating: "0", count: exponent))
    }

    /// The nearest number in double precision.
    public var doubleValue: Double { Double(text) ?? .nan }
}

extension [UInt8] {
    /// Appends text as a JSON string, escaping only what RFC 8259 §7 requires.
    mutating func appendJSON(_ text: String) {
        append(UInt8(ascii: "\""))
        let start = count
        append(contentsOf: text.utf8)
        // Searching the bytes already copied is faster than searching the string.
        var index = start
        while index < count, !self[index].needsEscapeInJSON { index += 1 }
        if index < count {
            removeSubrange(index...)
            for byte in text.utf8.dropFirst(index - start) { appendEscaped(byte) }
        }
        append(UInt8(ascii: "\""))
    }

    private mutating func appendEscaped(_ byte: UInt8) {
        guard byte.needsEscapeInJSON else {
            append(byte)
            return
        }
        append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\n"): append(UInt8(ascii: "n"))
        case UInt8(ascii: "\r"): append(UInt8(ascii: "r"))
        case UInt8(ascii: "\t"): append(UInt8(ascii: "t"))
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(byte)
        default:
            append(contentsOf: "u00".utf8)
            appendHexadecimal(byte)
        }
    }
}

extension UInt8 {
    var needsEscapeInJSON: Bool {
        self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\")
    }
}
