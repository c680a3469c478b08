// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// A figure at the top of the status page.
struct StatusFigure: Sendable, Hashable {
    enum Tone: String, Sendable, CaseIterable {
        case normal
        case warning
        case bad
    }

    var name: String
    /// The value as text.
    var value: String
    /// The meaning of the value in words.
    var note: String
    var tone = Tone.normal

    var json: JSONValue {
        ["name": .string(name), "value": .string(value), "note": .string(note), "tone": .string(tone.rawValue)]
    }
}

extension StatusFacts {
    /// The ages of the oldest due push from which its figure is a warning and bad, in milliseconds.
    private static let ages: (warning: Int64, bad: Int64) = (60_000, 300_000)
    /// The shares of failed attempts from which their figure is a warning and bad.
    private static let shares: (warning: Double, bad: Double) = (0.1, 0.5)
    private static let unreadable = "the stored pushes cannot be read"

    /// The figures that matter first, over all lanes, and over all surfaces if there are some.
    var figures: [StatusFigure] {
        let delivered = lanes.map(\.counts.deliveredRate).reduce(0, +)
        let figures = [
            waitingFigure, oldestFigure,
            StatusFigure(
                name: "Delivered a second",
                value: StatusText.rate(delivered),
                note: "accepted by Apple, mean of ten seconds"
            ),
            failingFigure,
        ]
        return figures + [surfaceFigure].compactMap(\.self)
    }

    private var waitingFigure: StatusFigure {
        let counts = lanes.compactMap(\.waiting)
        guard counts.count == lanes.count else {
            return StatusFigure(name: "Waiting", value: "unknown", note: StatusFacts.unreadable)
        }
        let retrying = lanes.filter { $0.state != .paused }.map(\.retrying).reduce(0, +)
        let notes = [
            retrying > 0 ? "\(retrying.counted("push")) being sent again" : nil,
            blocked > 0 ? "\(blocked.grouped) behind others" : nil,
        ].compactMap(\.self)
        return StatusFigure(
            name: "Waiting",
            value: counts.reduce(0, +).grouped,
            note: notes.isEmpty ? "pushes stored and not in flight" : notes.joined(separator: ", ")
        )
    }

    /// The number of pushes that wait behind others.
    private var blocked: Int { lanes.map(\.blocked).reduce(0, +) }

    /// The note about the oldest push while none is due.
    private var noneDue: String {
        blocked == 0 ? "no push is due" : "no push is due, \(blocked.grouped) wait behind others"
    }

    private var oldestFigure: StatusFigure {
        guard lanes.allSatisfy({ $0.backlog != nil }) else {
            return StatusFigure(name: "Oldest", value: "unknown", note: StatusFacts.unreadable)
        }
        guard let age = lanes.compactMap({ $0.oldestAge(at: now) }).max() else {
            return StatusFigure(name: "Oldest", value: "–", note: noneDue)
        }
        return StatusFigure(
            name: "Oldest",
            value: StatusText.duration(age),
            note: "since the push that is due longest became due",
            tone: age >= StatusFacts.ages.bad ? .bad : age >= StatusFacts.ages.warning ? .warning : .normal
        )
    }

    private var failingFigure: StatusFigure {
        let attempts = lanes.map(\.counts.recentAttempts).reduce(0, +)
        let failures = lanes.map(\.counts.recentFailures).reduce(0, +)
        let periods = [
            "in the last minute", lanes.contains { $0.problem != nil } ? "since the outage was noticed" : nil,
            lanes.contains(where: \.isCountedSinceOutage) ? "since the last outage ended" : nil,
        ]
        let period = periods.compactMap(\.self).joined(separator: ", or ")
        guard attempts > 0 else { return StatusFigure(name: "Failing", value: "–", note: "no attempts \(period)") }
        let share = min(1, Double(failures) / Double(attempts))
        // Failures in development alone are no alarm for a relay that also delivers to customers.
        let isInDevelopment =
            lanes.contains { $0.lane.environment == .production }
            && lanes.allSatisfy { $0.lane.environment == .development || $0.counts.recentFailures == 0 }
        let place = isInDevelopment && failures > 0 ? ", all in development," : ""
        let bad: StatusFigure.Tone = isInDevelopment ? .warning : .bad
        return StatusFigure(
            name: "Failing",
            value: StatusText.percentage(share),
            note: "\(failures.grouped) of \(attempts.counted("attempt"))\(place) \(period)",
            tone: share >= StatusFacts.shares.bad ? bad : share >= StatusFacts.shares.warning ? .warning : .normal
        )
    }
}
