// SPDX-License-Identifier: Apache-2.0

internal import CMartletOpenSSL

/// The hash function SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// Returns the 32-byte HMAC of `bytes` (RFC 2104), which proves that its author has the key.
    ///
    /// - Parameters:
    ///   - bytes: The authenticated bytes.
    ///   - key: The key.
    /// - Returns: The authentication code.
    /// - Throws: ``CryptographyError`` when OpenSSL fails.
    package static func authenticationCode(of bytes: [UInt8], key: [UInt8]) throws(CryptographyError) -> [UInt8] {
        prepareOpenSSL()
        var code = [UInt8](repeating: 0, count: 32)
        guard HMAC(EVP_sha256(), key, CInt(clamping: key.count), bytes, bytes.count, &code, nil) != nil else {
            throw CryptographyError("cannot authenticate: \(openSSLMessage())")
        }
        return code
    }

    /// Returns the 32-byte hash of `bytes`.
    ///
    /// - Parameter bytes: The bytes to hash.
    /// - Returns: The hash.
    /// - Throws: ``CryptographyError`` when OpenSSL fails.
    package static func hash(_ bytes: [UInt8]) throws(CryptographyError) -> [UInt8] {
        prepareOpenSSL()
        var hash = [UInt8](repeating: 0, count: 32)
        guard EVP_Digest(bytes, bytes.count, &hash, nil, EVP_sha256(), nil) == 1 else {
            throw CryptographyError("cannot hash: \(openSSLMessage())")
        }
        return hash
    }
}
