// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport

extension PushClient {
    /// The credentials with which a client authenticates to APNs.
    public struct Authentication: Sendable, CustomStringConvertible, CustomReflectable {
        /// The methods of authentication.
        enum Method: Sendable {
            case key(SigningKey)
            case source(any ProviderTokenSource)
            case certificate(TLSContext.Identity)
        }

        let method: Method

        /// Returns authentication with provider tokens signed by a key, for every app of the team and every push type.
        ///
        /// Source: "Establishing a token-based connection to APNs".
        public static func token(_ key: SigningKey) -> Authentication {
            Authentication(method: .key(key))
        }

        /// Returns authentication with provider tokens that are shared by several clients or processes.
        ///
        /// - Parameter source: The source of the tokens.
        /// - Returns: The authentication.
        public static func tokens(from source: any ProviderTokenSource) -> Authentication {
            Authentication(method: .source(source))
        }

        /// Returns authentication with a provider certificate of one app, presented in the TLS handshake.
        ///
        /// Source: "Establishing a certificate-based connection to APNs".
        ///
        /// - Parameter certificate: The certificate with its key.
        /// - Returns: The authentication.
        public static func certificate(_ certificate: ProviderCertificate) -> Authentication {
            Authentication(method: .certificate(certificate.identity))
        }

        /// The identity to present in the TLS handshake; nil for tokens.
        var identity: TLSContext.Identity? {
            if case .certificate(let identity) = method { identity } else { nil }
        }

        /// Returns the source of provider tokens; nil for a certificate.
        func tokenSource(clock: WallClock) -> (any ProviderTokenSource)? {
            switch method {
            case .key(let key): LocalProviderTokenSource(key, clock: clock)
            case .source(let source): source
            case .certificate: nil
            }
        }

        /// The method of authentication and the key's identifier, without secrets.
        public var description: String {
            switch method {
            case .key(let key): "Authentication(token, \(key))"
            case .source: "Authentication(token source)"
            case .certificate: "Authentication(certificate)"
            }
        }

        /// A mirror without children, which shows only ``description``.
        public var customMirror: Mirror { Mirror(self, children: []) }
    }
}
