package import Wire

/// The certificates that identify a caller.
package struct ClientCertificateRule: Sendable, Hashable {
    /// The SHA-256 of the certificate, 64 lower-case hexadecimal digits; nil for any.
    package var fingerprint: String?
    /// The subject of a certificate that one of the configured authorities issued (RFC 2253); nil for any.
    package var subject: String?

    /// A rule that demands what is not nil; one that demands nothing matches no certificate.
    package init(fingerprint: String? = nil, subject: String? = nil) {
        self.fingerprint = fingerprint
        self.subject = subject
    }

    /// Whether a certificate identifies the caller.
    package func matches(_ certificate: CertificateFacts) -> Bool {
        guard fingerprint != nil || subject != nil else { return false }
        if let fingerprint, fingerprint != certificate.fingerprint { return false }
        // Anybody can write any subject into a certificate, so the issuer counts.
        if let subject { return subject == certificate.subject && certificate.isIssuedByAuthority }
        return true
    }
}
