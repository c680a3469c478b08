internal import APNs

/// Decides the timestamp of each push to a Live Activity and how long the push waits, without a clock of its own.
///
/// The phone ignores an update unless its `timestamp`, in whole seconds, is later than that of the content it shows
/// ("Starting and updating Live Activities with ActivityKit push notifications"; equal seconds are ignored, too, as
/// senders report). Fractions of a second would order more pushes, but Apple documents none, no known sender uses them,
/// and a phone that reads a whole number would ignore every push with one.
///
/// Processes that send to the same activity share nothing but the time, so a timestamp that runs ahead of the clock
/// makes the phone ignore what another process sends next. The rules are therefore:
///
/// - A start is stamped two seconds in the past. Every update after it is later, even one by another process whose
///   clock is up to a second behind.
/// - An update is stamped with the current second and is never ahead of the clock. When the second is taken, the update
///   waits for the next one, which keeps to Apple's advice of one update per second and activity.
/// - An end is stamped one second ahead, later than every update sent before it. Nothing can follow an end.
///
/// A push holds its timestamp from ``next(_:for:at:within:)`` until ``settle(_:for:isUsed:)``. A push that certainly
/// did not reach the phone, as it was refused or never sent, gives the timestamp back. The next push gets it if no push
/// holds or has used a later one; otherwise it is lost, since the phone would ignore it. Without this, a burst of
/// updates that were refused or cancelled would make the following update wait for seconds that nothing was sent in. A
/// push whose result is unknown may have reached the phone, so its timestamp counts as used.
///
/// One case remains: of two updates that two processes send within the same second, the phone ignores the second.
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
            case .end: 1
            }
        }

        init(_ update: LiveActivityUpdate) {
            self = update.isEnd ? .end : .update
        }

        /// The timestamp when no other push is known, in seconds since 1970.
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

    /// A timestamp that was given to a push.
    struct Slot: Equatable {
        /// Seconds since 1970.
        var timestamp: Int64
        /// The time that the push waits before it is sent.
        var delay: Duration
        /// Whether the timestamp is stored for the push until its result is known.
        var isHeld = true
    }

    private struct Entry {
        /// The latest timestamp of a push that may have reached the phone; nil when there is none.
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

    /// The seconds that a clock steps back when it is kept in time, after which an update waits as usual.
    private static let smallStep: Int64 = 2
    /// Entries that are stored before those that the clock has passed are removed for the first time.
    private static let firstSweepSize = 1_000

    private var entries: [Address: Entry] = [:]
    private var sweepSize = ActivityTimestamps.firstSweepSize

    /// Gives the next push to an address its timestamp.
    ///
    /// - Parameters:
    ///   - event: What the push does.
    ///   - address: The activity's token or channel; for a start, the push-to-start token.
    ///   - now: Microseconds since 1970.
    ///   - limit: The longest wait.
    /// - Returns: The timestamp and the wait; nil, and nothing is taken, when the push would have to wait for `limit`.
    mutating func next(_ event: Event, for address: Address, at now: Int64, within limit: Duration) -> Slot? {
        var slot = Slot(timestamp: event.timestamp(at: now), delay: .zero)
        guard event != .start else {
            // Each start begins another activity.
            slot.isHeld = false
            return slot
        }
        let second = ActivityTimestamps.second(of: now)
        if let entry = entries[address], let latest = entry.latest, latest >= slot.timestamp {
            slot.timestamp = latest + 1
            // After the clock was set back far it may take hours to pass what the phone has: go on counting instead.
            if second >= entry.readAt - ActivityTimestamps.smallStep {
                slot.delay = .microseconds((slot.timestamp - event.lead) * 1_000_000 - now)
            }
        }
        guard slot.delay < limit else { return nil }
        hold(slot.timestamp, for: address, at: second)
        return slot
    }

    /// Returns the slot of a timestamp that the caller has chosen, so that those given later are later.
    ///
    /// A timestamp ahead of the clock is the caller's own responsibility and is not stored.
    ///
    /// - Parameters:
    ///   - timestamp: Seconds since 1970.
    ///   - address: The activity's token or channel.
    ///   - now: Microseconds since 1970.
    /// - Returns: The slot; its push does not wait.
    mutating func chosen(_ timestamp: Int64, for address: Address, at now: Int64) -> Slot {
        let second = ActivityTimestamps.second(of: now)
        let isHeld = timestamp == second
        if isHeld { hold(timestamp, for: address, at: second) }
        return Slot(timestamp: timestamp, delay: .zero, isHeld: isHeld)
    }

    /// Ends the hold of a push on its timestamp, as its result is known.
    ///
    /// - Parameters:
    ///   - slot: The push's slot.
    ///   - address: The address that the slot was given for.
    ///   - isUsed: Whether the push may have reached the phone.
    mutating func settle(_ slot: Slot, for address: Address, isUsed: Bool) {
        guard slot.isHeld, let index = entries.index(forKey: address) else { return }
        var entry = entries.values[index]
        guard let place = entry.held.firstIndex(of: slot.timestamp) else { return }
        entry.held.remove(at: place)
        if isUsed { entry.used = max(slot.timestamp, entry.used ?? slot.timestamp) }
        if entry.latest == nil { entries.remove(at: index) } else { entries.values[index] = entry }
    }

    /// The number of addresses that are remembered.
    var count: Int { entries.count }

    private mutating func hold(_ timestamp: Int64, for address: Address, at second: Int64) {
        if entries.count >= sweepSize {
            entries = entries.filter { $0.value.latest.map { $0 >= second } ?? false }
            // At least as many are added before the next sweep as were left by this one.
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
