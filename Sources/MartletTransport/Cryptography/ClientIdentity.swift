// SPDX-License-Identifier: Apache-2.0

internal import CMartletOpenSSL

/// The properties that a provider certificate from Apple states.
package struct CertificateFacts: Sendable, Hashable {
    /// The topics that the certificate lists in the extensions 1.2.840.113635.100.6.3.6, including those of other kinds
    /// (`.voip`, `.complication`), and 1.2.840.113635.100.6.3.4 (VoIP).
    ///
    /// A certificate without a list, such as one for MDM or Wallet passes, has one topic, the user ID (UID) of its
    /// subject. Empty without both, and when the list is not valid DER.
    package let topics: [String]
    /// Whether the certificate is valid for development; one that names no environment is valid for both.
    package let isForDevelopment: Bool
    /// Whether the certificate is valid for production; one that names no environment is valid for both.
    package let isForProduction: Bool
    /// The time from which the certificate is valid, in seconds since 1970; nil when it cannot be parsed.
    package let start: Int64?
    /// The time at which the certificate expires, in seconds since 1970; nil when it cannot be parsed.
    package let expiry: Int64?
    /// The SHA-256 of the certificate's DER encoding, 64 lower-case hexadecimal digits.
    package let fingerprint: String
    /// The subject as text (RFC 2253), such as `CN=orders,O=Example`.
    package let subject: String
    /// Whether the certificate was issued by one of the authorities in the server's TLS settings.
    package let isIssuedByAuthority: Bool

    init(_ certificate: Certificate, isIssuedByAuthority: Bool = false) {
        self.isIssuedByAuthority = isIssuedByAuthority
        fingerprint = certificate.fingerprint
        subject = certificate.subject
        let list = "1.2.840.113635.100.6.3.6"
        let voip = certificate.text(of: "1.2.840.113635.100.6.3.4")
        let hasList = certificate.has(list) || !voip.isEmpty
        let listed = certificate.text(of: list)
        topics = hasList ? listed + voip.filter { !listed.contains($0) } : certificate.userID.map { [$0] } ?? []
        let isForDevelopment = certificate.has("1.2.840.113635.100.6.3.1")
        let isForProduction = certificate.has("1.2.840.113635.100.6.3.2")
        let namesNeither = !isForDevelopment && !isForProduction && !hasList && !topics.isEmpty
        self.isForDevelopment = isForDevelopment || namesNeither
        self.isForProduction = isForProduction || namesNeither
        start = certificate.start
        expiry = certificate.expiry
    }

    /// Returns the time at which the first of several certificates expires, in seconds since 1970.
    ///
    /// - Parameter pem: Certificates in PEM.
    /// - Returns: The time; nil when no certificate with a readable expiry is found.
    package static func earliestExpiry(in pem: String) -> Int64? {
        Certificate.all(in: pem).compactMap(\.expiry).min()
    }
}

/// A client's certificate and key, with the properties that the certificate states.
package struct ClientIdentity: Sendable {
    package let identity: TLSContext.Identity
    package let facts: CertificateFacts

    /// Creates an identity from PEM text.
    ///
    /// - Parameters:
    ///   - certificatePEM: The certificate, with any intermediate certificates in any order.
    ///   - privateKeyPEM: The private key.
    ///   - passphrase: The passphrase of an encrypted private key; nil, the default, for none.
    /// - Throws: ``TransportError`` of kind `.badCredentials` when the text contains no certificate, or the key
    ///   does not match it.
    package init(certificatePEM: String, privateKeyPEM: String, passphrase: String? = nil) throws(TransportError) {
        let certificates = Certificate.all(in: certificatePEM)
        guard !certificates.isEmpty else {
            throw TransportError(
                .badCredentials,
                "the text holds no certificate: it has to begin with -----BEGIN CERTIFICATE-----"
            )
        }
        do throws(CryptographyError) {
            let key = try PrivateKey(pem: privateKeyPEM, password: passphrase)
            let chain = try Certificate.chain(certificates, of: key)
            identity = TLSContext.Identity(certificateChainPEM: certificatePEM, privateKeyPEM: try key.pem())
            facts = CertificateFacts(chain[0])
        } catch {
            let isAlone = certificatePEM == privateKeyPEM && !KeyText(certificatePEM).hasPrivateKey
            throw TransportError(.badCredentials, isAlone ? KeyText.certificateAlone : "\(error)")
        }
        // Detects unusable credentials now instead of at the first push.
        _ = try TLSContext.client(identity: identity)
    }

    /// Creates an identity from a PKCS#12 file, such as one that the Keychain exported.
    ///
    /// - Throws: ``TransportError`` of kind `.badCredentials` for a wrong passphrase, or a file with other contents.
    package init(pkcs12: [UInt8], passphrase: String) throws(TransportError) {
        let contents = try PKCS12Contents(pkcs12, passphrase: passphrase)
        try self.init(certificatePEM: contents.certificatePEM, privateKeyPEM: contents.privateKeyPEM)
    }
}

extension Certificate {
    fileprivate func has(_ number: String) -> Bool {
        value(of: number) != nil
    }

    /// Returns the UTF-8 strings of an extension that is a string or a sequence, without its other elements; empty for
    /// bytes that are not valid DER.
    fileprivate func text(of number: String) -> [String] {
        guard let value = value(of: number) else { return [] }
        var outer = DERReader(value[...])
        guard let sequence = outer.next() else { return [] }
        if sequence.tag == DERReader.utf8String, outer.isAtEnd {
            return [String(decoding: sequence.content, as: UTF8.self)]
        }
        guard sequence.tag == DERReader.sequence else { return [] }
        var texts: [String] = []
        var reader = DERReader(sequence.content)
        while let element = reader.next() {
            if element.tag == DERReader.utf8String { texts.append(String(decoding: element.content, as: UTF8.self)) }
        }
        return outer.isAtEnd && reader.isAtEnd ? texts : []
    }

    private func value(of number: String) -> [UInt8]? {
        guard let object = OBJ_txt2obj(number, 1) else { return nil }
        defer { ASN1_OBJECT_free(object) }
        let index = X509_get_ext_by_OBJ(raw, object, -1)
        guard index >= 0, let value = X509_EXTENSION_get_data(X509_get_ext(raw, index)) else { return nil }
        return Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(value), count: Int(ASN1_STRING_length(value))))
    }

    /// The user ID (UID) of the subject; nil when it has none.
    fileprivate var userID: String? {
        let index = X509_NAME_get_index_by_NID(X509_get_subject_name(raw), NID_userId, -1)
        guard index >= 0, let entry = X509_NAME_get_entry(X509_get_subject_name(raw), index),
            let value = X509_NAME_ENTRY_get_data(entry), ASN1_STRING_length(value) > 0
        else { return nil }
        let bytes = UnsafeBufferPointer(start: ASN1_STRING_get0_data(value), count: Int(ASN1_STRING_length(value)))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The time from which the certificate is valid, in seconds since 1970.
    fileprivate var start: Int64? { secondsSince1970(ofExpiry: false) }

    /// The time at which the certificate expires, in seconds since 1970.
    fileprivate var expiry: Int64? { secondsSince1970(ofExpiry: true) }

    private func secondsSince1970(ofExpiry isExpiry: Bool) -> Int64? {
        var days: CInt = 0
        var seconds: CInt = 0
        guard let epoch = ASN1_TIME_set(nil, 0) else { return nil }
        defer { ASN1_TIME_free(epoch) }
        let time = isExpiry ? X509_get0_notAfter(raw) : X509_get0_notBefore(raw)
        guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return nil }
        return Int64(days) * 86_400 + Int64(seconds)
    }
}
