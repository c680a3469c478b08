// SPDX-License-Identifier: Apache-2.0

/// Decides whether the disk of the outbox is nearly full, before the relay has to refuse pushes.
struct DiskWatch: Sendable {
    /// A disk that is nearly full.
    struct Shortage: Sendable, Hashable {
        /// The time since which it is nearly full, in milliseconds since 1970.
        var since: Int64
        /// The free space in bytes.
        var free: Int64
    }

    /// The free space in bytes below which a disk is nearly full; a small disk has a twentieth of its size as limit.
    static let limit: Int64 = 128 << 20

    /// The shortage; nil when there is enough space, or when it is not known.
    private(set) var shortage: Shortage?
    /// The limit for log lines.
    private var throttle = GrowingThrottle()

    /// Records the free space and the size of the disk in bytes, nil when they are not known; returns the shortage to
    /// log, nil when there is none or a line is not due.
    mutating func record(free: Int64?, size: Int64?, at now: Int64) -> Shortage? {
        guard let free, let size, free < min(DiskWatch.limit, size / 20) else {
            shortage = nil
            return nil
        }
        let current = Shortage(since: shortage?.since ?? now, free: free)
        shortage = current
        return throttle.take(at: now) == nil ? nil : current
    }
}
