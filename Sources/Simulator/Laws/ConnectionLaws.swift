internal import APNs

/// The laws that a connection is under by what it has carried before: one team, one family of keys, and no new token
/// more often than every 20 minutes ("Establishing a token-based connection to APNs").
struct ConnectionLaws {
    /// The least time between two tokens on one connection, in seconds.
    static let tokenInterval: Int64 = 20 * 60

    /// The sender that a valid token names.
    struct Sender {
        var claims: ProviderToken
        var scope: KeyScope
        var deviations: [ProviderTokenDeviation] = []
    }

    /// The sender of the first push that was accepted.
    private var first: Sender?
    private var token = ""
    private var tokenClaims: ProviderToken?
    private var tokenSince: Int64 = 0
    /// Whether the present token took the place of an expired one.
    private(set) var isRenewalOfExpired = false

    /// Why a token that is valid in itself may not be used on this connection.
    ///
    /// - Parameters:
    ///   - sender: The sender that the token names.
    ///   - authorization: The value of `authorization`.
    ///   - now: The time of the simulator's clock, in seconds since 1970.
    ///   - skew: The seconds by which a fault has set that clock ahead; intervals are measured without it.
    ///   - expired: The tokens that a fault has declared expired.
    ///   - leniency: The rules that do not apply.
    /// - Returns: The refusal; nil when the token may be used.
    mutating func problem(
        with sender: Sender,
        authorization: String,
        at now: Int64,
        skew: Int64,
        expired: ExpiredTokens,
        _ leniency: Leniency
    ) -> Refusal? {
        if !leniency.contains(.mixedKeys), let first, let refusal = ConnectionLaws.problem(with: sender, after: first) {
            return refusal
        }
        guard authorization != token else { return nil }
        // An expired token has to be replaced, however soon after its first use on this connection.
        let isExpired =
            expired.contains(token)
            || tokenClaims.map { $0.ageInSeconds(at: now) > ProviderToken.maximumAgeInSeconds } ?? false
        let age = now - skew - tokenSince
        if !token.isEmpty, !isExpired, !leniency.contains(.frequentTokens), age < ConnectionLaws.tokenInterval {
            return .credentials(
                .tooManyProviderTokenUpdates,
                .providerTokenRefreshedEarly,
                ProviderTokenRules.refreshedEarly(after: age, from: tokenClaims?.keyID, to: sender.claims.keyID)
            )
        }
        token = authorization
        tokenClaims = sender.claims
        tokenSince = now - skew
        isRenewalOfExpired = isExpired
        return nil
    }

    /// A push was accepted from this sender.
    mutating func accepted(from sender: Sender) {
        if first == nil { first = sender }
    }

    private static func problem(with sender: Sender, after first: Sender) -> Refusal? {
        guard first.claims.teamID == sender.claims.teamID else {
            return .credentials(
                .invalidProviderToken,
                .providerTokenTeamWrong,
                "the connection belongs to the team \(first.claims.teamID) since its first accepted push: open another"
                    + " one for the team \(sender.claims.teamID)"
            )
        }
        guard !isRelated(sender, to: first) else { return nil }
        return .credentials(
            .unrelatedKeyIDInToken,
            .providerTokenKeyUnrelated,
            "the key \(sender.claims.keyID) is not related to \(first.claims.keyID), the first key of the connection:"
                + " open another one for it"
        )
    }

    private static func isRelated(_ sender: Sender, to first: Sender) -> Bool {
        if sender.claims.keyID == first.claims.keyID { return true }
        switch (first.scope, sender.scope) {
        case (.team(let one), .team(let other)): return one == nil || other == nil || one == other
        case (.topics(_, _, let related), .topics): return related.contains(sender.claims.keyID)
        case (.team, .topics), (.topics, .team): return false
        }
    }
}

/// The provider tokens that a fault has declared expired, the last hundred.
struct ExpiredTokens {
    private static let limit = 100

    /// Hashes of the values of `authorization`.
    private var identities: [Int] = []

    mutating func insert(_ authorization: String) {
        guard !contains(authorization) else { return }
        if identities.count == ExpiredTokens.limit { identities.removeFirst() }
        identities.append(authorization.hashValue)
    }

    func contains(_ authorization: String) -> Bool {
        !identities.isEmpty && identities.contains(authorization.hashValue)
    }
}
