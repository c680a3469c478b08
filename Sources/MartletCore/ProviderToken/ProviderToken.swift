// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The claims of a provider token: the key and the team that sign it, and the time of issue.
///
/// The token itself is a JSON Web Token (RFC 7519) signed with ES256. Source: "Establishing a token-based connection
/// to APNs".
public struct ProviderToken: Sendable, Hashable {
    /// The age from which on APNs answers `ExpiredProviderToken`, in seconds.
    package static let maximumAgeInSeconds: Int64 = 60 * 60
    /// The time between two tokens below which APNs answers `TooManyProviderTokenUpdates`, in seconds.
    package static let minimumRefreshIntervalInSeconds: Int64 = 20 * 60

    /// The time that `iat` may be ahead of the clock of APNs, in seconds.
    package static let maximumLeadInSeconds: Int64 = 60 * 60

    /// The age from which on APNs answers `ExpiredProviderToken`: one hour.
    public static let maximumAge = Duration.seconds(maximumAgeInSeconds)
    /// The time between two tokens below which APNs answers `TooManyProviderTokenUpdates`: 20 minutes.
    public static let minimumRefreshInterval = Duration.seconds(minimumRefreshIntervalInSeconds)

    /// The ten characters that name the signing key (`kid`).
    public var keyID: String
    /// The ten characters that name the team (`iss`).
    public var teamID: String
    /// The time of issue in seconds since 1970, as the claim `iat` holds it.
    package var issuedAtSeconds: Int64

    /// The time of issue (`iat`), in whole seconds.
    public var issuedAt: Date {
        get { Date(secondsSince1970: issuedAtSeconds) }
        set { issuedAtSeconds = newValue.secondsSince1970 }
    }

    /// Creates claims.
    ///
    /// - Parameters:
    ///   - keyID: The ten characters that name the signing key.
    ///   - teamID: The ten characters that name the team.
    ///   - issuedAt: The time of issue, rounded down to a whole second.
    public init(keyID: String, teamID: String, issuedAt: Date) {
        self.init(keyID: keyID, teamID: teamID, issuedAtSeconds: issuedAt.secondsSince1970)
    }

    /// Creates claims with the time of issue in seconds since 1970.
    package init(keyID: String, teamID: String, issuedAtSeconds: Int64) {
        self.keyID = keyID
        self.teamID = teamID
        self.issuedAtSeconds = issuedAtSeconds
    }

    /// Returns the age of the token.
    ///
    /// - Parameter date: The time to compare with.
    /// - Returns: The age in whole seconds; negative when the time of issue is later than `date`.
    public func age(at date: Date) -> Duration {
        .seconds(ageInSeconds(at: date.secondsSince1970))
    }

    /// Returns the age of the token in seconds, at a time in seconds since 1970.
    package func ageInSeconds(at now: Int64) -> Int64 {
        let (age, isTooLarge) = now.subtractingReportingOverflow(issuedAtSeconds)
        guard isTooLarge else { return age }
        return issuedAtSeconds < now ? .max : .min
    }

    /// The bytes to sign: header and claims.
    public var signingInput: [UInt8] {
        let header: JSONValue = ["alg": "ES256", "kid": .string(keyID)]
        let claims: JSONValue = ["iss": .string(teamID), "iat": .integer(issuedAtSeconds)]
        return Base64URL.encode(header.encoded()) + [UInt8(ascii: ".")] + Base64URL.encode(claims.encoded())
    }

    /// Returns the whole token.
    ///
    /// - Parameter signature: The signature of ``signingInput``: 64 bytes, r and s (RFC 7518 §3.4).
    /// - Returns: The token as it is sent after `bearer`.
    public func signed(by signature: some Sequence<UInt8>) -> [UInt8] {
        signingInput + [UInt8(ascii: ".")] + Base64URL.encode(Array(signature))
    }
}
