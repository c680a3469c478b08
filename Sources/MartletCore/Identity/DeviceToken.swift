// SPDX-License-Identifier: Apache-2.0

/// The address of an app on a device, issued by APNs to the app.
///
/// The module `MartletCore` contains the value types of Apple's push service: tokens, topics, payloads, headers,
/// responses, and the rules that check a push. It uses no sockets, files or clocks, so the client, the simulator and
/// the inbox share the same types and rules.
///
/// Do not assume a length or a structure of a token ("Registering your app with APNs"). The description is shortened,
/// so that logs do not contain whole tokens.
public struct DeviceToken: Sendable, Hashable {
    /// The maximum number of bytes in a token: far more than in any known token, as a bound on untrusted input.
    public static let maximumByteCount = 512

    /// The bytes of the token.
    private let content: Content

    /// The storage of a token.
    ///
    /// Tokens of 32 bytes, the current size, are stored inline, so that copying them needs no allocation and no
    /// reference counting.
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

    /// All digits in lower case, as in the path of a request; computed on each access.
    public var hex: String {
        String(byteCount: digitCount) { write(into: &$0) }
    }

    /// Parses a token from hexadecimal digits.
    ///
    /// - Parameter hex: An even number of digits, upper or lower case, at least two.
    /// - Throws: ``DeviceTokenError`` that describes the error in the digits.
    @specialized(where Text == String)
    @specialized(where Text == Substring)
    public init<Text: StringProtocol>(hex: Text) throws(DeviceTokenError) {
        // An array is several times faster to iterate than a string, and relays parse tokens by the thousand.
        let digits = Array(hex.utf8)
        guard !digits.isEmpty else { throw .empty }
        guard digits.count <= 2 * DeviceToken.maximumByteCount else { throw .tooLong(byteCount: digits.count / 2) }
        if let offset = digits.firstIndex(where: { !$0.isHexadecimalDigit }) { throw .notHexadecimal(offset: offset) }
        guard digits.count.isMultiple(of: 2) else { throw .oddDigitCount(digits.count) }
        content = Content(digits: digits)
    }

    /// Creates a token from the bytes that an app receives in
    /// `application(_:didRegisterForRemoteNotificationsWithDeviceToken:)`.
    ///
    /// - Parameter bytes: At least one byte.
    /// - Throws: ``DeviceTokenError`` if there are no bytes or too many.
    public init(bytes: some Sequence<UInt8>) throws(DeviceTokenError) {
        let bytes = Array(bytes)
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= DeviceToken.maximumByteCount else { throw .tooLong(byteCount: bytes.count) }
        content = Content(bytes: bytes)
    }

    /// Creates a token from digits that a store has written: of any length, because a store lengthens tokens that it
    /// encrypts; nil for text that does not consist of digits.
    package init?(stored hex: String) {
        let digits = Array(hex.utf8)
        guard !digits.isEmpty, digits.count.isMultiple(of: 2), digits.allSatisfy(\.isHexadecimalDigit) else {
            return nil
        }
        content = Content(digits: digits)
    }

    /// The bytes of the token.
    package var bytes: [UInt8] {
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).map { place in
            UInt8(truncatingIfNeeded: digits[place..<place + 2].hexadecimalNumber)
        }
    }

    private static let usualDigitCount = 64

    package var digitCount: Int {
        switch content {
        case .usual: DeviceToken.usualDigitCount
        case .other(let digits): digits.utf8.count
        }
    }

    /// Writes all digits in lower case.
    ///
    /// - Parameter text: The destination, with room for ``digitCount`` bytes.
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
    /// Writes the 16 hexadecimal digits of a number.
    fileprivate mutating func storeDigits(of number: UInt64, at offset: Int) {
        let upper = UInt32(truncatingIfNeeded: number >> 32).hexadecimalDigits
        let lower = UInt32(truncatingIfNeeded: number).hexadecimalDigits
        storeBytes(of: upper.bigEndian, toByteOffset: offset, as: UInt64.self)
        storeBytes(of: lower.bigEndian, toByteOffset: offset + 8, as: UInt64.self)
    }
}

/// An error for input that is not a device token.
public enum DeviceTokenError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There are no digits.
    case empty
    /// The number of digits is odd.
    case oddDigitCount(Int)
    /// The character at this offset is not one of `0`–`9`, `a`–`f`, `A`–`F`.
    case notHexadecimal(offset: Int)
    /// The token is longer than ``DeviceToken/maximumByteCount``.
    case tooLong(byteCount: Int)

    /// The error and the required form; the token itself is never included.
    public var description: String {
        switch self {
        case .empty:
            "the device token is empty"
        case .oddDigitCount(let count):
            "the device token has \(count.counted("hexadecimal digit")), an odd number: "
                + "a digit is missing or too many"
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

    /// The type's name with the first eight digits.
    public var debugDescription: String { "DeviceToken(\(description))" }

    /// A mirror of the shortened form only, so that dumps do not contain the token.
    public var customMirror: Mirror { Mirror(self, children: ["hex": description]) }
}

extension DeviceToken: Codable {
    /// Decodes hexadecimal text.
    public init(from decoder: any Decoder) throws {
        self = try decoder.parseText { (text) throws(DeviceTokenError) in try DeviceToken(hex: text) }
    }

    /// Encodes all digits.
    public func encode(to encoder: any Encoder) throws {
        try hex.encode(to: encoder)
    }
}

extension Decoder {
    /// Decodes a string, and parses it; an error of the parser becomes a `DecodingError` with its description.
    func parseText<Value, Failure: Error>(_ parse: (String) throws(Failure) -> Value) throws -> Value {
        let container = try singleValueContainer()
        let text = try container.decode(String.self)
        do throws(Failure) {
            return try parse(text)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
        }
    }
}
