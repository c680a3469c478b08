/// The schedule on which provider tokens are created, a struct without a clock or a key.
///
/// Apple requires a token to be used for at least 20 and at most 60 minutes ("Establishing a token-based connection to
/// APNs"). Times are whole seconds since 1970 on the clock that also sets the token's time of issue.
package struct ProviderTokenSchedule {
    /// The token for the next request.
    enum Order: Equatable {
        /// Use the existing token.
        case use
        /// Create a new token with this time of issue.
        case mint(issuedAt: Int64)
    }

    /// The age in seconds at which a token is replaced, ten minutes before APNs would reject it.
    package static let refreshAge: Int64 = 50 * 60
    /// The minimum time in seconds between two tokens that APNs accepts without `TooManyProviderTokenUpdates`.
    package static let minimumAge: Int64 = 20 * 60

    /// The number of seconds that the clock may be set back without a new token.
    private static let clockTolerance: Int64 = 60

    private var issuedAt: Int64?
    /// The last time at which a token was replaced because APNs rejected it as expired.
    private var replacedAt: Int64?
    private var isRejected = false

    /// Returns the token for a request.
    mutating func tokenNeeded(at now: Int64) -> Order {
        guard let issuedAt else { return mint(at: now) }
        // When the clock is set back, the token has a time of issue in the future, which APNs rejects. A small step, as
        // time servers make, must not cause a second token within minutes, because APNs rejects that as well.
        let isFromTheFuture = now < issuedAt - ProviderTokenSchedule.clockTolerance
        let isStale = now - issuedAt >= ProviderTokenSchedule.refreshAge || isFromTheFuture
        return isStale || isRejected ? mint(at: now) : .use
    }

    /// Records that APNs answered `ExpiredProviderToken` to a token issued at this time.
    ///
    /// The token is replaced, but not again within ``minimumAge``: when APNs rejects a new token as expired, this
    /// machine's clock is wrong, and more tokens would only cause `TooManyProviderTokenUpdates`.
    mutating func expired(tokenIssuedAt: Int64, at now: Int64) {
        guard tokenIssuedAt == issuedAt, !isRejected else { return }
        if let replacedAt, now - replacedAt < ProviderTokenSchedule.minimumAge, now >= replacedAt { return }
        isRejected = true
        replacedAt = now
    }

    /// Returns the time in seconds for which the token may be used before ``tokenNeeded(at:)`` has to be called again.
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
