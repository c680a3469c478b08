// SPDX-License-Identifier: Apache-2.0

/// The identifier of one push, `apns-id`: a UUID in lower-case canonical form.
///
/// The identifier names a push in logs and responses; APNs does not use it to remove duplicates.
/// Source: "Sending notification requests to APNs".
public struct APNsID: Sendable, Hashable {
    private let high: UInt64
    private let low: UInt64

    /// Creates a random identifier (version 4, RFC 9562 §5.4).
    ///
    /// - Parameter randomBits: 128 random bits, six of which are replaced by the version and the variant.
    public init(randomBits: (UInt64, UInt64)) {
        high = randomBits.0 & 0xFFFF_FFFF_FFFF_0FFF | 0x0000_0000_0000_4000
        low = randomBits.1 & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// Creates an identifier from a hash (version 8, RFC 9562 §5.8): the same hash gives the same identifier.
    ///
    /// - Parameter hash: The hash. Only the first 16 bytes are used; missing bytes are 0.
    public init(hash: some Sequence<UInt8>) {
        var halves: [UInt64] = [0, 0]
        for (index, byte) in hash.prefix(16).enumerated() { halves[index / 8] |= UInt64(byte) << (56 - index % 8 * 8) }
        high = halves[0] & 0xFFFF_FFFF_FFFF_0FFF | 0x0000_0000_0000_8000
        low = halves[1] & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// Creates an identifier that begins with the time (version 7, RFC 9562 §5.7), so that later identifiers are
    /// greater.
    ///
    /// - Parameters:
    ///   - time: Milliseconds since 1970.
    ///   - randomBits: 128 random bits, of which 74 are used.
    package init(milliseconds time: Int64, randomBits: (UInt64, UInt64)) {
        high = UInt64(truncatingIfNeeded: time) << 16 | 0x7000 | randomBits.0 & 0x0FFF
        low = randomBits.1 & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// Returns a random identifier from the system's source of random numbers.
    ///
    /// - Returns: A version 4 UUID.
    public static func random() -> APNsID {
        var generator = SystemRandomNumberGenerator()
        return random(using: &generator)
    }

    /// Returns a random identifier.
    ///
    /// - Parameter generator: The source of random numbers.
    /// - Returns: A version 4 UUID.
    public static func random(using generator: inout some RandomNumberGenerator) -> APNsID {
        APNsID(randomBits: (generator.next(), generator.next()))
    }

    /// Parses an identifier in canonical form: 32 lower-case hexadecimal digits in groups of 8-4-4-4-12.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - allowsUpperCase: Whether upper-case digits are accepted.
    /// - Throws: ``APNsIDError`` if the text has another form.
    @specialized(where Text == String)
    @specialized(where Text == Substring)
    public init<Text: StringProtocol>(_ text: Text, allowsUpperCase: Bool = false) throws(APNsIDError) {
        try self.init(utf8: text.utf8, allowsUpperCase: allowsUpperCase)
    }

    /// Parses an identifier from the UTF-8 bytes of its canonical form.
    ///
    /// - Parameters:
    ///   - utf8: The bytes.
    ///   - allowsUpperCase: Whether upper-case digits are accepted.
    /// - Throws: ``APNsIDError`` if the text has another form.
    public init(utf8: some Sequence<UInt8>, allowsUpperCase: Bool = false) throws(APNsIDError) {
        var halves: (UInt64, UInt64) = (0, 0)
        var count = 0
        for byte in utf8 {
            defer { count += 1 }
            if count == 8 || count == 13 || count == 18 || count == 23 {
                guard byte == UInt8(ascii: "-") else { throw APNsIDError() }
                continue
            }
            guard count < APNsID.textLength, let value = byte.hexadecimalValue,
                allowsUpperCase || byte < UInt8(ascii: "A") || byte > UInt8(ascii: "F")
            else { throw APNsIDError() }
            if count < 18 {
                halves.0 = halves.0 << 4 | UInt64(value)
            } else {
                halves.1 = halves.1 << 4 | UInt64(value)
            }
        }
        guard count == APNsID.textLength else { throw APNsIDError() }
        (high, low) = halves
    }

    /// Creates an identifier from its 16 bytes; nil if there are more or fewer.
    ///
    /// - Parameter bytes: The bytes, most significant first.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        high = bytes[..<8].bigEndianNumber
        low = bytes[8...].bigEndianNumber
    }

    /// The 16 bytes, most significant first.
    package var bytes: [UInt8] {
        [high, low].flatMap { half in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: half >> UInt64($0)) }
        }
    }

    /// The length of the canonical text in bytes.
    package static let textLength = 36

    /// Writes the canonical text.
    ///
    /// - Parameter text: The destination, with room for ``textLength`` bytes.
    package func write(into text: inout MutableRawSpan) {
        let digits = (
            UInt32(truncatingIfNeeded: high >> 32).hexadecimalDigits,
            UInt32(truncatingIfNeeded: high).hexadecimalDigits,
            UInt32(truncatingIfNeeded: low >> 32).hexadecimalDigits, UInt32(truncatingIfNeeded: low).hexadecimalDigits
        )
        text.storeBytes(of: digits.0.bigEndian, toByteOffset: 0, as: UInt64.self)
        text.storeGroup(digits.1 >> 32, at: 8)
        text.storeGroup(digits.1, at: 13)
        text.storeGroup(digits.2 >> 32, at: 18)
        text.storeGroup(digits.2, at: 23)
        text.storeBytes(of: digits.3.bigEndian, toByteOffset: 28, as: UInt64.self)
    }
}

extension MutableRawSpan {
    /// Writes a hyphen and the four digits in the lower half of the number.
    fileprivate mutating func storeGroup(_ digits: UInt64, at offset: Int) {
        storeBytes(of: UInt8(ascii: "-"), toByteOffset: offset, as: UInt8.self)
        storeBytes(of: UInt32(truncatingIfNeeded: digits).bigEndian, toByteOffset: offset + 1, as: UInt32.self)
    }
}

/// An error for text that is not a canonical UUID.
public struct APNsIDError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The required form.
    public var description: String {
        "an apns-id is 32 lower-case hexadecimal digits in groups of 8-4-4-4-12 with hyphens between"
    }

    init() {}
}

extension APNsID: CustomStringConvertible {
    /// The canonical text.
    public var description: String {
        String(byteCount: APNsID.textLength) { write(into: &$0) }
    }
}

extension APNsID: Codable {
    /// Decodes the canonical text.
    public init(from decoder: any Decoder) throws {
        self = try decoder.parseText { (text) throws(APNsIDError) in try APNsID(text) }
    }

    /// Encodes the canonical text.
    public func encode(to encoder: any Encoder) throws {
        try description.encode(to: encoder)
    }
}
