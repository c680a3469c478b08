// SPDX-License-Identifier: Apache-2.0

/// The encodings of a provider token, independent of the code under test.
package enum JWTEncoding {
    /// A signature in DER: two integers in a sequence (ITU-T X.690 §8.3).
    package static func der(_ signature: [UInt8]) -> [UInt8] {
        func number(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            let digits = Array(bytes.drop { $0 == 0 })
            let content = digits.first.map { $0 >= 0x80 } ?? true ? [0] + digits : digits
            return [2, UInt8(content.count)] + content
        }
        let content = number(signature[..<32]) + number(signature[32...])
        return [0x30, UInt8(content.count)] + content
    }

    /// Base64 for URLs, without padding (RFC 4648 §5).
    package static func base64URL(_ bytes: [UInt8]) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for index in 0...group.count { text.append(letters[bits >> (18 - 6 * index) & 63]) }
        }
        return text
    }
}
