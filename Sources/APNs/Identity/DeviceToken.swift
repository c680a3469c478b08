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

    /// All digits in lower case, as they stand in the path of a request.
    public let hex: String

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
        var hasUpperCase = false
        var offset = 0
        for digit in digits {
            guard digit.isHexadecimalDigit else { throw .notHexadecimal(offset: offset) }
            hasUpperCase = hasUpperCase || digit & 0xE0 == 0x40
            offset += 1
        }
        guard digits.count.isMultiple(of: 2) else { throw .oddDigitCount(digits.count) }
        self.hex = hasUpperCase ? hex.lowercased() : String(hex)
    }

    /// A token from the bytes that an app receives in
    /// `application(_:didRegisterForRemoteNotificationsWithDeviceToken:)`.
    ///
    /// - Parameter bytes: At least one byte.
    /// - Throws: ``DeviceTokenError`` when there is none or there are too many.
    public init(bytes: some Collection<UInt8>) throws(DeviceTokenError) {
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= DeviceToken.maximumByteCount else { throw .tooLong(byteCount: bytes.count) }
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * bytes.count)
        for byte in bytes { digits.appendHexadecimal(byte) }
        hex = String(decoding: digits, as: UTF8.self)
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
            "the device token has a character at offset \(offset) that is no hexadecimal digit: "
                + "send the bytes as hexadecimal, without spaces or brackets"
        case .tooLong(let byteCount):
            "the device token has \(byteCount) bytes; more than \(DeviceToken.maximumByteCount) are not believed"
        }
    }
}

extension DeviceToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The first eight digits.
    public var description: String {
        hex.utf8.count > 8 ? "\(hex.prefix(8))…" : hex
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
