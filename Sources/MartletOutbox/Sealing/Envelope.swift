// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport

/// The form of sealed bytes: a version, the nonce, and the bytes encrypted with AES-256-GCM, with their tag.
enum Envelope {
    /// The version of the form.
    private static let version: UInt8 = 1

    /// Seals bytes with a random nonce, so that the same bytes never give the same form.
    static func seal(
        _ bytes: [UInt8],
        key: [UInt8],
        authenticating context: [UInt8]
    ) throws(CryptographyError) -> [UInt8] {
        try seal(bytes, key: key, nonce: random(AES256GCM.nonceByteCount), authenticating: context)
    }

    /// Seals bytes with a nonce that the key must not have been used with for other bytes.
    static func seal(
        _ bytes: [UInt8],
        key: [UInt8],
        nonce: [UInt8],
        authenticating context: [UInt8]
    ) throws(CryptographyError) -> [UInt8] {
        let encrypted = try AES256GCM.encrypt(bytes, key: key, nonce: nonce, authenticating: context)
        return [version] + nonce + encrypted
    }

    /// Opens sealed bytes; nil if they, the key or the context differ, or they have another version.
    static func open(
        _ sealed: [UInt8],
        key: [UInt8],
        authenticating context: [UInt8]
    ) throws(CryptographyError) -> [UInt8]? {
        let start = 1 + AES256GCM.nonceByteCount
        guard sealed.count >= start, sealed[0] == version else { return nil }
        let nonce = Array(sealed[1..<start])
        return try AES256GCM.decrypt(sealed[start...], key: key, nonce: nonce, authenticating: context)
    }

    /// Returns bytes from the system's source of random numbers.
    static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        while bytes.count < count {
            let word: UInt64 = generator.next()
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
        return Array(bytes.prefix(count))
    }
}
