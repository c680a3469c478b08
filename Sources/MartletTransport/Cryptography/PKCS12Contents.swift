// SPDX-License-Identifier: Apache-2.0

internal import CMartletOpenSSL

/// The certificates and the private key of a PKCS#12 file (RFC 7292), as PEM text.
package struct PKCS12Contents {
    /// The cause for an encrypted file without a passphrase.
    static let missingPassphrase = "the PKCS#12 file cannot be opened without its passphrase"

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
    ///   - bytes: The bytes of the file, or their base64.
    ///   - passphrase: The passphrase; empty for none.
    /// - Throws: ``TransportError`` of kind `.badCredentials` with the cause.
    init(_ bytes: [UInt8], passphrase: String) throws(TransportError) {
        prepareOpenSSL()
        let bytes = PKCS12Contents.der(in: bytes) ?? bytes
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

    /// Returns the encoding of a PKCS#12 file, decoded if it is in base64; nil for other bytes.
    ///
    /// - Parameter bytes: The bytes, of which only the beginning is checked.
    /// - Returns: The encoding, which may be damaged.
    package static func der(in bytes: [UInt8]) -> [UInt8]? {
        if isPKCS12(bytes) { return bytes }
        guard let text = String(validating: bytes, as: UTF8.self), let decoded = KeyText.der(of: text[...]),
            isPKCS12(decoded)
        else { return nil }
        return decoded
    }

    /// Returns whether bytes begin with a sequence of the version 3 and another sequence (RFC 7292 §4).
    static func isPKCS12(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 2, bytes[0] == DERReader.sequence else { return false }
        // The length has one byte, or the number of bytes that follow, which is 0 for an indefinite length.
        let start = bytes[1] < 0x80 ? 2 : 2 + Int(bytes[1] & 0x7F)
        return bytes.dropFirst(start).starts(with: [DERReader.integer, 1, 3, DERReader.sequence])
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
        guard let container = parsed else { return .failed(problem(of: bytes)) }
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

    /// Returns the reason for which bytes are not a file that can be parsed.
    private static func problem(of bytes: [UInt8]) -> String {
        if isPKCS12(bytes) { return "the PKCS#12 file cannot be opened: it is damaged" }
        guard KeyText.isCertificate(bytes) else { return "this is not a PKCS#12 file (.p12)" }
        return KeyText.certificateAlone
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
                        : missingPassphrase
                )
            default: continue
            }
        }
    }
}
