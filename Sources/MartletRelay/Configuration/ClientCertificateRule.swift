// SPDX-License-Identifier: Apache-2.0

package import MartletTransport

/// A rule for the client certificates that identify a caller.
package struct ClientCertificateRule: Sendable, Hashable {
    /// The SHA-256 of the certificate, 64 lower-case hexadecimal digits; nil for any.
    package var fingerprint: String?
    /// The subject of a certificate that one of the configured authorities issued (RFC 2253); nil for any.
    package var subject: String?

    /// Creates a rule whose properties other than nil must match; without any, it matches no certificate.
    package init(fingerprint: String? = nil, subject: String? = nil) {
        self.fingerprint = fingerprint
        self.subject = subject
    }

    /// Returns whether a certificate identifies the caller.
    package func matches(_ certificate: CertificateFacts) -> Bool {
        guard fingerprint != nil || subject != nil else { return false }
        if let fingerprint, fingerprint != certificate.fingerprint { return false }
        // A certificate can contain any subject, so only that of one issued by a configured authority counts.
        if let subject { return subject == certificate.subject && certificate.isIssuedByAuthority }
        return true
    }
}
