// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The numbers of accepted pushes that have ended without being delivered, except cancelled and superseded ones.
struct LossCounts: Sendable, Hashable {
    var expired = 0
    /// The pushes that became dead letters.
    var abandoned = 0
    /// The pushes that were refused for good.
    var refused = 0

    var total: Int { expired + abandoned + refused }

    /// The numbers as text; nil without losses.
    var text: String? { total > 0 ? parts().joined(separator: ", ") : nil }

    /// Returns each number that is not 0 as a part of a sentence, such as "5 pushes have expired".
    ///
    /// - Parameter namesPushes: False for parts that follow a number of pushes, such as "5 have expired".
    /// - Returns: The parts; none without losses.
    func parts(namesPushes: Bool = true) -> [String] {
        let numbers = [
            (expired, "has expired", "have expired"), (abandoned, "was abandoned", "were abandoned"),
            (refused, "was refused", "were refused"),
        ]
        return numbers.filter { $0.0 > 0 }.map { count, one, many in
            namesPushes ? count.counted("push \(one)", "pushes \(many)") : count.counted(one, many)
        }
    }

    static func + (left: LossCounts, right: LossCounts) -> LossCounts {
        LossCounts(
            expired: left.expired + right.expired,
            abandoned: left.abandoned + right.abandoned,
            refused: left.refused + right.refused
        )
    }

    /// Returns the differences, and 0 in place of those that are negative.
    static func - (left: LossCounts, right: LossCounts) -> LossCounts {
        LossCounts(
            expired: max(0, left.expired - right.expired),
            abandoned: max(0, left.abandoned - right.abandoned),
            refused: max(0, left.refused - right.refused)
        )
    }
}

extension LossCounts {
    /// Creates the numbers from those of all outcomes.
    init(_ outcomes: [Outcome.State: Int]) {
        self.init(
            expired: outcomes[.expired, default: 0],
            abandoned: outcomes[.dead, default: 0],
            refused: outcomes[.refused, default: 0]
        )
    }
}

/// Pushes of a lane that have ended without being delivered, and the time in which they were lost.
///
/// A push is lost when it expires, which may be long before its end is stored, and otherwise when it ends. The times
/// are milliseconds since 1970.
struct Loss: Sendable, Hashable {
    var lane: Lane
    var counts: LossCounts
    /// The earliest and the latest possible time; the same if the time is known.
    var from: Int64
    var to: Int64
    /// Whether the pushes were lost because they were damaged, which no other problem causes.
    var isDamage = false
}

/// The losses that have not been assigned to a problem yet.
struct RecentLosses: Sendable {
    private var losses: [Loss] = []

    /// Adds a push that has ended, unless it was delivered, cancelled or superseded.
    mutating func add(_ outcome: Outcome, of lane: Lane, from: Int64, to: Int64) {
        let counts = LossCounts([outcome.state: 1])
        guard counts.total > 0 else { return }
        let isDamage = outcome.reason == Outcome.damagedReason
        // Pushes that end together often have the same times.
        if let last = losses.last, last.lane == lane, last.from == from, last.to == to, last.isDamage == isDamage {
            losses[losses.count - 1].counts = last.counts + counts
        } else {
            losses.append(Loss(lane: lane, counts: counts, from: from, to: to, isDamage: isDamage))
        }
    }

    /// Removes and returns all losses.
    mutating func take() -> [Loss] {
        defer { losses = [] }
        return losses
    }
}
