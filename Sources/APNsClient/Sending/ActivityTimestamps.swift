internal import Synchronization

/// Gives each push about a Live Activity a higher timestamp than the one before, by at least a second, as the phone
/// keeps the newest and pushes may overtake each other.
final class ActivityTimestamps: Sendable {
    /// Entries that are kept before those that time has overtaken are forgotten.
    private static let sweepSize = 1_000

    private let clock: WallClock
    private let latest = Mutex<[String: Int64]>([:])

    init(clock: WallClock) {
        self.clock = clock
    }

    /// The timestamp of the next push to this token or channel, in seconds since 1970.
    func next(for address: String) -> Int64 {
        let now = clock.secondsSince1970()
        return latest.withLock { latest in
            let timestamp = max(now, (latest[address] ?? 0) + 1)
            // What lies in the past says no more than the clock does.
            if latest.count >= ActivityTimestamps.sweepSize { latest = latest.filter { $0.value >= now } }
            latest[address] = timestamp
            return timestamp
        }
    }
}
