internal import APNs

/// The laws that a connection is under by what it has carried before: one team, one family of keys, and no new token
/// more often than every 20 minutes ("Establishing a token-based connection to APNs").
struct ConnectionLaws {
    /// The least time between two tokens on one connection, in seconds.
    static let tokenInterval: Int64 = 20 * 60

    /// Who sends, by a token that is good for itself.
    struct Sender {
        var claims: ProviderToken
        var scope: KeyScope
    }

    /// The sender of the first push that was accepted.
    private var first: Sender?
    private var token = ""
    private var tokenSince: Int64 = 0

    /// Why a token that is good for itself may not be used on this connection.
    mutating func problem(
        with sender: Sender,
        authorization: String,
        at now: Int64,
        _ leniency: Leniency
    ) -> Reason? {
        if !leniency.contains(.mixedKeys), let first {
            guard first.claims.teamID == sender.claims.teamID else { return .invalidProviderToken }
            guard ConnectionLaws.isRelated(sender, to: first) else { return .unrelatedKeyIDInToken }
        }
        guard authorization != token else { return nil }
        if !token.isEmpty, !leniency.contains(.frequentTokens), now - tokenSince < ConnectionLaws.tokenInterval {
            return .tooManyProviderTokenUpdates
        }
        token = authorization
        tokenSince = now
        return nil
    }

    /// A push was accepted from this sender.
    mutating func accepted(from sender: Sender) {
        if first == nil { first = sender }
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
