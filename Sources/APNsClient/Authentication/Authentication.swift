internal import Wire

/// How a client proves to APNs who sends.
public struct Authentication: Sendable, CustomStringConvertible, CustomReflectable {
    /// The ways there are.
    enum Method: Sendable {
        case key(SigningKey)
        case mint(any ProviderTokenMint)
        case certificate(TLSContext.Identity)
    }

    let method: Method

    /// By provider tokens signed with a key; serves every app of the team and every push type.
    ///
    /// Source: "Establishing a token-based connection to APNs".
    public static func token(_ key: SigningKey) -> Authentication {
        Authentication(method: .key(key))
    }

    /// By provider tokens that others may send with, too: several clients, or several processes.
    ///
    /// - Parameter mint: What makes them.
    /// - Returns: The authentication.
    public static func mint(_ mint: any ProviderTokenMint) -> Authentication {
        Authentication(method: .mint(mint))
    }

    /// By a provider certificate of one app, shown in the TLS handshake.
    ///
    /// Source: "Establishing a certificate-based connection to APNs".
    ///
    /// - Parameter certificate: The certificate with its key.
    /// - Returns: The authentication.
    public static func certificate(_ certificate: ProviderCertificate) -> Authentication {
        Authentication(method: .certificate(certificate.identity))
    }

    /// What is shown in the TLS handshake.
    var identity: TLSContext.Identity? {
        if case .certificate(let identity) = method { identity } else { nil }
    }

    /// What makes provider tokens, if they are used.
    func mint(clock: WallClock) -> (any ProviderTokenMint)? {
        switch method {
        case .key(let key): InMemoryMint(key, clock: clock)
        case .mint(let mint): mint
        case .certificate: nil
        }
    }

    /// The kind of authentication and the key's name, never its material.
    public var description: String {
        switch method {
        case .key(let key): "Authentication(token, \(key))"
        case .mint: "Authentication(mint)"
        case .certificate: "Authentication(certificate)"
        }
    }

    /// No more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
