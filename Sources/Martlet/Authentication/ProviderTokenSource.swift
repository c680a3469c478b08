// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A source of the provider tokens that one or more clients send in their requests.
///
/// APNs rejects tokens that change more often than every 20 minutes ("Establishing a token-based connection to APNs"),
/// so all clients that send with one key should share one source. ``LocalProviderTokenSource`` serves one process;
/// another implementation can serve several by storing the token where all of them find it.
public protocol ProviderTokenSource: Sendable {
    /// Returns the current token.
    ///
    /// A client calls this with its first push and whenever the token's ``SignedProviderToken/validity`` has passed,
    /// separately for each of its event loops; all calls have to return the same token.
    ///
    /// - Returns: The token.
    /// - Throws: ``APNsError`` when no token is available; pushes that wait for the token fail with this error.
    func token() async throws(APNsError) -> SignedProviderToken

    /// Replaces the token, unless it was already replaced, because APNs answered `ExpiredProviderToken`.
    ///
    /// - Parameter issuedAt: The ``SignedProviderToken/issuedAt`` of the rejected token.
    func expired(tokenIssuedAt issuedAt: Date) async
}

/// A signed provider token.
public struct SignedProviderToken: Sendable, CustomStringConvertible, CustomReflectable {
    /// The token's text, a JSON Web Token.
    public let text: [UInt8]
    /// The time of issue.
    public let issuedAt: Date
    /// The time for which the client may use the token before it requests one again.
    public let validity: Duration

    /// Creates a token from its parts.
    ///
    /// - Parameters:
    ///   - text: The token's text.
    ///   - issuedAt: The time of issue in the token, in whole seconds.
    ///   - validity: The time for which the client may use the token before it requests one again.
    public init(text: some Sequence<UInt8>, issuedAt: Date, validity: Duration) {
        self.text = Array(text)
        self.issuedAt = issuedAt
        self.validity = validity
    }

    /// The time of issue in seconds since 1970, without the token's text.
    public var description: String { "SignedProviderToken(issued at \(issuedAt.secondsSince1970))" }

    /// A mirror without children, which shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
