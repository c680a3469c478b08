// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Base64 with the URL-safe alphabet and without padding (RFC 4648 §5), the encoding of all parts of a JWT.
///
/// Text in the other forms of base64 is decoded, too, as some clients send it.
enum Base64URL {
    static func encode(_ bytes: some Collection<UInt8>) -> [UInt8] {
        Data(bytes).base64EncodedData().prefix { $0 != UInt8(ascii: "=") }.map { byte in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: byte
            }
        }
    }

    /// Decodes text in the URL-safe or the standard alphabet (RFC 4648 §4), with or without padding.
    ///
    /// - Returns: The bytes; nil if a character is in neither alphabet, or if the text does not encode whole bytes.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var standard = text.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        while standard.last == UInt8(ascii: "=") { standard.removeLast() }
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - standard.count % 4) % 4)
        // Foundation ignores unused bits, so the bytes have to give the same text.
        guard let bytes = Data(base64Encoded: Data(standard + padding)),
            bytes.base64EncodedData().elementsEqual(standard + padding)
        else { return nil }
        return Array(bytes)
    }

    /// Returns whether text has a character of the standard alphabet that the URL-safe alphabet does not have.
    static func isStandard(_ text: some Collection<UInt8>) -> Bool {
        text.contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }
    }

    /// Returns whether text ends with padding.
    static func isPadded(_ text: some Collection<UInt8>) -> Bool {
        text.contains(UInt8(ascii: "="))
    }
}
