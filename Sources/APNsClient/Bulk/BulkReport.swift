public import APNs

/// What came of sending to many devices.
public struct BulkReport: Sendable {
    /// A push that was not accepted.
    public struct Failure: Sendable, Hashable {
        /// The device it was for.
        public let token: DeviceToken
        /// Why.
        public let error: APNsError
    }

    /// A token that APNs says is no longer valid.
    public struct DeadToken: Sendable, Hashable {
        /// The token.
        public let token: DeviceToken
        /// When APNs last confirmed that it is not, in milliseconds since 1970; nil when it did not say.
        public let timestamp: Int64?

        /// Whether to forget the token: not when the app has registered it again since APNs last looked.
        ///
        /// Source: "Handling notification responses from APNs".
        ///
        /// - Parameter registeredAt: When the app last handed the token in, in milliseconds since 1970.
        /// - Returns: Whether the token is dead for sure.
        public func isStillDead(registeredAt: Int64) -> Bool {
            timestamp.map { registeredAt <= $0 } ?? true
        }
    }

    /// How many pushes were accepted.
    public internal(set) var acceptedCount = 0
    /// The pushes that were not, in the order of their answers.
    public internal(set) var failures: [Failure] = []

    /// How many pushes there were.
    public var count: Int { acceptedCount + failures.count }

    /// Tokens to drop, each with the time that decides whether to.
    ///
    /// Those that APNs answered with status 410; a `BadDeviceToken` may only mean the wrong environment.
    public var deadTokens: [DeadToken] {
        failures.filter { $0.error.status == 410 }.map { DeadToken(token: $0.token, timestamp: $0.error.timestamp) }
    }

    /// Devices that may have been reached although nobody answered.
    public var unknown: [DeviceToken] {
        failures.filter { $0.error.outcome == .unknown }.map(\.token)
    }

    mutating func count(_ outcome: BulkOutcome) {
        switch outcome.result {
        case .success: acceptedCount += 1
        case .failure(let error): failures.append(Failure(token: outcome.token, error: error))
        }
    }

    /// Throws when not one push was accepted, and there was one.
    ///
    /// - Throws: The first ``APNsError``.
    public func throwIfAllFailed() throws(APNsError) {
        if acceptedCount == 0, let first = failures.first { throw first.error }
    }
}
