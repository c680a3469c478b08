// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The decisions of one pool about its provider token, a struct without I/O: events in, actions out.
///
/// It decides when the source is asked for a token, and which pushes wait for the answer: the source is asked once for
/// all of them. ``ProviderTokenMachine`` decides about the age of tokens.
struct PoolTokenMachine {
    typealias Push = (key: PushKey, connection: PoolMachine.ConnectionID)

    private enum Phase {
        /// There is no token. Can become `requested`.
        case missing
        /// The source has been asked, after the end of a former token or without one. Can become `current`; `missing`
        /// when the source has no token; `outdated`.
        case requested(formerIssuedAt: Date?)
        /// The source was asked before its key was replaced, and the answer will be ignored. Can become `requested`.
        case outdated
        /// Pushes are sent with the token until its end. Can become `requested` after its end; `missing` when APNs
        /// rejects it or it is replaced.
        case current(issuedAt: Date, end: MonotonicTime)
    }

    /// A request to the source.
    struct Request {
        /// The time of issue of a token that APNs has rejected as expired, which the source has to be told first.
        var rejectedIssuedAt: Date?
    }

    /// The meaning of an answer of the source.
    enum Answer {
        /// The answer applies to these pushes, which have waited for it.
        case current([Push])
        /// The answer is about a key that has been replaced, and the source has to be asked again.
        case outdated(Request)
    }

    private var phase = Phase.missing
    private var rejectedIssuedAt: Date?
    private(set) var waiting: [Push] = []
    /// The time of issue of the last token.
    private(set) var issuedAt: Date?
    private(set) var count = 0

    /// Returns whether a push can be sent with the current token.
    func isUsable(at now: MonotonicTime) -> Bool {
        if case .current(_, let end) = phase { now < end } else { false }
    }

    // MARK: Events

    /// Handles a push that cannot be sent before there is another token.
    ///
    /// - Returns: The request to the source; nil when the source has been asked already.
    mutating func wait(_ push: PushKey, for connection: PoolMachine.ConnectionID) -> Request? {
        waiting.append((push, connection))
        switch phase {
        case .requested, .outdated: return nil
        case .missing: return request(after: nil)
        case .current(let issuedAt, _): return request(after: issuedAt)
        }
    }

    private mutating func request(after formerIssuedAt: Date?) -> Request {
        phase = .requested(formerIssuedAt: formerIssuedAt)
        return Request(rejectedIssuedAt: rejectedIssuedAt.take())
    }

    /// Handles a token from the source.
    ///
    /// - Returns: The pushes that can be sent now, or another request to the source when the token is outdated.
    mutating func received(tokenIssuedAt: Date, validity: Duration, at now: MonotonicTime) -> Answer {
        if case .outdated = phase { return .outdated(request(after: nil)) }
        // The pushes that waited for the token are sent with it, even if its validity is shorter.
        phase = .current(issuedAt: tokenIssuedAt, end: now.advanced(by: max(validity, .seconds(1))))
        if issuedAt != tokenIssuedAt { count += 1 }
        issuedAt = tokenIssuedAt
        return .current(takeWaiting())
    }

    /// Handles the source's answer that it has no token.
    ///
    /// - Returns: The pushes that fail for this reason, or another request to the source when the answer is outdated.
    mutating func failed() -> Answer {
        if case .outdated = phase { return .outdated(request(after: nil)) }
        phase = .missing
        return .current(takeWaiting())
    }

    /// Records that APNs rejected the token with this time of issue as expired.
    mutating func rejected(tokenIssuedAt: Date) {
        switch phase {
        case .current(tokenIssuedAt, _):
            phase = .missing
        case .requested(tokenIssuedAt):
            // The source may return the same token, and learns of the rejection with the next request.
            phase = .requested(formerIssuedAt: nil)
        case .missing, .requested, .outdated, .current:
            return
        }
        rejectedIssuedAt = tokenIssuedAt
    }

    /// Discards the token, because the source has another key or should issue another token.
    ///
    /// - Returns: The pushes that wait, whose connections are not used any more.
    mutating func replaced() -> [Push] {
        switch phase {
        case .requested, .outdated: phase = .outdated
        case .missing, .current: phase = .missing
        }
        return takeWaiting()
    }

    mutating func closed(_ connection: PoolMachine.ConnectionID) -> [Push] {
        guard !waiting.isEmpty else { return [] }
        let removed = waiting.filter { $0.connection == connection }
        waiting.removeAll { $0.connection == connection }
        return removed
    }

    private mutating func takeWaiting() -> [Push] {
        let pushes = waiting
        waiting = []
        return pushes
    }
}
