internal import COpenSSL

/// A local certificate authority for stand-ins of Apple's servers.
///
/// Its certificate is constrained (RFC 5280 §4.2.1.10) to this machine, Apple's push hosts, and the names it was made
/// for: a person who trusts it risks nothing else, even if its key is stolen.
package final class CertificateAuthority: Sendable {
    /// A certificate with the key that belongs to it.
    package struct Issued: Sendable, CustomStringConvertible, CustomReflectable {
        /// The certificate and the authority's own, PEM.
        package var certificatePEM: String
        /// The private key, PKCS#8 PEM.
        package var keyPEM: String

        /// A word in place of the key, which is nothing for logs.
        package var description: String { "Issued(a certificate and its key)" }
        package var customMirror: Mirror { Mirror(self, children: []) }
    }

    private static let commonName = "Martlet local CA"
    private static let authorityDays = 3_650
    // Apple's systems refuse server certificates that are valid for longer.
    private static let serverDays = 825
    private static let nameConstraints =
        "critical,permitted;DNS:localhost,permitted;DNS:push.apple.com,"
        + "permitted;IP:127.0.0.0/255.0.0.0,permitted;IP:0:0:0:0:0:0:0:1/FFFF:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF"

    private let key: PrivateKey
    private let certificate: Certificate

    /// A fresh authority.
    ///
    /// - Parameter names: Host names and address literals that it may vouch for besides.
    /// - Throws: ``CryptographyError`` when no key or certificate can be made, or a name is none.
    package init(permitting names: [String] = []) throws(CryptographyError) {
        var constraints = CertificateAuthority.nameConstraints
        for name in names { constraints += ",permitted;" + (try SubjectName(name)).constraint }
        let key = try PrivateKey()
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

    /// An authority that was made before.
    package init(certificatePEM: String, keyPEM: String) throws(CryptographyError) {
        key = try PrivateKey(pem: keyPEM)
        guard let certificate = Certificate.all(in: certificatePEM).first else {
            throw CryptographyError("the authority's certificate is no PEM certificate")
        }
        self.certificate = certificate
        guard X509_check_private_key(certificate.raw, key.raw) == 1 else {
            ERR_clear_error()
            throw CryptographyError("the authority's certificate and key do not belong together")
        }
    }

    /// The authority's own certificate.
    package func certificatePEM() throws(CryptographyError) -> String {
        try certificate.pem()
    }

    /// The authority's private key, PKCS#8 PEM: keep it from others.
    package func keyPEM() throws(CryptographyError) -> String {
        try key.pem()
    }

    /// A certificate, with a fresh key, for a server of these names and addresses, permitted or not.
    package func issueServerCertificate(
        dnsNames: [String],
        ipAddresses: [String]
    ) throws(CryptographyError) -> Issued {
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

    /// Whether it may vouch for every name and address of a server's certificate.
    package func mayVouch(for issued: Issued) -> Bool {
        guard let server = Certificate.all(in: issued.certificatePEM).first else { return false }
        guard let constraints = X509_get_ext_d2i(certificate.raw, NID_name_constraints, nil, nil) else { return true }
        // Has OpenSSL take the names out of the certificate, without which it would find none to object to.
        X509_check_purpose(server.raw, -1, 0)
        let permitted = constraints.assumingMemoryBound(to: NAME_CONSTRAINTS.self)
        defer { NAME_CONSTRAINTS_free(permitted) }
        defer { ERR_clear_error() }
        return NAME_CONSTRAINTS_check(server.raw, permitted) == X509_V_OK
    }
}
