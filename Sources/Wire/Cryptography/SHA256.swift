internal import COpenSSL

/// The hash function SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// The 32 bytes of the hash.
    ///
    /// - Parameter bytes: What is hashed.
    /// - Returns: The hash.
    /// - Throws: ``CryptographyError`` when OpenSSL cannot do it.
    package static func hash(_ bytes: [UInt8]) throws(CryptographyError) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: 32)
        guard EVP_Digest(bytes, bytes.count, &hash, nil, EVP_sha256(), nil) == 1 else {
            throw CryptographyError("cannot hash: \(openSSLMessage())")
        }
        return hash
    }
}
