// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

/// A circuit breaker that stops sending when everything is rejected for a reason that further pushes cannot fix.
///
/// Apple slows down and blocks senders of many errors, "fastest for BadDeviceToken" ("Handling notification responses
/// from APNs"); a client in the wrong environment would keep losing its connections.
struct CircuitBreaker {
    /// The pushes that may be sent.
    private enum State {
        case closed
        /// No pushes until this time.
        case open(until: MonotonicTime, APNsError)
        /// One push, to test whether the reason persists.
        case probing(isOut: Bool, APNsError)
    }

    /// The number of consecutive responses that reject the device token before the circuit opens.
    static let badDeviceTokenLimit = 100
    /// The number of consecutive responses that reject the credentials before the circuit opens.
    static let forbiddenLimit = 20
    /// The time for which an open circuit sends nothing.
    static let pause = Duration.seconds(30)

    private var state = State.closed
    private var badDeviceTokens = 0
    private var forbidden = 0

    /// Whether nothing is sent, or only a test push.
    var isOpen: Bool {
        if case .closed = state { false } else { true }
    }

    /// Returns the error for pushes that may not be sent now; nil when they may.
    mutating func refusal(at now: MonotonicTime) -> APNsError? {
        switch state {
        case .closed: return nil
        case .open(let until, let error):
            guard now >= until else { return error }
            state = .probing(isOut: true, error)
            return nil
        case .probing(let isOut, let error):
            guard !isOut else { return error }
            state = .probing(isOut: true, error)
            return nil
        }
    }

    /// Records a push without a response: if it was the test push, another may be sent.
    mutating func unanswered() {
        if case .probing(_, let error) = state { state = .probing(isOut: false, error) }
    }

    /// Records a response of APNs.
    ///
    /// - Returns: The error for further pushes when this response opens the circuit; otherwise nil.
    mutating func answered(_ refusal: APNsError?, at now: MonotonicTime) -> APNsError? {
        let isForbidden = refusal?.refusalCause == .credentials
        guard let reason = refusal?.reason, reason == .badDeviceToken || isForbidden else {
            // Any other response shows that credentials and environment are right.
            self = CircuitBreaker()
            return nil
        }
        if case .probing(_, let error) = state {
            state = .open(until: now.advanced(by: CircuitBreaker.pause), error)
            return nil
        }
        guard case .closed = state else { return nil }
        badDeviceTokens = reason == .badDeviceToken ? badDeviceTokens + 1 : 0
        forbidden = isForbidden ? forbidden + 1 : 0
        guard badDeviceTokens >= CircuitBreaker.badDeviceTokenLimit || forbidden >= CircuitBreaker.forbiddenLimit else {
            return nil
        }
        let error = CircuitBreaker.error(reason, count: max(badDeviceTokens, forbidden))
        state = .open(until: now.advanced(by: CircuitBreaker.pause), error)
        return error
    }

    private static func error(_ reason: APNsReason, count: Int) -> APNsError {
        let cause =
            reason == .badDeviceToken
            ? "perhaps the tokens belong to the other environment" : "correct the credentials"
        var error = APNsError(
            .circuitOpen,
            description: "the last \(count) responses were all \(reason): \(cause); nothing is sent for \(pause)"
        )
        error.properties.reason = reason
        return error
    }
}
