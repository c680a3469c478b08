#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Makes the provider tokens that a client, or every client of a team's key, puts into its requests.
///
/// APNs refuses tokens that change more often than every 20 minutes ("Establishing a token-based connection to APNs"),
/// so what sends with one key had better share one mint. ``InMemoryMint`` serves a process; another kind can serve
/// several, by keeping the token where all of them find it.
public protocol ProviderTokenMint: Sendable {
    /// The token to use now.
    ///
    /// A client asks with its first push and whenever the answer's ``MintedToken/validity`` is over, each of its loops
    /// for itself: the answers to all have to be the same token.
    ///
    /// - Returns: The token.
    /// - Throws: ``APNsError`` when there is none to be had; it becomes the error of the pushes that wait for it.
    func token() async throws(APNsError) -> MintedToken

    /// APNs answered `ExpiredProviderToken`, so the token is to be replaced if it was not since.
    ///
    /// - Parameter issuedAt: The ``MintedToken/issuedAt`` of the token that was refused.
    func expired(tokenIssuedAt issuedAt: Date) async
}

/// A signed provider token.
public struct MintedToken: Sendable, CustomStringConvertible, CustomReflectable {
    /// The token's text, a JSON Web Token.
    public let text: [UInt8]
    /// The time of issue.
    public let issuedAt: Date
    /// How long it may be used before the mint is asked again.
    public let validity: Duration

    /// A token from its parts.
    ///
    /// - Parameters:
    ///   - text: The token's text.
    ///   - issuedAt: The time of issue, as the token says; whole seconds.
    ///   - validity: How long it may be used before the mint is asked again.
    public init(text: [UInt8], issuedAt: Date, validity: Duration) {
        self.text = text
        self.issuedAt = issuedAt
        self.validity = validity
    }

    /// The time of issue in seconds since 1970, never the text.
    public var description: String { "MintedToken(issued at \(issuedAt.secondsSince1970))" }

    /// No more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
