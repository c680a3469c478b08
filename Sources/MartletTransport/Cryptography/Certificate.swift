// SPDX-License-Identifier: Apache-2.0

internal import CMartletOpenSSL

/// A reference-counted X.509 certificate, freed with its last reference.
///
/// It is `@unchecked Sendable` because the certificate is never changed after `init`.
final class Certificate: @unchecked Sendable {
    let raw: OpaquePointer

    init(adopting raw: OpaquePointer) {
        self.raw = raw
    }

    deinit {
        X509_free(raw)
    }

    /// Returns every certificate in the PEM text, which is repaired where its meaning is unambiguous, in the order of
    /// the text.
    static func all(in pem: String) -> [Certificate] {
        let certificates = read(pem)
        // OpenSSL skips a certificate whose first line begins with other text, such as a quotation mark.
        guard certificates.isEmpty || pem.ranges(of: "BEGIN CERTIFICATE").count > certificates.count,
            let repaired = KeyText(pem).repairedCertificates
        else { return certificates }
        return read(repaired)
    }

    private static func read(_ pem: String) -> [Certificate] {
        let certificates = pem.withBIO { bio in
            var certificates: [Certificate] = []
            while let raw = PEM_read_bio_X509(bio, nil, nil, nil) { certificates.append(Certificate(adopting: raw)) }
            return certificates
        }
        // OpenSSL reports the end of the text as an error, which must not stay in its error queue.
        ERR_clear_error()
        return certificates
    }

    /// Returns certificates in the order of TLS: the one of a key, then that of each issuer (RFC 8446 §4.4.2).
    ///
    /// - Parameters:
    ///   - certificates: The certificates in any order.
    ///   - key: The key.
    /// - Returns: The certificates; those that are not in the chain of the key are the last.
    /// - Throws: ``CryptographyError`` when no certificate is that of the key.
    static func chain(_ certificates: [Certificate], of key: PrivateKey) throws(CryptographyError) -> [Certificate] {
        // OpenSSL reports each other certificate as an error, which must not stay in its error queue.
        defer { ERR_clear_error() }
        guard let leaf = certificates.firstIndex(where: { X509_check_private_key($0.raw, key.raw) == 1 }) else {
            throw CryptographyError("the private key does not belong to the certificate")
        }
        var rest = certificates
        var chain = [rest.remove(at: leaf)]
        while let subject = chain.last,
            let issuer = rest.firstIndex(where: { X509_check_issued($0.raw, subject.raw) == X509_V_OK })
        {
            chain.append(rest.remove(at: issuer))
        }
        return chain + rest
    }

    /// Creates a certificate that is valid from one hour ago, so that clocks that are slightly slow accept it.
    ///
    /// - Parameters:
    ///   - subject: The common name.
    ///   - issuer: The certificate of the issuer; nil for a self-signed certificate.
    ///   - key: The private key of the new certificate.
    ///   - signer: The issuer's private key.
    ///   - days: The validity in days.
    ///   - extensions: Extensions by OpenSSL's NID, in OpenSSL's notation (x509v3_config(5)).
    /// - Throws: ``CryptographyError`` when OpenSSL rejects an extension or cannot sign.
    init(
        subject: String,
        issuer: Certificate?,
        key: PrivateKey,
        signedBy signer: PrivateKey,
        days: Int,
        extensions: [(CInt, String)]
    ) throws(CryptographyError) {
        guard let raw = X509_new() else { throw CryptographyError("no memory for a certificate") }
        self.raw = raw
        X509_set_version(raw, 2)
        var serial = (0..<16).map { _ in UInt8.random(in: 0...255) }
        serial[0] &= 0x7F
        let number = BN_bin2bn(serial, CInt(serial.count), nil)
        BN_to_ASN1_INTEGER(number, X509_get_serialNumber(raw))
        BN_free(number)
        X509_gmtime_adj(X509_getm_notBefore(raw), -3_600)
        X509_gmtime_adj(X509_getm_notAfter(raw), days * 86_400)
        X509_set_pubkey(raw, key.raw)
        let name = X509_get_subject_name(raw)
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, subject, -1, -1, 0)
        X509_set_issuer_name(raw, issuer.map { X509_get_subject_name($0.raw) } ?? name)

        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer?.raw ?? raw, raw, nil, nil, 0)
        for (kind, value) in extensions {
            guard let made = X509V3_EXT_conf_nid(nil, &context, kind, value) else {
                throw CryptographyError(
                    "the certificate's extension \"\(value)\" cannot be created: \(openSSLMessage())"
                )
            }
            X509_add_ext(raw, made, -1)
            X509_EXTENSION_free(made)
        }
        guard X509_sign(raw, signer.raw, EVP_sha256()) > 0 else {
            throw CryptographyError("the certificate cannot be signed: \(openSSLMessage())")
        }
    }

    func pem() throws(CryptographyError) -> String {
        guard let pem = String(writingBIO: { PEM_write_bio_X509($0, raw) }) else {
            throw CryptographyError("the certificate cannot be written: \(openSSLMessage())")
        }
        return pem
    }

    /// The SHA-256 of the certificate's DER encoding, 64 hexadecimal digits; empty when OpenSSL cannot calculate it.
    var fingerprint: String {
        var hash = [UInt8](repeating: 0, count: 32)
        guard X509_digest(raw, EVP_sha256(), &hash, nil) == 1 else { return "" }
        return hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The subject as text (RFC 2253); empty when OpenSSL cannot write it.
    var subject: String {
        let name = X509_get_subject_name(raw)
        return String(writingBIO: { martlet_X509_NAME_print_RFC2253($0, name) < 0 ? 0 : 1 }) ?? ""
    }
}
