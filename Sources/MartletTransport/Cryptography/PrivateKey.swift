// SPDX-License-Identifier: Apache-2.0

internal import CMartletOpenSSL

/// A reference-counted OpenSSL key, freed with its last reference.
///
/// It is `@unchecked Sendable` because the key is never changed after `init`, and OpenSSL allows several threads to use
/// an unchanging key at the same time (openssl-threads(7)).
final class PrivateKey: @unchecked Sendable {
    let raw: OpaquePointer

    init(adopting raw: OpaquePointer) {
        self.raw = raw
    }

    /// Creates a new key on the curve P-256.
    init() throws(CryptographyError) {
        prepareOpenSSL()
        guard let raw = martlet_EVP_EC_gen_P256() else {
            throw CryptographyError("cannot create a key: \(openSSLMessage())")
        }
        self.raw = raw
    }

    /// Creates a key from PEM text.
    init(pem: String) throws(CryptographyError) {
        // Without a callback OpenSSL would prompt for a passphrase on the terminal.
        let refusePassphrase:
            @convention(c) (UnsafeMutablePointer<CChar>?, CInt, CInt, UnsafeMutableRawPointer?) -> CInt = {
                _,
                _,
                _,
                _ in -1
            }
        guard let raw = pem.withBIO({ PEM_read_bio_PrivateKey($0, nil, refusePassphrase, nil) }) else {
            let details = openSSLMessage()
            throw CryptographyError(PrivateKey.problem(with: pem, details))
        }
        self.raw = raw
    }

    deinit {
        EVP_PKEY_free(raw)
    }

    /// Returns the key as PKCS#8 PEM.
    func pem() throws(CryptographyError) -> String {
        guard let pem = String(writingBIO: { PEM_write_bio_PKCS8PrivateKey($0, raw, nil, nil, 0, nil, nil) }) else {
            throw CryptographyError("the key cannot be written: \(openSSLMessage())")
        }
        return pem
    }

    private static func problem(with pem: String, _ details: String) -> String {
        if pem.allSatisfy(\.isWhitespace) { return "the key is empty" }
        if pem.contains("BEGIN CERTIFICATE") { return "this is a certificate, not a private key" }
        if pem.contains("BEGIN PUBLIC KEY") { return "this is a public key, not a private one" }
        if pem.contains("ENCRYPTED") { return "the private key is encrypted: a .p8 file from Apple is not" }
        if !pem.contains("-----BEGIN") {
            return "the key must be PEM text, which begins with the line \"-----BEGIN PRIVATE KEY-----\""
        }
        return "the private key cannot be read: \(details)"
    }
}
