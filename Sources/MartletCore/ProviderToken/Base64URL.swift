// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Base64 with the URL-safe alphabet and without padding (RFC 4648 §5), the encoding of all parts of a JWT.
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

    /// Decodes text; returns nil if a character is not in the alphabet, or if the text does not encode whole bytes.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        let standard = text.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - standard.count % 4) % 4)
        // Foundation accepts the standard alphabet and ignores unused bits, so the bytes have to give the same text.
        guard let bytes = Data(base64Encoded: Data(standard + padding)), encode(bytes).elementsEqual(text) else {
            return nil
        }
        return Array(bytes)
    }
}
