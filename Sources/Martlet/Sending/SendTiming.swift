// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport

/// The time spent in each phase of a send.
public struct SendTiming: Sendable, Hashable, Codable, CustomStringConvertible {
    /// Times in nanoseconds, because a `Duration` takes twice the memory.
    private var waitingTime: Int64 = 0
    private var wireTime: Int64 = 0
    private var backOffTime: Int64 = 0

    /// The time spent waiting for a connection, for a stream on one, or for a provider token.
    public var waiting: Duration { .nanoseconds(waitingTime) }
    /// The time between requests and their responses, over all attempts.
    public var onWire: Duration { .nanoseconds(wireTime) }
    /// The time between a failure and the next attempt, and the time that an update of a Live Activity waited for its
    /// timestamp.
    public var backingOff: Duration { .nanoseconds(backOffTime) }

    /// The times in one line.
    public var description: String { "waiting \(waiting), on wire \(onWire), backing off \(backingOff)" }

    /// Creates a timing of zero, without the conversion of durations.
    init() {}

    /// Creates a timing from the times in each phase, which are zero by default and at most 292 years.
    public init(waiting: Duration = .zero, onWire: Duration = .zero, backingOff: Duration = .zero) {
        waitingTime = MonotonicTime.zero.advanced(by: waiting).nanoseconds
        wireTime = MonotonicTime.zero.advanced(by: onWire).nanoseconds
        backOffTime = MonotonicTime.zero.advanced(by: backingOff).nanoseconds
    }

    mutating func add(_ nanoseconds: Int64, in phase: PushState.Phase) {
        switch phase {
        case .waiting, .awaitingToken: waitingTime += nanoseconds
        case .onWire: wireTime += nanoseconds
        case .delayed, .backingOff: backOffTime += nanoseconds
        case .submitted, .settled: break
        }
    }
}
