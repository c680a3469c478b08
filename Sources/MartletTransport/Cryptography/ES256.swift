// SPDX-License-Identifier: Apache-2.0

internal import CMartletOpenSSL

/// A private key that signs with ES256 (ECDSA with P-256 and SHA-256, RFC 7518 §3.4), the only algorithm that APNs
/// accepts for provider tokens.
package struct ES256PrivateKey: Sendable {
    /// The length in bytes of each half of a signature.
    fileprivate static let halfLength = 32

    private let key: PrivateKey

    package init() throws(CryptographyError) {
        key = try PrivateKey()
    }

    /// Creates the key from the text of a `.p8` file.
    package init(pem: String) throws(CryptographyError) {
        key = try PrivateKey(pem: pem)
        try checkP256(key.raw)
    }

    /// Returns the key as PKCS#8 PEM, the format of a `.p8` file.
    package func pem() throws(CryptographyError) -> String {
        try key.pem()
    }

    /// Returns the public key as PEM.
    package func publicKeyPEM() throws(CryptographyError) -> String {
        guard let pem = String(writingBIO: { PEM_write_bio_PUBKEY($0, key.raw) }) else {
            throw CryptographyError("the public key cannot be written: \(openSSLMessage())")
        }
        return pem
    }

    /// Returns the signature of the bytes: 64 bytes, r followed by s.
    package func sign(_ bytes: [UInt8]) throws(CryptographyError) -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var length = 0
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key.raw) == 1,
            EVP_DigestSign(context, nil, &length, bytes, bytes.count) == 1
        else { throw CryptographyError("the key cannot sign: \(openSSLMessage())") }
        var der = [UInt8](repeating: 0, count: length)
        guard EVP_DigestSign(context, &der, &length, bytes, bytes.count) == 1,
            let signature = rawSignature(der: der[..<length])
        else { throw CryptographyError("the key cannot sign: \(openSSLMessage())") }
        return signature
    }

    /// Converts a signature from OpenSSL's ASN.1 form to JWT's form.
    private func rawSignature(der: ArraySlice<UInt8>) -> [UInt8]? {
        let signature = der.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i_ECDSA_SIG(nil, &start, bytes.count)
        }
        guard let signature else { return nil }
        defer { ECDSA_SIG_free(signature) }
        let half = ES256PrivateKey.halfLength
        var raw = [UInt8](repeating: 0, count: 2 * half)
        let isWritten = raw.withUnsafeMutableBufferPointer { raw in
            BN_bn2binpad(ECDSA_SIG_get0_r(signature), raw.baseAddress, CInt(half)) == half
                && BN_bn2binpad(ECDSA_SIG_get0_s(signature), raw.baseAddress.map { $0 + half }, CInt(half)) == half
        }
        return isWritten ? raw : nil
    }
}

/// The hash function that an ECDSA signature is made over.
package enum SignatureHash: Sendable {
    /// The hash function of ES256.
    case sha256
    /// The hash function of ES512.
    case sha512
}

/// A public key that verifies the signatures of an ``ES256PrivateKey``.
package struct ES256PublicKey: Sendable {
    private let key: PrivateKey

    /// Creates the key from PEM text.
    package init(pem: String) throws(CryptographyError) {
        guard let raw = pem.withBIO({ PEM_read_bio_PUBKEY($0, nil, nil, nil) }) else {
            throw CryptographyError("the public key cannot be read: \(openSSLMessage())")
        }
        key = PrivateKey(adopting: raw)
        try checkP256(key.raw)
    }

    /// Returns whether `signature`, 64 bytes, is this key's signature of `bytes`; false for malformed signatures.
    ///
    /// ES256 uses SHA-256; another hash function is for tokens that deviate from it.
    package func isValid(signature: [UInt8], for bytes: [UInt8], hash: SignatureHash = .sha256) -> Bool {
        let half = ES256PrivateKey.halfLength
        guard signature.count == 2 * half, let parsed = ECDSA_SIG_new() else { return false }
        defer { ECDSA_SIG_free(parsed) }
        let r = BN_bin2bn(Array(signature[..<half]), CInt(half), nil)
        let s = BN_bin2bn(Array(signature[half...]), CInt(half), nil)
        // `ECDSA_SIG_set0` takes ownership of both numbers.
        guard ECDSA_SIG_set0(parsed, r, s) == 1 else { return false }
        var der: UnsafeMutablePointer<UInt8>?
        let length = i2d_ECDSA_SIG(parsed, &der)
        defer { CRYPTO_free(der, nil, 0) }
        return length > 0 && verify(UnsafeBufferPointer(start: der, count: Int(length)), for: bytes, hash)
    }

    private func verify(_ der: UnsafeBufferPointer<UInt8>, for bytes: [UInt8], _ hash: SignatureHash) -> Bool {
        let function =
            switch hash {
            case .sha256: EVP_sha256()
            case .sha512: EVP_sha512()
            }
        let context = EVP_MD_CTX_new()
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return EVP_DigestVerifyInit(context, nil, function, nil, key.raw) == 1
            && EVP_DigestVerify(context, der.baseAddress, der.count, bytes, bytes.count) == 1
    }
}

/// Checks that the key is on P-256, the only curve that APNs accepts.
private func checkP256(_ key: OpaquePointer) throws(CryptographyError) {
    guard EVP_PKEY_get_base_id(key) == EVP_PKEY_EC else {
        let found = EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA ? " (found an RSA key)" : ""
        throw CryptographyError("the key is not an elliptic-curve key; it must be on the curve P-256" + found)
    }
    var name = [CChar](repeating: 0, count: 64)
    EVP_PKEY_get_group_name(key, &name, name.count, nil)
    let curve = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    guard curve == "prime256v1" else {
        throw CryptographyError("the key must be on the curve P-256 (found \(curve))")
    }
}
