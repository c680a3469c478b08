// SPDX-License-Identifier: Apache-2.0

/// The maximum number of pushes that are claimed or in flight, which follows the number that can be sent in time.
///
/// A claimed push that is not on a connection soon goes back to the outbox, where the next claim checks its user again.
/// Such a push shows that too many are held, and halves the window. As many successes as the window has pushes make it
/// an eighth larger. It never gets so small that a few pushes without an answer stop the lane. A few held pushes do not
/// shrink it, because they may only wait for the first connection.
struct SendWindow: Sendable {
    /// The smallest size.
    static let least = 8

    private(set) var size: Int
    private let limit: Int
    /// The number of successes since the last change.
    private var successes = 0
    /// The time before which further returned pushes do not shrink the window, because they were sent before it shrank.
    private var nextShrink = Int64.min

    /// Creates a window with its largest size.
    init(limit: Int) {
        self.limit = max(1, limit)
        size = self.limit
    }

    /// Records that a push was taken from its queue in time, or answered by Apple.
    mutating func succeeded() {
        successes += 1
        guard successes >= size else { return }
        successes = 0
        size = min(limit, size + max(1, size / 8))
    }

    /// Records that a push was returned without having been sent, when this number of pushes was held.
    mutating func returned(of held: Int, at now: Int64) {
        guard now >= nextShrink, held > SendWindow.least else { return }
        successes = 0
        size = min(limit, max(SendWindow.least, min(size, held) / 2))
        nextShrink = now + DeliveryLane.holdTime
    }

    /// Moves the times back with a clock that was set back.
    mutating func setBack(by time: Int64) {
        if nextShrink > .min { nextShrink -= time }
    }
}
