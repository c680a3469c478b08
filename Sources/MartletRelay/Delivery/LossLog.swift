// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

/// Sums the pushes that have expired or were abandoned, for one log line per lane, end and minute.
struct LossLog {
    /// The pushes of a lane that have ended in the same way since the last line about them.
    struct Losses: Hashable {
        var lane: Lane
        /// Expired or abandoned.
        var end: Outcome.State
        var count = 0
        /// Their number since the start of the relay.
        var total = 0
        /// The reason of the last one; nil without one.
        var reason: String?
        /// The time of the last line, in milliseconds since 1970; nil before the first one.
        fileprivate var loggedAt: Int64?
    }

    /// The shortest time between two lines, in milliseconds.
    static let interval: Int64 = 60_000

    private var losses: [Losses] = []

    /// Counts a push that has ended, unless it was neither expired nor abandoned.
    mutating func add(_ outcome: Outcome, of lane: Lane) {
        guard outcome.state == .expired || outcome.state == .dead else { return }
        let known = losses.firstIndex { $0.lane == lane && $0.end == outcome.state }
        if known == nil { losses.append(Losses(lane: lane, end: outcome.state)) }
        let index = known ?? losses.count - 1
        losses[index].count += 1
        losses[index].total += 1
        losses[index].reason = outcome.reason
    }

    /// Returns the losses to log now; at a shutdown also those that are otherwise summed for longer.
    mutating func take(at now: Int64, isLast: Bool = false) -> [Losses] {
        var due: [Losses] = []
        for (index, loss) in losses.enumerated() where loss.count > 0 {
            // A clock that was set back must not suppress lines.
            let isRecent = loss.loggedAt.map { (0..<LossLog.interval).contains(now - $0) } ?? false
            guard isLast || !isRecent else { continue }
            due.append(loss)
            losses[index].count = 0
            losses[index].loggedAt = now
        }
        return due
    }
}
