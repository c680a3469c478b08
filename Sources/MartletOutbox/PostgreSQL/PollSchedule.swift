// SPDX-License-Identifier: Apache-2.0

/// The schedule of polls for due pushes: the interval, and whether a poll searches all times or only new ones.
struct PollSchedule {
    /// The time for which this node polls often after it had work.
    private static let busyTime = Duration.seconds(1)
    private static let busyInterval = Duration.milliseconds(100)
    private static let idleInterval = Duration.seconds(1)
    /// The minimum interval between complete polls, which find pushes that became visible very late.
    private static let completeInterval = Duration.seconds(5)
    /// The minimum interval between complete polls as a multiple of the duration of the last one.
    private static let completeFactor = 20

    private var lastWork = ContinuousClock.now
    private var nextComplete = ContinuousClock.now
    /// Whether the database knows that this node is idle, so that others notify it of new pushes.
    var isReportedIdle = false
    var isPolling = false

    /// Records that this node has work.
    mutating func recordWork() { lastWork = .now }

    /// Whether there has been no work for ``busyTime``.
    var isIdle: Bool { ContinuousClock.now - lastWork > Self.busyTime }

    /// The time until the next poll.
    var interval: Duration { isReportedIdle && isIdle ? Self.idleInterval : Self.busyInterval }

    /// Whether the next poll searches all times and not only new ones.
    var isCompleteDue: Bool { ContinuousClock.now >= nextComplete }

    /// Schedules the complete poll after one that took this time.
    mutating func recordCompletePoll(lasting time: Duration) {
        nextComplete = .now + max(Self.completeInterval, time * Self.completeFactor)
    }
}
