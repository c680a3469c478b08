// SPDX-License-Identifier: Apache-2.0

internal import CMartletOpenSSL

/// A local certificate authority for servers that stand in for Apple's.
///
/// Its name constraints (RFC 5280 §4.2.1.10) permit only this machine, Apple's push hosts and the names it was created
/// for. A system that trusts it is therefore not exposed for any other name, even if the authority's key is stolen.
package final class CertificateAuthority: Sendable {
    /// A certificate and its private key.
    package struct Issued: Sendable, CustomStringConvertible, CustomReflectable {
        /// The certificate followed by the authority's certificate, PEM.
        package var certificatePEM: String
        /// The private key, PKCS#8 PEM.
        package var keyPEM: String

        /// A fixed text, because the private key must not appear in logs.
        package var description: String { "Issued(a certificate and its key)" }
        package var customMirror: Mirror { Mirror(self, children: []) }
    }

    private static let commonName = "Martlet local CA"
    private static let authorityDays = 3_650
    // Apple's systems reject server certificates with a longer validity.
    private static let serverDays = 825
    private static let nameConstraints =
        "critical,permitted;DNS:localhost,permitted;DNS:push.apple.com,"
        + "permitted;IP:127.0.0.0/255.0.0.0,permitted;IP:0:0:0:0:0:0:0:1/FFFF:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF"

    private let key: PrivateKey
    private let certificate: Certificate

    /// Creates an authority with a new certificate.
    ///
    /// - Parameters:
    ///   - names: Further host names and address literals that the authority may certify.
    ///   - keyPEM: The private key of the authority, PEM; nil, the default, for a new one.
    /// - Throws: ``CryptographyError`` when no key or certificate can be created, or a name or the key is invalid.
    package init(permitting names: [String] = [], keyPEM: String? = nil) throws(CryptographyError) {
        var constraints = CertificateAuthority.nameConstraints
        for name in names { constraints += ",permitted;" + (try SubjectName(name)).constraint }
        let key = if let keyPEM { try PrivateKey(pem: keyPEM) } else { try PrivateKey() }
        self.key = key
        certificate = try Certificate(
            subject: CertificateAuthority.commonName,
            issuer: nil,
            key: key,
            signedBy: key,
            days: CertificateAuthority.authorityDays,
            extensions: [
                (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
                (NID_key_usage, "critical,keyCertSign,cRLSign"),
                (NID_subject_key_identifier, "hash"),
                (NID_name_constraints, constraints),
            ]
        )
    }

    package init(certificatePEM: String, keyPEM: String) throws(CryptographyError) {
        key = try PrivateKey(pem: keyPEM)
        guard let certificate = Certificate.all(in: certificatePEM).first else {
            throw CryptographyError("the authority's certificate must be PEM text")
        }
        self.certificate = certificate
        guard X509_check_private_key(certificate.raw, key.raw) == 1 else {
            ERR_clear_error()
            throw CryptographyError("the authority's certificate and key do not belong together")
        }
    }

    /// Returns the authority's certificate, PEM.
    package func certificatePEM() throws(CryptographyError) -> String {
        try certificate.pem()
    }

    /// Returns the authority's private key, PKCS#8 PEM, which must be kept secret.
    package func keyPEM() throws(CryptographyError) -> String {
        try key.pem()
    }

    /// Issues a certificate with a new key for a server, whether or not the name constraints permit its names and
    /// addresses.
    package func issueServerCertificate(dnsNames: [String], ipAddresses: [String]) throws(CryptographyError) -> Issued {
        let key = try PrivateKey()
        let names = dnsNames.map { "DNS:\($0)" } + ipAddresses.map { "IP:\($0)" }
        let certificate = try Certificate(
            subject: dnsNames.first ?? ipAddresses.first ?? "server",
            issuer: self.certificate,
            key: key,
            signedBy: self.key,
            days: CertificateAuthority.serverDays,
            extensions: [
                (NID_basic_constraints, "critical,CA:FALSE"),
                (NID_key_usage, "critical,digitalSignature"),
                (NID_ext_key_usage, "serverAuth"),
                (NID_subject_key_identifier, "hash"),
                (NID_authority_key_identifier, "keyid:always"),
                (NID_subject_alt_name, names.joined(separator: ",")),
            ]
        )
        return Issued(certificatePEM: try certificate.pem() + certificatePEM(), keyPEM: try key.pem())
    }

    /// Returns whether the authority's name constraints permit every name and address of a server's certificate.
    package func mayVouch(for issued: Issued) -> Bool {
        guard let server = Certificate.all(in: issued.certificatePEM).first else { return false }
        guard let constraints = X509_get_ext_d2i(certificate.raw, NID_name_constraints, nil, nil) else { return true }
        // Makes OpenSSL parse the names of the certificate; without this it would check none.
        X509_check_purpose(server.raw, -1, 0)
        let permitted = constraints.assumingMemoryBound(to: NAME_CONSTRAINTS.self)
        defer { NAME_CONSTRAINTS_free(permitted) }
        defer { ERR_clear_error() }
        return NAME_CONSTRAINTS_check(server.raw, permitted) == X509_V_OK
    }
}
