// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The decisions about the provider tokens of one key, a struct without a clock, a key or I/O: events in, actions out.
///
/// Apple requires a token to be used for at least 20 and at most 60 minutes ("Establishing a token-based connection to
/// APNs"). A token is replaced after 50 minutes, when the clock is set back before its time of issue, and when APNs
/// rejects it as expired. Times are whole seconds since 1970 on the clock that also sets the time of issue.
///
/// The owner is a source of tokens, which either issues all of them or shares them with other processes.
/// ``PoolTokenMachine`` decides when a connection pool asks its source, and which pushes wait for the answer.
package struct ProviderTokenMachine {
    package enum Action: Equatable {
        /// Use the token.
        case use
        /// Issue a token with this time of issue, and use it.
        case issue(at: Int64)
    }

    /// The issuers of the tokens.
    package enum Scope {
        /// Only the owner issues tokens.
        case local
        /// Other processes issue tokens, too, so that a token may have replaced another one when it was issued.
        case shared
    }

    private enum Phase {
        /// No token has been issued or found. Can become `current`.
        case empty
        /// A token that APNs has not rejected. Can become `rejected`, or `current` with another token.
        case current(issuedAt: Int64)
        /// A token that APNs rejected as expired. Can become `current` with another token.
        case rejected(issuedAt: Int64, replaceableAt: Int64)
    }

    /// The age in seconds at which a token is replaced, ten minutes before APNs would reject it.
    private static let renewalAge: Int64 = 50 * 60
    /// The number of seconds that the clock may be set back without a new token.
    private static let clockTolerance: Int64 = 60

    private let scope: Scope
    private var phase = Phase.empty
    /// The last time at which a token was issued because APNs rejected its predecessor.
    private var replacedAt: Int64?

    /// Creates a machine without a token.
    package init(_ scope: Scope) {
        self.scope = scope
    }

    /// The time of issue of the current token; nil before the first.
    private var issuedAt: Int64? {
        switch phase {
        case .empty: nil
        case .current(let issuedAt), .rejected(let issuedAt, _): issuedAt
        }
    }

    /// Returns whether a token is so old that it may be replaced: APNs rejects more than one change of tokens within 20
    /// minutes on a connection with `TooManyProviderTokenUpdates`.
    static func isReplaceable(tokenIssuedAt issuedAt: Int64, at now: Int64) -> Bool {
        issuedAt <= now - ProviderToken.minimumRefreshIntervalInSeconds
    }

    // MARK: Decisions

    /// Returns the action for a request that needs a token, based on the current token.
    package func action(at now: Int64) -> Action {
        guard let issuedAt else { return .issue(at: now) }
        return action(forTokenIssuedAt: issuedAt, at: now)
    }

    /// Returns the action for a request that needs a token, when the token with this time of issue was found.
    package func action(forTokenIssuedAt issuedAt: Int64, at now: Int64) -> Action {
        // When the clock is set back, the token has a time of issue in the future, which APNs rejects. A small step, as
        // time servers make, must not cause a second token within minutes, because APNs rejects that as well.
        let ages = -ProviderTokenMachine.clockTolerance..<ProviderTokenMachine.renewalAge
        guard ages.contains(now - issuedAt) else { return .issue(at: now) }
        if case .rejected(issuedAt, let replaceableAt) = phase, now >= replaceableAt { return .issue(at: now) }
        return .use
    }

    /// Returns the time in seconds for which the current token may be used without another call of ``action(at:)``.
    package func secondsUntilRenewal(at now: Int64) -> Int64 {
        switch phase {
        case .empty: 0
        case .current(let issuedAt): max(0, issuedAt + ProviderTokenMachine.renewalAge - now)
        case .rejected(let issuedAt, let replaceableAt):
            max(0, min(issuedAt + ProviderTokenMachine.renewalAge, replaceableAt) - now)
        }
    }

    // MARK: Events

    package mutating func began(using issuedAt: Int64, at now: Int64) {
        guard issuedAt != self.issuedAt else {
            // A token can be issued again within the same second.
            if case .rejected(_, let replaceableAt) = phase, now >= replaceableAt { replace(with: issuedAt, at: now) }
            return
        }
        if case .rejected = phase { replace(with: issuedAt, at: now) } else { phase = .current(issuedAt: issuedAt) }
    }

    private mutating func replace(with issuedAt: Int64, at now: Int64) {
        replacedAt = now
        phase = .current(issuedAt: issuedAt)
    }

    /// Records that APNs answered `ExpiredProviderToken` to a token with this time of issue.
    ///
    /// The token is replaced once 20 minutes have passed since the last replacement: when APNs rejects a new token as
    /// expired, this machine's clock is wrong, and more tokens would only cause `TooManyProviderTokenUpdates`.
    package mutating func rejected(tokenIssuedAt: Int64, at now: Int64) {
        guard case .current(tokenIssuedAt) = phase else { return }
        let last: Int64? =
            switch scope {
            case .local: replacedAt
            case .shared: tokenIssuedAt
            }
        let replaceableAt = last.map { $0 + ProviderToken.minimumRefreshIntervalInSeconds }
        phase = .rejected(issuedAt: tokenIssuedAt, replaceableAt: max(now, replaceableAt ?? now))
    }
}
