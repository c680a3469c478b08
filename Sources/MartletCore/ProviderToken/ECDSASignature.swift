// SPDX-License-Identifier: Apache-2.0

/// The forms of an ECDSA signature on the curve P-256.
enum ECDSASignature {
    /// The number of bytes of a signature in the form of a JWT, r and s (RFC 7518 §3.4).
    static let byteCount = 64
    /// The number of bytes of a signature of ES512, r and s of 66 bytes each (RFC 7518 §3.4).
    private static let es512ByteCount = 132
    private static let sequence: UInt8 = 0x30
    private static let integer: UInt8 = 0x02

    /// The order of the curve P-256, n (NIST SP 800-186 §3.2.1.3).
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC, 0xE6, 0xFA, 0xAD,
        0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    /// Checks that r and s are from 1 to n - 1, as in every valid signature (FIPS 186-5 §6.4.2).
    ///
    /// - Parameter raw: 64 bytes, r and s.
    /// - Returns: Whether they are.
    static func isPossible(_ raw: [UInt8]) -> Bool {
        [raw.prefix(byteCount / 2), raw.suffix(byteCount / 2)].allSatisfy { number in
            number.contains { $0 != 0 } && number.lexicographicallyPrecedes(order)
        }
    }

    /// Converts a signature from DER (RFC 3279 §2.2.3) to the form of a JWT.
    ///
    /// - Parameter der: A sequence of two integers, r and s.
    /// - Returns: 64 bytes; nil when the bytes are not the DER of two positive numbers below 2²⁵⁶.
    static func raw(der: [UInt8]) -> [UInt8]? {
        var rest = der[...]
        guard var numbers = content(of: sequence, at: &rest), rest.isEmpty,
            let r = number(at: &numbers), let s = number(at: &numbers), numbers.isEmpty
        else { return nil }
        return r + s
    }

    /// Shortens a signature that is padded to the length of ES512 to the form of a JWT.
    ///
    /// ES512 is for the curve P-521. Some clients name it with a key on the curve P-256, whose numbers then begin with
    /// 34 zeros.
    ///
    /// - Parameter padded: r and s of 66 bytes each.
    /// - Returns: 64 bytes; nil when the bytes are not two numbers below 2²⁵⁶ with that padding.
    static func raw(es512 padded: [UInt8]) -> [UInt8]? {
        guard padded.count == es512ByteCount else { return nil }
        let numbers = [padded.prefix(es512ByteCount / 2), padded.suffix(es512ByteCount / 2)]
        let paddingCount = (es512ByteCount - byteCount) / 2
        guard numbers.allSatisfy({ $0.prefix(paddingCount).allSatisfy { $0 == 0 } }) else { return nil }
        return numbers.flatMap { $0.dropFirst(paddingCount) }
    }

    /// Reads one element.
    ///
    /// A signature has fewer than 128 bytes, so its lengths take one byte (ITU-T X.690 §8.1.3.4).
    private static func content(of tag: UInt8, at bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard bytes.popFirst() == tag, let length = bytes.popFirst(), length < 0x80, bytes.count >= length else {
            return nil
        }
        defer { bytes = bytes.dropFirst(Int(length)) }
        return bytes.prefix(Int(length))
    }

    /// Reads a positive integer of at most 32 bytes.
    ///
    /// A leading zero stands only before a byte with the highest bit set (ITU-T X.690 §8.3.2).
    private static func number(at bytes: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard var digits = content(of: integer, at: &bytes), let first = digits.popFirst() else { return nil }
        if first == 0 {
            guard let next = digits.first, next >= 0x80 else { return nil }
        } else {
            guard first < 0x80 else { return nil }
            digits = [first] + digits
        }
        guard digits.count <= byteCount / 2 else { return nil }
        return [UInt8](repeating: 0, count: byteCount / 2 - digits.count) + digits
    }
}
