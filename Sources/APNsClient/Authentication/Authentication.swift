internal import Wire

/// How a client proves to APNs who sends.
public struct Authentication: Sendable, CustomStringConvertible, CustomReflectable {
    let signingKey: SigningKey?
    let identity: TLSContext.Identity?

    /// By provider tokens signed with a key; serves every app of the team and every push type.
    ///
    /// Source: "Establishing a token-based connection to APNs".
    public static func token(_ key: SigningKey) -> Authentication {
        Authentication(signingKey: key, identity: nil)
    }

    /// By a provider certificate of one app, shown in the TLS handshake.
    ///
    /// Source: "Establishing a certificate-based connection to APNs".
    ///
    /// - Parameter certificate: The certificate with its key.
    /// - Returns: The authentication.
    public static func certificate(_ certificate: ProviderCertificate) -> Authentication {
        Authentication(signingKey: nil, identity: certificate.identity)
    }

    /// The kind of authentication and the key's name, never its material.
    public var description: String {
        if let signingKey { "Authentication(token, \(signingKey))" } else { "Authentication(certificate)" }
    }

    /// No more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
