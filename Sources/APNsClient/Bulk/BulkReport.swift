public import APNs

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

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
        /// The time at which APNs last confirmed that the token is not valid; nil when it gave none.
        public let unregisteredAt: Date?

        /// Whether to delete the token: false when the app has registered it again since ``unregisteredAt``.
        ///
        /// Source: "Handling notification responses from APNs".
        ///
        /// - Parameter registeredAt: The time at which the app last reported the token.
        /// - Returns: True when the token was not registered later than APNs found it invalid, or when APNs gave no
        ///   time.
        public func isStillDead(registeredAt: Date) -> Bool {
            unregisteredAt.map { registeredAt <= $0 } ?? true
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
        failures.filter { $0.error.status == 410 }
            .map { DeadToken(token: $0.token, unregisteredAt: $0.error.unregisteredAt) }
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
