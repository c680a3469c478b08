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

    /// A signature of ES512 by a key on the curve P-256, which openssl makes: r and s, each padded to 66 bytes.
    ///
    /// - Parameters:
    ///   - input: The header and the claims as they are sent.
    ///   - keyPEM: The private key as PEM.
    /// - Returns: 132 bytes.
    /// - Throws: An error when openssl cannot be run.
    package static func es512(_ input: String, keyPEM: String) async throws -> [UInt8] {
        let scratch = try ScratchDirectory()
        let file = try scratch.write(keyPEM, to: "key.pem")
        let run = try await ProgramRun("openssl", ["dgst", "-sha512", "-sign", file], input: Array(input.utf8))
        var rest = run.output.dropFirst(2)
        var signature: [UInt8] = []
        for _ in 0..<2 {
            let count = Int(rest.dropFirst().first ?? 0)
            let digits = rest.dropFirst(2).prefix(count).drop { $0 == 0 }
            signature += [UInt8](repeating: 0, count: 66 - digits.count) + digits
            rest = rest.dropFirst(2 + count)
        }
        return signature
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
