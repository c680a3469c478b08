// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore
internal import MartletOutbox

/// The staleness of the surfaces of an app in the last minutes: the times from their changes until Apple accepted the
/// pushes that show them.
struct SurfaceStaleness: Sendable {
    /// The times of some pushes.
    struct Times: Sendable, Hashable {
        /// The time in milliseconds from which on a push is late.
        static let bound: Int64 = 60_000

        private(set) var histogram = Histogram(bounds: SurfaceStaleness.bounds)
        private(set) var count = 0
        /// The number of pushes that are late.
        private(set) var late = 0
        /// The longest time, in milliseconds.
        private(set) var longest: Int64 = 0
        /// The identifier of the surface of the longest time; empty without times.
        private(set) var slowest = ""

        /// Whether more than one push in twenty is late.
        var areLate: Bool { late > count / 20 }

        /// Adds a time in milliseconds.
        mutating func add(_ time: Int64, of surface: String) {
            histogram.observe(Duration.milliseconds(time))
            count += 1
            if time > Times.bound { late += 1 }
            guard time >= longest else { return }
            longest = time
            slowest = surface
        }

        /// Adds the times of other pushes.
        mutating func add(_ other: Times) {
            histogram.add(other.histogram)
            count += other.count
            late += other.late
            guard other.longest >= longest else { return }
            longest = other.longest
            slowest = other.slowest
        }

        /// Returns the time in milliseconds within which a share of the pushes was accepted, at most the longest.
        func quantile(_ share: Double) -> Int64 {
            // The bounds end at half an hour.
            min(longest, Int64((histogram.quantile(share) ?? 0) * 1_000))
        }
    }

    /// The upper bounds of the times, in seconds.
    static let bounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800]
    /// The time that ``recent(at:)`` covers, in milliseconds.
    private static let window: Int64 = 300_000
    private static let minute: Int64 = 60_000

    /// The minutes with times, oldest first, by their starts in milliseconds since 1970.
    private var minutes: [(start: Int64, times: Times)] = []
    /// The start of the first of the successive late minutes before the newest one, and their number.
    private var late: (since: Int64, minutes: Int)?

    /// Adds a time in milliseconds.
    mutating func add(_ time: Int64, of surface: String, at now: Int64) {
        let start = now - now % Self.minute
        if minutes.last?.start != start { begin(start) }
        minutes[minutes.count - 1].times.add(time, of: surface)
    }

    /// The successive late minutes with the newest one; nil if that is not late.
    private var lateWithNewest: (since: Int64, minutes: Int)? {
        guard let last = minutes.last, last.times.areLate else { return nil }
        return (since: late?.since ?? last.start, minutes: (late?.minutes ?? 0) + 1)
    }

    private mutating func begin(_ start: Int64) {
        late = lateWithNewest
        // Those of a clock that was set back are removed, too.
        minutes.removeAll { !(start - Self.window + 1..<start).contains($0.start) }
        if minutes.isEmpty { late = nil }
        minutes.append((start, Times()))
    }

    /// Returns the times of the last five minutes; nil without any.
    func recent(at now: Int64) -> Times? {
        let recent = minutes.filter { $0.start > now - Self.window }
        guard !recent.isEmpty else { return nil }
        return recent.reduce(into: Times()) { $0.add($1.times) }
    }

    /// Returns the time since which the pushes of each minute were late, of two minutes or more, in milliseconds since
    /// 1970; nil when they are not late.
    func lateSince(at now: Int64) -> Int64? {
        guard let last = minutes.last, recent(at: now) != nil else { return nil }
        // The newest minute counts once it is over, also without a push after it.
        let late = now < last.start + Self.minute ? late : lateWithNewest
        return late.flatMap { $0.minutes >= 2 ? $0.since : nil }
    }
}

extension SurfaceSessionState {
    /// Measures the times from changes of the surface until APNs accepted the pushes that show them.
    ///
    /// They have none of a phone that has reported something since the change, because the time would include the wait
    /// for the report.
    ///
    /// - Parameter results: The results of earlier pushes, which are not recorded yet.
    /// - Returns: The times by kind, in milliseconds.
    func staleness(of results: [SessionResult]) -> [SurfaceKind: Int64] {
        var times: [SurfaceKind: Int64] = [:]
        for result in results where result.state == .delivered {
            guard let push = pending.first(where: { $0.id == result.id }), let changedAt = push.changedAt else {
                continue
            }
            let (time, overflows) = result.endedAt.subtractingReportingOverflow(changedAt)
            if !overflows { times[push.kind] = max(0, time) }
        }
        return times
    }
}
