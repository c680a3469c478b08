// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The timestamps of pushes to Live Activities and the delays before these pushes are sent, without a clock.
///
/// A device ignores an update unless its `timestamp`, in whole seconds, is later than that of the displayed content
/// ("Starting and updating Live Activities with ActivityKit push notifications"; developers report that equal seconds
/// are ignored, too). Fractions of a second would order more pushes, but Apple documents none, no known sender uses
/// them, and a device that parses a whole number would ignore every push with one.
///
/// Processes that send to the same activity share no state except the time, so a timestamp ahead of the clock makes the
/// device ignore the next push of another process. The rules are therefore:
///
/// - A start has a timestamp two seconds in the past. Every later update has a later timestamp, even one from another
///   process whose clock is up to a second behind.
/// - An update has the current second as its timestamp, never one ahead of the clock. When the second is already used,
///   the update waits for the next one, which follows Apple's advice of one update per second and activity.
/// - An end has a timestamp two seconds ahead, later than that of every update sent before it, even one from another
///   process whose clock is up to a second ahead. No push can follow an end, so its timestamp is not stored.
///
/// An update holds its timestamp from ``next(_:for:at:within:)`` until ``settle(_:for:isUsed:)``. One that certainly
/// did not reach the device, because it was rejected or never sent, releases the timestamp. The next update gets it if
/// none holds or has used a later one; otherwise it stays unused, because the device would ignore it. Without this, a
/// burst of updates that were rejected or cancelled would make the following update wait for seconds in which nothing
/// was sent. An update whose outcome is unknown may have reached the device, so its timestamp counts as used.
///
/// One case remains: of two updates that two processes send within the same second, the device ignores the second.
struct ActivityTimestamps {
    /// The effect of a push on the activity.
    enum Event: CaseIterable {
        case start
        case update
        case end

        /// The difference between the timestamp and the clock, in seconds.
        fileprivate var lead: Int64 {
            switch self {
            case .start: -2
            case .update: 0
            case .end: 2
            }
        }

        init(_ update: LiveActivityUpdate) {
            self = update.isEnd ? .end : .update
        }

        /// Returns the timestamp when no other push is known, in seconds since 1970.
        ///
        /// - Parameter now: Microseconds since 1970.
        /// - Returns: The timestamp.
        func timestamp(at now: Int64) -> Int64 { ActivityTimestamps.second(of: now) + lead }
    }

    /// The receiver of the pushes.
    enum Address: Hashable {
        case token(DeviceToken)
        case channel(ChannelID, app: Topic)
    }

    /// A timestamp that was assigned to a push.
    struct Slot: Equatable {
        /// Seconds since 1970.
        var timestamp: Int64
        /// The delay before the push is sent.
        var delay: Duration
        /// Whether the timestamp is stored for the push until its result is known.
        var isHeld = true
    }

    private struct Entry {
        /// The latest timestamp of a push that may have reached the device; nil when there is none.
        var used: Int64?
        /// The timestamps of pushes whose results are not known.
        var held: [Int64] = []
        /// The latest second at which the clock was read for this address.
        var readAt: Int64

        /// The timestamp that the next one has to exceed; nil when there is none.
        var latest: Int64? {
            guard let held = held.max() else { return used }
            return max(held, used ?? held)
        }
    }

    /// The number of seconds that time synchronization may set the clock back while an update still waits as usual.
    private static let smallStep: Int64 = 2
    /// The number of entries from which on outdated ones are first removed.
    private static let firstSweepSize = 1_000

    private var entries: [Address: Entry] = [:]
    private var sweepSize = ActivityTimestamps.firstSweepSize

    /// Assigns a timestamp to the next push to an address.
    ///
    /// - Parameters:
    ///   - event: The event of the push.
    ///   - address: The activity's token or channel; for a start, the push-to-start token.
    ///   - now: Microseconds since 1970.
    ///   - limit: The limit of the delay.
    /// - Returns: The timestamp and the delay; nil, without assigning a timestamp, when the delay would reach `limit`.
    mutating func next(_ event: Event, for address: Address, at now: Int64, within limit: Duration) -> Slot? {
        var slot = Slot(timestamp: event.timestamp(at: now), delay: .zero, isHeld: event == .update)
        // Each start creates another activity.
        guard event != .start else { return slot }
        let second = ActivityTimestamps.second(of: now)
        // An end is sent with the last update that waits, and its timestamp leads that of the update.
        if let entry = entries[address], let latest = entry.latest, latest + max(1, event.lead) > slot.timestamp {
            slot.timestamp = latest + max(1, event.lead)
            // After the clock was set back far, it could take hours to pass the device's timestamp: count on without
            // waiting.
            if second >= entry.readAt - ActivityTimestamps.smallStep {
                slot.delay = .microseconds((slot.timestamp - event.lead) * 1_000_000 - now)
            }
        }
        guard slot.delay < limit else { return nil }
        if slot.isHeld { hold(slot.timestamp, for: address, at: second) }
        return slot
    }

    /// Returns the slot of a timestamp that the caller has chosen, and makes later assigned timestamps exceed it.
    ///
    /// The caller is responsible for a timestamp ahead of the clock; it is not stored.
    ///
    /// - Parameters:
    ///   - timestamp: Seconds since 1970.
    ///   - address: The activity's token or channel.
    ///   - now: Microseconds since 1970.
    /// - Returns: The slot; its push has no delay.
    mutating func chosen(_ timestamp: Int64, for address: Address, at now: Int64) -> Slot {
        let second = ActivityTimestamps.second(of: now)
        let isHeld = timestamp == second
        if isHeld { hold(timestamp, for: address, at: second) }
        return Slot(timestamp: timestamp, delay: .zero, isHeld: isHeld)
    }

    /// Ends the hold of a push on its timestamp when its result is known.
    ///
    /// - Parameters:
    ///   - slot: The push's slot.
    ///   - address: The address for which the slot was assigned.
    ///   - isUsed: Whether the push may have reached the device.
    mutating func settle(_ slot: Slot, for address: Address, isUsed: Bool) {
        guard slot.isHeld, let index = entries.index(forKey: address) else { return }
        var entry = entries.values[index]
        guard let place = entry.held.firstIndex(of: slot.timestamp) else { return }
        entry.held.remove(at: place)
        if isUsed { entry.used = max(slot.timestamp, entry.used ?? slot.timestamp) }
        if entry.latest == nil { entries.remove(at: index) } else { entries.values[index] = entry }
    }

    var count: Int { entries.count }

    private mutating func hold(_ timestamp: Int64, for address: Address, at second: Int64) {
        if entries.count >= sweepSize {
            entries = entries.filter { $0.value.latest.map { $0 >= second } ?? false }
            // At least as many entries are added before the next removal as remained after this one.
            sweepSize = max(ActivityTimestamps.firstSweepSize, 2 * entries.count)
        }
        var entry = entries[address] ?? Entry(readAt: second)
        entry.held.append(timestamp)
        entry.readAt = max(second, entry.readAt)
        entries[address] = entry
    }

    private static func second(of microseconds: Int64) -> Int64 {
        microseconds >= 0 ? microseconds / 1_000_000 : (microseconds - 999_999) / 1_000_000
    }
}
