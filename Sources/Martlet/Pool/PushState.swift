// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The state of a push on which the pool's decisions are based.
struct PushState {
    enum Phase: Equatable {
        /// The push was submitted. Can become `waiting`, `awaitingToken`, `onWire`, `delayed` or `settled`.
        case submitted
        /// The push waits for a stream. Can become `awaitingToken`, `onWire` or `settled`.
        case waiting
        /// The push is assigned to a connection, and waits for a provider token. Can become `waiting`, `onWire` or
        /// `settled`.
        case awaitingToken(PoolMachine.ConnectionID)
        /// The push was sent on a connection. Can become `waiting`, `backingOff` or `settled`.
        case onWire(PoolMachine.ConnectionID)
        /// The push waits for its timestamp before the first attempt. Can become `waiting` or `settled`.
        case delayed
        /// The push waits before another attempt. Can become `waiting` or `settled`.
        case backingOff
        /// The push has its result.
        case settled
    }

    /// The identifier that is sent to APNs.
    let id: APNsID
    let limits: SendLimits
    private(set) var phase = Phase.submitted
    private(set) var since = MonotonicTime.zero
    private(set) var timing = SendTiming()
    var deadline = MonotonicTime.zero
    /// The time from which no attempt may begin.
    var startDeadline = MonotonicTime.never
    /// The number of times the push was sent on a connection.
    var attempts = 0
    /// The number of retries that the policy permitted.
    var retries = 0
    /// The number of earlier attempts that were sent and not answered.
    var unknownTries = 0
    /// The number of times that a server certainly did not process the push.
    var timesUnprocessed = 0
    /// The number of failed connection attempts while the push waited.
    var failedConnects = 0
    /// The time of issue of the provider token with which the push was sent last.
    var tokenIssuedAt: Date?

    init(_ id: APNsID, _ limits: SendLimits) {
        self.id = id
        self.limits = limits
    }

    var isSettled: Bool { phase == .settled }

    /// Whether an attempt is in flight, so that APNs may have received the push.
    var isInFlight: Bool {
        if case .onWire = phase { true } else { false }
    }

    /// The time at which the push ends without a result of its own.
    var nextDeadline: MonotonicTime { isInFlight ? deadline : min(deadline, startDeadline) }

    mutating func move(to next: Phase, at now: MonotonicTime) {
        timing.add(now.nanoseconds - since.nanoseconds, in: phase)
        phase = next
        since = now
    }
}
