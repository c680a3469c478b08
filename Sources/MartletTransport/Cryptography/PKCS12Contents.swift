// SPDX-License-Identifier: Apache-2.0

internal import CMartletOpenSSL

/// The certificates and the private key of a PKCS#12 file (RFC 7292), as PEM text.
struct PKCS12Contents {
    /// The certificate of the key, followed by the other certificates.
    let certificatePEM: String
    let privateKeyPEM: String

    /// The result of an attempt to open a file.
    private enum Outcome {
        case opened(PKCS12Contents)
        case failed(String)
        /// An algorithm is not available.
        case unsupported
    }

    /// Opens a file.
    ///
    /// Keychain and older tools encrypt with RC2, which OpenSSL 3 has in its legacy provider only.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the file.
    ///   - passphrase: The passphrase; empty for none.
    /// - Throws: ``TransportError`` of kind `.badCredentials` with the cause.
    init(_ bytes: [UInt8], passphrase: String) throws(TransportError) {
        prepareOpenSSL()
        var outcome = PKCS12Contents.open(bytes, passphrase, library: nil)
        if case .unsupported = outcome { outcome = PKCS12Contents.openWithLegacyProvider(bytes, passphrase) }
        // The error queue must not contain the failures of the first attempt.
        ERR_clear_error()
        switch outcome {
        case .opened(let contents): self = contents
        case .failed(let cause): throw TransportError(.badCredentials, cause)
        case .unsupported:
            throw TransportError(
                .badCredentials,
                "the PKCS#12 file cannot be opened: it is encrypted with an algorithm that OpenSSL does not have"
            )
        }
    }

    /// Opens a file with the legacy provider, in a library context of its own, so that no other code uses its
    /// algorithms.
    private static func openWithLegacyProvider(_ bytes: [UInt8], _ passphrase: String) -> Outcome {
        guard let library = OSSL_LIB_CTX_new() else { return .failed("no memory for a PKCS#12 file") }
        defer { OSSL_LIB_CTX_free(library) }
        // Without the default provider, the context would have no other algorithms.
        guard let standard = OSSL_PROVIDER_load(library, "default") else { return .unsupported }
        defer { OSSL_PROVIDER_unload(standard) }
        guard let legacy = OSSL_PROVIDER_load(library, "legacy") else {
            return .failed(
                "the PKCS#12 file is encrypted with an outdated algorithm, and OpenSSL's legacy provider is not "
                    + "installed: install it, or convert the file where it is installed with "
                    + "openssl pkcs12 -in old.p12 -legacy -nodes | openssl pkcs12 -export -out new.p12"
            )
        }
        defer { OSSL_PROVIDER_unload(legacy) }
        return open(bytes, passphrase, library: library)
    }

    /// Opens a file with the algorithms of a library context; nil for the default context.
    private static func open(_ bytes: [UInt8], _ passphrase: String, library: OpaquePointer?) -> Outcome {
        // The BIO borrows the bytes, so they have to stay in place until the BIO has been read.
        let parsed = bytes.withUnsafeBytes { buffer -> OpaquePointer? in
            let bio = BIO_new_mem_buf(buffer.baseAddress, CInt(clamping: buffer.count))
            defer { BIO_free(bio) }
            guard let library else { return d2i_PKCS12_bio(bio, nil) }
            var container = PKCS12_init_ex(NID_pkcs7_data, library, nil)
            return d2i_PKCS12_bio(bio, &container)
        }
        guard let container = parsed else { return .failed("this is not a PKCS#12 file (.p12)") }
        defer { PKCS12_free(container) }
        var rawKey: OpaquePointer?
        var rawCertificate: OpaquePointer?
        var chain: OpaquePointer?
        guard PKCS12_parse(container, passphrase, &rawKey, &rawCertificate, &chain) == 1 else {
            return failure(hasPassphrase: !passphrase.isEmpty)
        }
        defer { martlet_X509_stack_free(chain) }
        let key = rawKey.map(PrivateKey.init(adopting:))
        guard let certificate = rawCertificate.map(Certificate.init(adopting:)), let key else {
            return .failed("the PKCS#12 file must contain a certificate and its private key")
        }
        do throws(CryptographyError) {
            var pem = try certificate.pem()
            for index in 0..<martlet_X509_stack_count(chain) {
                guard let link = martlet_X509_stack_at(chain, index) else { continue }
                X509_up_ref(link)
                pem += try Certificate(adopting: link).pem()
            }
            return .opened(PKCS12Contents(certificatePEM: pem, privateKeyPEM: try key.pem()))
        } catch {
            return .failed("\(error)")
        }
    }

    private init(certificatePEM: String, privateKeyPEM: String) {
        self.certificatePEM = certificatePEM
        self.privateKeyPEM = privateKeyPEM
    }

    /// Returns the outcome for the errors in OpenSSL's queue, which the last failure added.
    private static func failure(hasPassphrase: Bool) -> Outcome {
        var outcome = Outcome.failed("the PKCS#12 file cannot be opened: it is damaged")
        while true {
            let code = ERR_get_error()
            guard code != 0 else { return outcome }
            if martlet_ERR_is_unsupported(code) != 0 { outcome = .unsupported }
            guard ERR_GET_LIB(code) == ERR_LIB_PKCS12 else { continue }
            switch ERR_GET_REASON(code) {
            case PKCS12_R_MAC_ABSENT:
                return .failed("the PKCS#12 file cannot be opened: it has no integrity check (MAC)")
            case PKCS12_R_MAC_VERIFY_FAILURE:
                return .failed(
                    hasPassphrase
                        ? "the PKCS#12 file cannot be opened with this passphrase"
                        : "the PKCS#12 file cannot be opened without its passphrase"
                )
            default: continue
            }
        }
    }
}
