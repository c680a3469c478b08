/// The address of one app on one device, as APNs gave it to the app.
///
/// The module `APNs` is the vocabulary of Apple's push service: tokens, topics, payloads, headers, answers, and the
/// rules that judge a push. It holds values only and knows no sockets, files or clocks, so that client, simulator and
/// inbox speak of the same things and judge them alike.
///
/// A token has no fixed length and no meaning of its own: never assume one ("Registering your app with APNs"). Its
/// description is shortened, so that no log holds a whole one.
public struct DeviceToken: Sendable, Hashable {
    /// Bytes a token may have: far more than any seen, and a bound on what is believed from outside.
    public static let maximumByteCount = 512

    /// What the digits stand for.
    private let content: Content

    /// Tokens of 32 bytes, as APNs gives them to apps today, need no memory of their own: a million are copied and kept
    /// without a count of who refers to them.
    private enum Content: Sendable, Hashable {
        case usual(UInt64, UInt64, UInt64, UInt64)
        case other(String)

        init(bytes: [UInt8]) {
            guard 2 * bytes.count == DeviceToken.usualDigitCount else {
                var digits: [UInt8] = []
                for byte in bytes { digits.appendHexadecimal(byte) }
                self = .other(String(decoding: digits, as: UTF8.self))
                return
            }
            self.init(quartersOf: bytes) { $0.bigEndianNumber }
        }

        /// What nothing but digits stand for.
        init(digits: [UInt8]) {
            guard digits.count == DeviceToken.usualDigitCount else {
                self = .other(String(decoding: digits, as: UTF8.self).lowercased())
                return
            }
            self.init(quartersOf: digits) { $0.hexadecimalNumber }
        }

        private init(quartersOf all: [UInt8], number: (ArraySlice<UInt8>) -> UInt64) {
            let length = all.count / 4
            self = .usual(
                number(all[..<length]),
                number(all[length..<2 * length]),
                number(all[2 * length..<3 * length]),
                number(all[(3 * length)...])
            )
        }
    }

    /// All digits in lower case, as they stand in the path of a request; written anew each time.
    public var hex: String {
        String(byteCount: digitCount) { write(into: &$0) }
    }

    /// A token from hexadecimal digits.
    ///
    /// - Parameter hex: An even number of digits, upper or lower case, at least two.
    /// - Throws: ``DeviceTokenError``, which says what is wrong with the digits.
    @specialized(where Text == String)
    @specialized(where Text == Substring)
    public init<Text: StringProtocol>(hex: Text) throws(DeviceTokenError) {
        // As an array, which is gone through several times as fast as a text: relays read tokens by the thousand.
        let digits = Array(hex.utf8)
        guard !digits.isEmpty else { throw .empty }
        guard digits.count <= 2 * DeviceToken.maximumByteCount else { throw .tooLong(byteCount: digits.count / 2) }
        if let offset = digits.firstIndex(where: { !$0.isHexadecimalDigit }) { throw .notHexadecimal(offset: offset) }
        guard digits.count.isMultiple(of: 2) else { throw .oddDigitCount(digits.count) }
        content = Content(digits: digits)
    }

    /// A token from the bytes that an app receives in
    /// `application(_:didRegisterForRemoteNotificationsWithDeviceToken:)`.
    ///
    /// - Parameter bytes: At least one byte.
    /// - Throws: ``DeviceTokenError`` when there is none or there are too many.
    public init(bytes: some Collection<UInt8>) throws(DeviceTokenError) {
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= DeviceToken.maximumByteCount else { throw .tooLong(byteCount: bytes.count) }
        content = Content(bytes: Array(bytes))
    }

    private static let usualDigitCount = 64

    /// How many digits there are.
    package var digitCount: Int {
        switch content {
        case .usual: DeviceToken.usualDigitCount
        case .other(let digits): digits.utf8.count
        }
    }

    /// Writes all digits in lower case.
    ///
    /// - Parameter text: Where to, with room for ``digitCount`` bytes.
    package func write(into text: inout MutableRawSpan) {
        switch content {
        case .usual(let first, let second, let third, let fourth):
            text.storeDigits(of: first, at: 0)
            text.storeDigits(of: second, at: 16)
            text.storeDigits(of: third, at: 32)
            text.storeDigits(of: fourth, at: 48)
        case .other(let digits):
            for (offset, digit) in digits.utf8.enumerated() {
                text.storeBytes(of: digit, toByteOffset: offset, as: UInt8.self)
            }
        }
    }
}

extension MutableRawSpan {
    /// Writes the sixteen hexadecimal digits of a number.
    fileprivate mutating func storeDigits(of number: UInt64, at offset: Int) {
        let upper = UInt32(truncatingIfNeeded: number >> 32).hexadecimalDigits
        let lower = UInt32(truncatingIfNeeded: number).hexadecimalDigits
        storeBytes(of: upper.bigEndian, toByteOffset: offset, as: UInt64.self)
        storeBytes(of: lower.bigEndian, toByteOffset: offset + 8, as: UInt64.self)
    }
}

/// Why something is no device token.
public enum DeviceTokenError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There are no digits at all.
    case empty
    /// The digits do not pair up to bytes.
    case oddDigitCount(Int)
    /// The character at this offset is none of `0`–`9`, `a`–`f`, `A`–`F`.
    case notHexadecimal(offset: Int)
    /// It is longer than any token.
    case tooLong(byteCount: Int)

    /// What is wrong and what a token looks like; the token itself is never repeated.
    public var description: String {
        switch self {
        case .empty:
            "the device token is empty"
        case .oddDigitCount(let count):
            "the device token has \(count) hexadecimal digits, an odd number: a digit is missing or too many"
        case .notHexadecimal(let offset):
            "the device token has a character at offset \(offset) that is not a hexadecimal digit: "
                + "send the bytes as hexadecimal, without spaces or brackets"
        case .tooLong(let byteCount):
            "the device token must have at most \(DeviceToken.maximumByteCount) bytes (found \(byteCount))"
        }
    }
}

extension DeviceToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The first eight digits.
    public var description: String {
        digitCount > 8 ? "\(hex.prefix(8))…" : hex
    }

    /// The first eight digits.
    public var debugDescription: String { "DeviceToken(\(description))" }

    /// Nothing but the shortened form, so that dumps do not give the token away.
    public var customMirror: Mirror { Mirror(self, children: ["hex": description]) }
}

extension DeviceToken: Codable {
    /// Reads hexadecimal text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            try self.init(hex: container.decode(String.self))
        } catch let error as DeviceTokenError {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.description)
        }
    }

    /// Writes all digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(hex)
    }
}
