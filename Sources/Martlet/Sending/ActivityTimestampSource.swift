// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import Synchronization

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The timestamps of pushes to Live Activities, assigned by a clock and shared by all senders of a process.
final class ActivityTimestampSource: Sendable {
    private let clock: WallClock
    private let timestamps = Mutex(ActivityTimestamps())

    init(clock: WallClock) {
        self.clock = clock
    }

    /// Returns the timestamp of a push that is described and not sent, without assigning it.
    func unassigned(_ event: ActivityTimestamps.Event) -> Date {
        Date(secondsSince1970: event.timestamp(at: clock.microsecondsSince1970()))
    }

    /// Returns the timestamp of a push to a Live Activity, and the delay of the push.
    ///
    /// - Parameters:
    ///   - event: The event of the push.
    ///   - address: The activity's token or channel.
    ///   - chosen: The caller's timestamp; nil to let the client choose.
    ///   - timeout: The limit of the delay.
    /// - Returns: The timestamp and the delay.
    /// - Throws: ``APNsError`` with the code `invalid` for a chosen timestamp that is out of range, or `overloaded`
    ///   when the wait would exceed the timeout.
    func slot(
        _ event: ActivityTimestamps.Event,
        for address: ActivityTimestamps.Address,
        chosen: Date?,
        within timeout: Duration
    ) throws(APNsError) -> ActivityTimestamps.Slot {
        let now = clock.microsecondsSince1970()
        if let chosen {
            let timestamp = try writing { () throws(PayloadError) in try PayloadDate.seconds(chosen, for: "timestamp") }
            guard event != .start else {
                return ActivityTimestamps.Slot(timestamp: timestamp, delay: .zero, isHeld: false)
            }
            return timestamps.withLock { $0.chosen(timestamp, for: address, at: now) }
        }
        let slot = timestamps.withLock { $0.next(event, for: address, at: now, within: timeout) }
        guard let slot else {
            throw APNsError(
                .overloaded,
                description: "the waiting updates of this Live Activity take longer than \(timeout), as each needs a "
                    + "second of its own: send only the newest state, or allow a longer timeout"
            )
        }
        return slot
    }

    /// Marks the timestamp of a push as used if the push may have reached the device, and releases it otherwise.
    ///
    /// - Parameters:
    ///   - slot: The push's slot.
    ///   - address: The address for which the slot was assigned.
    ///   - error: The reason why the push failed; nil when it was accepted.
    func settle(
        _ slot: ActivityTimestamps.Slot,
        for address: ActivityTimestamps.Address,
        after error: APNsError? = nil
    ) {
        // An earlier attempt without a response may also have been delivered.
        let isUsed = error.map { $0.outcome == .unknown || $0.unknownTries > 0 } ?? true
        timestamps.withLock { $0.settle(slot, for: address, isUsed: isUsed) }
    }
}

extension ActivityTimestamps.Slot {
    var date: Date { Date(secondsSince1970: timestamp) }
}
