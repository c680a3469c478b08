internal import APNs
internal import Wire

/// Decides when to stop sending because everything is refused for one reason, which no further push will mend.
///
/// Apple slows down and cuts off senders of many errors, "fastest for BadDeviceToken" ("Handling notification
/// responses from APNs"); a client in the wrong environment would go on burning its connections.
struct CircuitBreaker {
    /// What may be sent.
    private enum State {
        case closed
        /// Nothing until then.
        case open(until: MonotonicTime, APNsError)
        /// One push, to see whether things have changed.
        case probing(isOut: Bool, APNsError)
    }

    /// Answers in a row that call a device token bad.
    static let badDeviceTokenLimit = 100
    /// Answers in a row that call the credentials bad.
    static let forbiddenLimit = 20
    /// How long nothing is sent then.
    static let pause = Duration.seconds(30)

    private var state = State.closed
    private var badDeviceTokens = 0
    private var forbidden = 0

    /// Whether nothing is sent, or only what shows how things are.
    var isOpen: Bool {
        if case .closed = state { false } else { true }
    }

    /// Why nothing may be sent now; nil when it may.
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

    /// A push ended without an answer: should it have been the one to see how things are, another may be.
    mutating func unanswered() {
        if case .probing(_, let error) = state { state = .probing(isOut: false, error) }
    }

    /// APNs answered.
    ///
    /// - Returns: Why nothing more shall be sent, when this answer was the last straw.
    mutating func answered(_ refusal: APNsError?, at now: MonotonicTime) -> APNsError? {
        guard let refusal, let reason = refusal.reason else {
            reset()
            return nil
        }
        let isForbidden = refusal.status == 403 && reason.advice == .mendFirst
        guard reason == .badDeviceToken || isForbidden else {
            // Any other answer shows that credentials and environment are right.
            reset()
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

    private mutating func reset() {
        state = .closed
        badDeviceTokens = 0
        forbidden = 0
    }

    private static func error(_ reason: Reason, count: Int) -> APNsError {
        let cause =
            reason == .badDeviceToken
            ? "perhaps the tokens belong to the other environment" : "the credentials have to be mended first"
        var error = APNsError(
            .circuitOpen,
            description: "the last \(count) answers were all \(reason): \(cause); nothing is sent for \(pause)"
        )
        error.reason = reason
        return error
    }
}
