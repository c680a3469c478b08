/// Decides when a provider token is made: a struct without a clock or a key of its own.
///
/// Apple wants a token to be used for at least 20 and at most 60 minutes ("Establishing a token-based connection to
/// APNs"). Times are whole seconds since 1970 on the clock that also goes into the token.
package struct ProviderTokenSchedule {
    /// What to put into the next request.
    enum Order: Equatable {
        /// The token there is.
        case use
        /// A fresh one with this time of issue.
        case mint(issuedAt: Int64)
    }

    /// Age at which a token is replaced: ten minutes before APNs would refuse it.
    package static let refreshAge: Int64 = 50 * 60
    /// The least time between two tokens that APNs accepts without `TooManyProviderTokenUpdates`.
    package static let minimumAge: Int64 = 20 * 60

    /// The step back of the clock up to which a token is kept.
    private static let clockTolerance: Int64 = 60

    private var issuedAt: Int64?
    /// When a token was last replaced because APNs called it expired.
    private var replacedAt: Int64?
    private var isRejected = false

    /// A request needs a token.
    mutating func tokenNeeded(at now: Int64) -> Order {
        guard let issuedAt else { return mint(at: now) }
        // A clock that was set back leaves a token from the future, which APNs refuses. A small step, as time servers
        // make, must not bring about a second token within minutes: that is refused as well.
        let isFromTheFuture = now < issuedAt - ProviderTokenSchedule.clockTolerance
        let isStale = now - issuedAt >= ProviderTokenSchedule.refreshAge || isFromTheFuture
        return isStale || isRejected ? mint(at: now) : .use
    }

    /// APNs answered `ExpiredProviderToken` to a token issued at this time.
    ///
    /// The token is replaced, but not again within ``minimumAge``: when APNs calls a fresh token expired, this
    /// machine's clock is wrong and more tokens would only add `TooManyProviderTokenUpdates`.
    mutating func expired(tokenIssuedAt: Int64, at now: Int64) {
        guard tokenIssuedAt == issuedAt, !isRejected else { return }
        if let replacedAt, now - replacedAt < ProviderTokenSchedule.minimumAge, now >= replacedAt { return }
        isRejected = true
        replacedAt = now
    }

    /// How long the token may be used before ``tokenNeeded(at:)`` has to be asked again, in seconds.
    func secondsUntilRefresh(at now: Int64) -> Int64 {
        guard let issuedAt, !isRejected else { return 0 }
        return max(0, issuedAt + ProviderTokenSchedule.refreshAge - now)
    }

    private mutating func mint(at now: Int64) -> Order {
        issuedAt = now
        isRejected = false
        return .mint(issuedAt: now)
    }
}
