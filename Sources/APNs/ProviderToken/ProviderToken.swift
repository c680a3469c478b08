/// What a provider token says: which key of which team signed it, and when.
///
/// The token itself is a JSON Web Token (RFC 7519) signed with ES256. Source: "Establishing a token-based connection
/// to APNs".
public struct ProviderToken: Sendable, Hashable {
    /// Seconds after which APNs answers `ExpiredProviderToken`.
    public static let maximumAge: Int64 = 60 * 60
    /// Seconds that have to lie between two tokens, lest APNs answers `TooManyProviderTokenUpdates`.
    public static let minimumRefreshInterval: Int64 = 20 * 60

    /// The ten characters that name the signing key (`kid`).
    public var keyID: String
    /// The ten characters that name the team (`iss`).
    public var teamID: String
    /// When it was issued, in seconds since 1970 (`iat`).
    public var issuedAt: Int64

    /// Claims from their parts.
    public init(keyID: String, teamID: String, issuedAt: Int64) {
        self.keyID = keyID
        self.teamID = teamID
        self.issuedAt = issuedAt
    }

    /// How old the token is.
    ///
    /// - Parameter now: Seconds since 1970.
    /// - Returns: Seconds; negative when it comes from the future.
    public func age(at now: Int64) -> Int64 {
        now.subtractingReportingOverflow(issuedAt).partialValue
    }

    /// What has to be signed: header and claims.
    public var signingInput: [UInt8] {
        let header: JSONValue = ["alg": "ES256", "kid": .string(keyID)]
        let claims: JSONValue = ["iss": .string(teamID), "iat": .number(JSONNumber(issuedAt))]
        return Base64URL.encode(header.encoded()) + [UInt8(ascii: ".")] + Base64URL.encode(claims.encoded())
    }

    /// The whole token.
    ///
    /// - Parameter signature: The signature of ``signingInput``: 64 bytes, r and s (RFC 7518 §3.4).
    /// - Returns: The token as it travels after `bearer`.
    public func signed(by signature: [UInt8]) -> [UInt8] {
        signingInput + [UInt8(ascii: ".")] + Base64URL.encode(signature)
    }
}
