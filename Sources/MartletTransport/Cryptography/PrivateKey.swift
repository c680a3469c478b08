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

    /// Creates a key from PEM text, which is repaired where its meaning is unambiguous.
    ///
    /// - Parameters:
    ///   - pem: The text.
    ///   - password: The password of an encrypted key; nil, the default, for none.
    /// - Throws: ``CryptographyError`` with the cause.
    init(pem: String, password: String? = nil) throws(CryptographyError) {
        if let raw = PrivateKey.read(pem, password) {
            self.raw = raw
            return
        }
        let text = KeyText(pem)
        guard let repaired = text.repaired, let raw = PrivateKey.read(repaired, password) else {
            throw CryptographyError(text.problem(hasPassword: password != nil))
        }
        self.raw = raw
    }

    private static func read(_ pem: String, _ password: String?) -> OpaquePointer? {
        // Without a callback OpenSSL would prompt for a password on the terminal.
        let refusePassword:
            @convention(c) (UnsafeMutablePointer<CChar>?, CInt, CInt, UnsafeMutableRawPointer?) -> CInt = {
                _,
                _,
                _,
                _ in -1
            }
        let raw = pem.withBIO { bio -> OpaquePointer? in
            guard let password else { return PEM_read_bio_PrivateKey(bio, nil, refusePassword, nil) }
            // OpenSSL's own callback returns the text that the last argument points to.
            return password.withCString { text in
                PEM_read_bio_PrivateKey(bio, nil, nil, UnsafeMutableRawPointer(mutating: UnsafeRawPointer(text)))
            }
        }
        // OpenSSL's reasons for a failure do not name the cause, and must not stay in its error queue.
        ERR_clear_error()
        return raw
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
}
