// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

/// An API key of a caller; only its hash is stored.
package struct CallerKey {
    /// The key: `mrt_` and 32 random characters of base32 (RFC 4648 §6).
    package let text: String

    /// Creates a random key.
    package init() {
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567")
        var generator = SystemRandomNumberGenerator()
        let characters = (0..<32).map { _ in alphabet[Int.random(in: alphabet.indices, using: &generator)] }
        text = SecretPrefix.callerKey.rawValue + String(characters)
    }

    /// The hash by which a configuration identifies the key: the hexadecimal digits of its SHA-256.
    ///
    /// - Throws: ``RelayError`` when the system cannot calculate the hash.
    package var hash: String {
        get throws(RelayError) {
            do {
                return String(decoding: try CallerKey.hash(of: text[...]), as: UTF8.self)
            } catch {
                throw RelayError("the key cannot be hashed: \(error)")
            }
        }
    }

    /// Returns the hexadecimal digits of a key's SHA-256.
    static func hash(of key: Substring) throws(CryptographyError) -> [UInt8] {
        var digits: [UInt8] = []
        for byte in try SHA256.hash(Array(key.utf8)) { digits.appendHexadecimal(byte) }
        return digits
    }
}
