// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

extension PushLint.Rule {
    static let providerTokenMissing = PushLint.Rule("provider-token-missing", .error, .providerToken)
        .when("a request has neither a provider token nor a certificate")
    static let providerTokenMalformed = PushLint.Rule("provider-token-malformed", .error, .providerToken)
        .when("the provider token cannot be read")
    static let providerTokenIdentifierMalformed = PushLint.Rule(
        "provider-token-identifier-malformed",
        .error,
        .providerToken
    )
    .when("kid or iss of a provider token is not ten characters of A-Z and 0-9")
    static let providerTokenKeyUnknown = PushLint.Rule("provider-token-key-unknown", .error, .providerToken)
        .when("the provider token is signed with a key that is not registered")
    static let providerTokenTeamWrong = PushLint.Rule("provider-token-team-wrong", .error, .providerToken)
        .when("the provider token names another team than that of its key, or of the connection")
    static let providerTokenSignatureWrong = PushLint.Rule("provider-token-signature-wrong", .error, .providerToken)
        .when("the signature of the provider token does not verify")
    static let providerTokenEnvironmentWrong = PushLint.Rule("provider-token-environment-wrong", .error, .providerToken)
        .when("the signing key is for the other environment")
    static let providerTokenKeyUnrelated = PushLint.Rule("provider-token-key-unrelated", .error, .providerToken)
        .when("the signing key is not related to the first key of the connection")
    static let providerTokenFromFuture = PushLint.Rule("provider-token-from-future", .error, .providerToken)
        .when("a provider token was issued more than an hour in the future")
    static let providerTokenRefreshedEarly = PushLint.Rule("provider-token-refreshed-early", .error, .providerToken)
        .when("a connection gets a new provider token less than 20 minutes after the last, by its first use and by iat")
    static let providerTokenTooOld = PushLint.Rule("provider-token-too-old", .error, .providerToken)
        .when("a provider token was issued more than an hour ago")
    static let providerTokenAhead = PushLint.Rule("provider-token-ahead", .warning, .providerToken)
        .when("a provider token was issued in the future")
    static let providerTokenIssuedAtText = PushLint.Rule("provider-token-issued-at-text", .warning, .providerToken)
        .when("the iat of a provider token is a string")
    static let providerTokenIssuedAtNotation = PushLint.Rule(
        "provider-token-issued-at-notation",
        .warning,
        .providerToken
    )
    .when("the iat of a provider token is written with a decimal point or an exponent")
    static let providerTokenIssuedAtFraction = PushLint.Rule(
        "provider-token-issued-at-fraction",
        .warning,
        .providerToken
    )
    .when("the iat of a provider token is not a whole number")
    static let providerTokenDERSignature = PushLint.Rule("provider-token-der-signature", .warning, .providerToken)
        .when("the signature of a provider token is DER")
    static let providerTokenES512Signature = PushLint.Rule("provider-token-es512-signature", .warning, .providerToken)
        .when("a provider token is signed with ES512 by a key on the curve P-256")
    static let providerTokenStandardBase64 = PushLint.Rule("provider-token-standard-base64", .warning, .providerToken)
        .when("a part of a provider token is in the standard alphabet of base64, with + and /")
    static let providerTokenPaddedBase64 = PushLint.Rule("provider-token-padded-base64", .warning, .providerToken)
        .when("a part of a provider token has the padding = of base64")
}

/// The rules about provider tokens ("Establishing a token-based connection to APNs").
enum ProviderTokenRules {
    static let all: [PushLint.Rule] = [
        .providerTokenMissing, .providerTokenMalformed, .providerTokenIdentifierMalformed, .providerTokenKeyUnknown,
        .providerTokenTeamWrong, .providerTokenSignatureWrong, .providerTokenEnvironmentWrong,
        .providerTokenKeyUnrelated, .providerTokenFromFuture, .providerTokenRefreshedEarly, .providerTokenTooOld,
        .providerTokenAhead, .providerTokenIssuedAtText, .providerTokenIssuedAtFraction,
        .providerTokenIssuedAtNotation, .providerTokenDERSignature, .providerTokenES512Signature,
        .providerTokenStandardBase64, .providerTokenPaddedBase64,
    ]

    /// Returns the part of a message that names the fault which has set the simulator's clock by a number of
    /// milliseconds; empty without one.
    static func skewNote(_ skew: Int64) -> String {
        guard skew != 0 else { return "" }
        let direction = skew > 0 ? "ahead" : "back"
        return ", by the simulator's clock, which a fault has set \(skew.magnitude / 1_000) seconds \(direction)"
    }

    /// Returns the message about a provider token that replaces another one on its connection too early.
    ///
    /// Apple counts tokens per connection, whichever key signed them ("Establishing a token-based connection to APNs").
    ///
    /// - Parameters:
    ///   - age: The seconds since the first use of the token that is replaced.
    ///   - interval: The seconds between the times at which the two tokens were issued.
    ///   - previous: The key identifier of the token that is replaced.
    ///   - keyID: The key identifier of the token that replaces it.
    /// - Returns: The message, without the final stop.
    static func refreshedEarly(
        after age: Int64,
        issuedApart interval: Int64,
        from previous: String,
        to keyID: String
    ) -> String {
        let issue = interval < 0 ? "\(interval.magnitude) seconds after" : "\(interval) seconds before"
        let start =
            "the previous provider token on this connection was first used \(age) seconds ago and issued \(issue) this"
            + " one"
        guard previous != keyID else { return start + ": use each token for 20 to 60 minutes" }
        return start + ", and the key \(previous) signed it: a token of another key, \(keyID), counts as an update of"
            + " the provider token, so use a connection of its own for each key"
    }

    /// Returns the finding about a form of token that Apple's documentation does not describe and clients send.
    static func finding(_ deviation: ProviderTokenDeviation) -> PushLint.Finding {
        let rule: PushLint.Rule =
            switch deviation {
            case .textIssuedAt: .providerTokenIssuedAtText
            case .fractionalIssuedAt: .providerTokenIssuedAtFraction
            case .issuedAtNotation: .providerTokenIssuedAtNotation
            case .derSignature: .providerTokenDERSignature
            case .es512Signature: .providerTokenES512Signature
            case .standardBase64: .providerTokenStandardBase64
            case .paddedBase64: .providerTokenPaddedBase64
            }
        return PushLint.Finding(rule, .header("authorization"), "\(deviation); \(deviation.acceptance)")
    }
}
