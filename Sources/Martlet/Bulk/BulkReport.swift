// SPDX-License-Identifier: Apache-2.0

public import MartletCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The result of a bulk send.
public struct BulkReport: Sendable {
    /// A push that was not accepted.
    public struct Failure: Sendable, Hashable {
        /// The device of the push.
        public let token: DeviceToken
        /// The error.
        public let error: APNsError
    }

    /// A token that APNs reported as no longer valid.
    public struct UnregisteredToken: Sendable, Hashable {
        /// The token.
        public let token: DeviceToken
        /// The time at which APNs last confirmed that the token is not valid; nil when it gave none.
        public let unregisteredAt: Date?

        /// Returns whether to delete the token: false when the app has registered it again since ``unregisteredAt``.
        ///
        /// Source: "Handling notification responses from APNs".
        ///
        /// - Parameter registeredAt: The time at which the app last reported the token.
        /// - Returns: True when the token was not registered later than APNs found it invalid, or when APNs gave no
        ///   time.
        public func isStillUnregistered(registeredAt: Date) -> Bool {
            unregisteredAt.map { registeredAt <= $0 } ?? true
        }
    }

    /// The number of pushes that were accepted.
    public internal(set) var acceptedCount = 0
    /// The pushes that were not accepted, in the order of their responses.
    public internal(set) var failures: [Failure] = []

    /// The number of pushes.
    public var count: Int { acceptedCount + failures.count }

    /// The tokens that may have to be deleted, each with the time that decides it.
    ///
    /// These are the tokens that APNs answered with status 410; a `BadDeviceToken` may only mean the wrong environment.
    public var unregisteredTokens: [UnregisteredToken] {
        failures.filter { $0.error.advice == .forgetToken }
            .map { UnregisteredToken(token: $0.token, unregisteredAt: $0.error.unregisteredAt) }
    }

    /// The devices that may have received the push although no response arrived.
    public var unknown: [DeviceToken] {
        failures.filter { $0.error.outcome == .unknown }.map(\.token)
    }

    mutating func count(_ outcome: BulkOutcome) {
        switch outcome.result {
        case .success: acceptedCount += 1
        case .failure(let error): failures.append(Failure(token: outcome.token, error: error))
        }
    }

    /// Throws when there were pushes and none was accepted.
    ///
    /// - Throws: The ``APNsError`` of the first failure.
    public func throwIfAllFailed() throws(APNsError) {
        if acceptedCount == 0, let first = failures.first { throw first.error }
    }
}
