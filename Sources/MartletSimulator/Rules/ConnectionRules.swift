// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The rules about provider tokens that depend on the earlier requests of a connection: one team, one family of keys,
/// and a new token at most every 20 minutes ("Establishing a token-based connection to APNs").
struct ConnectionRules {
    /// The minimum time between two tokens on one connection, in seconds.
    static let tokenInterval = ProviderToken.minimumRefreshIntervalInSeconds

    /// The sender that a valid token names.
    struct Sender {
        var claims: ProviderToken
        var scope: SimulatedAPNs.KeyScope
        var deviations: [ProviderTokenDeviation] = []
    }

    /// The sender of the first push that was accepted.
    private var first: Sender?
    /// The token that was accepted last.
    private var current: UsedToken?
    /// The token of the related key, when the last two tokens came from a topic-specific key and its related key.
    private var related: UsedToken?
    /// The message about the replacement of a token by the current one, when it was too early and the rules are
    /// relaxed; nil otherwise.
    private(set) var earlyReplacement: String?

    /// A provider token that was used on the connection.
    private struct UsedToken {
        var authorization: String
        var sender: Sender
        /// The time of its first use, in milliseconds since 1970, without the skew of a fault.
        var since: Int64
    }

    /// Checks whether a token that is valid in itself may be used on this connection, and records its use.
    ///
    /// - Parameters:
    ///   - sender: The sender that the token names.
    ///   - authorization: The value of `authorization`.
    ///   - now: The time of the simulator's clock, in milliseconds since 1970.
    ///   - skew: The milliseconds by which a fault has set that clock ahead; intervals are measured without it.
    ///   - expired: The tokens that a fault has declared expired.
    ///   - relaxedRules: The rules that do not apply.
    /// - Returns: The refusal; nil when the token may be used.
    mutating func problem(
        with sender: Sender,
        authorization: String,
        at now: Int64,
        skew: Int64,
        expired: ExpiredTokens,
        _ relaxedRules: RelaxedRules
    ) -> Refusal? {
        // The token in use was checked when it came into use.
        if current?.authorization == authorization { return nil }
        if !relaxedRules.contains(.mixedKeys), let first,
            let refusal = ConnectionRules.problem(with: sender, after: first)
        {
            return refusal
        }
        let (current, related) = (self.current, self.related)
        guard let current else {
            self.current = UsedToken(authorization: authorization, sender: sender, since: now - skew)
            return nil
        }
        if let related, authorization == related.authorization {
            (self.current, self.related) = (related, current)
            earlyReplacement = nil
            return nil
        }
        // A token of the related key does not replace that of the other key.
        let isChangeOfKey = ConnectionRules.areRelated(sender, current.sender)
        let replaced = isChangeOfKey ? related : current
        let problem = replaced.flatMap { token in
            ConnectionRules.earlyReplacement(of: token, by: sender, at: now, skew: skew, expired: expired)
        }
        if let problem, !relaxedRules.contains(.frequentTokens) {
            return .credentials(.tooManyProviderTokenUpdates, .providerTokenRefreshedEarly, problem)
        }
        earlyReplacement = problem
        self.current = UsedToken(authorization: authorization, sender: sender, since: now - skew)
        if isChangeOfKey { self.related = current }
        return nil
    }

    /// Returns the message about a token that replaces another one too early; nil when it is in time.
    private static func earlyReplacement(
        of token: UsedToken,
        by sender: Sender,
        at now: Int64,
        skew: Int64,
        expired: ExpiredTokens
    ) -> String? {
        // An expired token has to be replaced, however soon after its first use on this connection.
        let isExpired =
            expired.contains(token.authorization)
            || token.sender.claims.ageInSeconds(at: now / 1_000) > ProviderToken.maximumAgeInSeconds
        let age = (now - skew - token.since) / 1_000
        // A sender that signs a token every 20 minutes may use an older one on a younger connection. Both times of
        // issue are within an hour of the clock, so their difference fits.
        let interval = sender.claims.issuedAtSeconds &- token.sender.claims.issuedAtSeconds
        guard !isExpired, age < tokenInterval, interval < tokenInterval else { return nil }
        return ProviderTokenRules.refreshedEarly(
            after: age,
            issuedApart: interval,
            from: token.sender.claims.keyID,
            to: sender.claims.keyID
        )
    }

    /// Whether two senders use a topic-specific key and its related key; it suffices that one key names the other.
    private static func areRelated(_ one: Sender, _ other: Sender) -> Bool {
        guard one.claims.keyID != other.claims.keyID, one.claims.teamID == other.claims.teamID,
            case .topics(_, _, let relatedToOne) = one.scope, case .topics(_, _, let relatedToOther) = other.scope
        else { return false }
        return relatedToOne.contains(other.claims.keyID) || relatedToOther.contains(one.claims.keyID)
    }

    /// Whether a push was accepted on the connection.
    var isBound: Bool { first != nil }

    /// Binds the connection to this sender when it is the first with an accepted push.
    mutating func accepted(from sender: Sender) {
        if first == nil { first = sender }
    }

    /// Undoes ``accepted(from:)``, because a fault refused the push after all.
    mutating func unbind() {
        first = nil
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
        guard !mayShareConnection(sender, first) else { return nil }
        return .credentials(
            .unrelatedKeyIDInToken,
            .providerTokenKeyUnrelated,
            "the key \(sender.claims.keyID) is not related to \(first.claims.keyID), the first key of the connection:"
                + " open another one for it"
        )
    }

    /// Whether the keys of two senders of one team may share a connection.
    private static func mayShareConnection(_ one: Sender, _ other: Sender) -> Bool {
        if one.claims.keyID == other.claims.keyID { return true }
        guard case .team(let environment) = one.scope, case .team(let otherEnvironment) = other.scope else {
            return areRelated(one, other)
        }
        return environment == nil || otherEnvironment == nil || environment == otherEnvironment
    }
}
