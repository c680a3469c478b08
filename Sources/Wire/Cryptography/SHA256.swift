internal import COpenSSL

/// The hash function SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// The 32 bytes that prove that whoever made them has the key (HMAC, RFC 2104).
    ///
    /// - Parameters:
    ///   - bytes: What is vouched for.
    ///   - key: The key.
    /// - Returns: The code.
    /// - Throws: ``CryptographyError`` when OpenSSL cannot do it.
    package static func authenticationCode(
        of bytes: [UInt8],
        key: [UInt8]
    ) throws(CryptographyError) -> [UInt8] {
        prepareOpenSSL()
        var code = [UInt8](repeating: 0, count: 32)
        guard HMAC(EVP_sha256(), key, CInt(clamping: key.count), bytes, bytes.count, &code, nil) != nil else {
            throw CryptographyError("cannot authenticate: \(openSSLMessage())")
        }
        return code
    }

    /// The 32 bytes of the hash.
    ///
    /// - Parameter bytes: What is hashed.
    /// - Returns: The hash.
    /// - Throws: ``CryptographyError`` when OpenSSL cannot do it.
    package static func hash(_ bytes: [UInt8]) throws(CryptographyError) -> [UInt8] {
        prepareOpenSSL()
        var hash = [UInt8](repeating: 0, count: 32)
        guard EVP_Digest(bytes, bytes.count, &hash, nil, EVP_sha256(), nil) == 1 else {
            throw CryptographyError("cannot hash: \(openSSLMessage())")
        }
        return hash
    }
}
