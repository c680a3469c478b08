/// The identifier of one push, `apns-id`: a UUID in lower-case canonical form.
///
/// It names a push in logs and answers; APNs does not use it to drop duplicates.
/// Source: "Sending notification requests to APNs".
public struct APNsID: Sendable, Hashable {
    private let high: UInt64
    private let low: UInt64

    /// A random identifier (version 4, RFC 9562 §5.4) made of 128 random bits, six of which give way.
    ///
    /// - Parameter randomBits: The bits.
    public init(randomBits: (UInt64, UInt64)) {
        high = randomBits.0 & 0xFFFF_FFFF_FFFF_0FFF | 0x0000_0000_0000_4000
        low = randomBits.1 & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// An identifier made of a hash (version 8, RFC 9562 §5.8): the same hash gives the same identifier.
    ///
    /// - Parameter hash: The hash, of which the first 16 bytes count; missing ones are taken to be 0.
    public init(hash: some Sequence<UInt8>) {
        var halves: [UInt64] = [0, 0]
        for (index, byte) in hash.prefix(16).enumerated() { halves[index / 8] |= UInt64(byte) << (56 - index % 8 * 8) }
        high = halves[0] & 0xFFFF_FFFF_FFFF_0FFF | 0x0000_0000_0000_8000
        low = halves[1] & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// An identifier that begins with the time (version 7, RFC 9562 §5.7), so that later ones are greater.
    ///
    /// - Parameters:
    ///   - time: Milliseconds since 1970.
    ///   - randomBits: 128 random bits, of which 74 count.
    package init(milliseconds time: Int64, randomBits: (UInt64, UInt64)) {
        high = UInt64(truncatingIfNeeded: time) << 16 | 0x7000 | randomBits.0 & 0x0FFF
        low = randomBits.1 & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// A random identifier.
    ///
    /// - Parameter generator: Where the randomness comes from.
    /// - Returns: A version 4 UUID.
    public static func random(using generator: inout some RandomNumberGenerator) -> APNsID {
        APNsID(randomBits: (generator.next(), generator.next()))
    }

    /// An identifier from text in canonical form: 32 lower-case hexadecimal digits in groups of 8-4-4-4-12.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - allowsUpperCase: Whether upper-case digits are forgiven.
    /// - Throws: ``APNsIDError`` when the text has another form.
    @specialized(where Text == String)
    @specialized(where Text == Substring)
    public init<Text: StringProtocol>(_ text: Text, allowsUpperCase: Bool = false) throws(APNsIDError) {
        try self.init(utf8: text.utf8, allowsUpperCase: allowsUpperCase)
    }

    /// An identifier from the bytes of text in canonical form.
    ///
    /// - Parameters:
    ///   - utf8: The bytes.
    ///   - allowsUpperCase: Whether upper-case digits are forgiven.
    /// - Throws: ``APNsIDError`` when the text has another form.
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

    /// An identifier from its 16 bytes; nil when there are more or fewer.
    ///
    /// - Parameter bytes: The bytes, the highest first.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        high = bytes[..<8].bigEndianNumber
        low = bytes[8...].bigEndianNumber
    }

    /// The 16 bytes, the highest first.
    package var bytes: [UInt8] {
        [high, low].flatMap { half in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: half >> UInt64($0)) }
        }
    }

    /// Bytes of the canonical text.
    package static let textLength = 36

    /// Writes the canonical text.
    ///
    /// - Parameter text: Where to, with room for ``textLength`` bytes.
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
    /// Writes a hyphen and the four digits in the lower half.
    fileprivate mutating func storeGroup(_ digits: UInt64, at offset: Int) {
        storeBytes(of: UInt8(ascii: "-"), toByteOffset: offset, as: UInt8.self)
        storeBytes(of: UInt32(truncatingIfNeeded: digits).bigEndian, toByteOffset: offset + 1, as: UInt32.self)
    }
}

/// Text that is no canonical UUID.
public struct APNsIDError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What the text should look like.
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
    /// Reads canonical text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            try self.init(container.decode(String.self))
        } catch let error as APNsIDError {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.description)
        }
    }

    /// Writes canonical text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
