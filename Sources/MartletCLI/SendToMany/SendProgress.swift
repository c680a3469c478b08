// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore

/// The progress of a bulk send, shown as a line of text.
struct SendProgress {
    private static let barWidth = 24

    var tally: SendTally
    /// The fraction of the list that has been read; nil if its length is not known.
    var share: Double?
    var seconds: Double

    /// The line: progress, rate, errors and the estimated remaining time.
    var line: String {
        let done = tally.outcomeCount
        let rate = seconds > 0 ? Double(done) / seconds : 0
        var parts = ["\(done.grouped) sent", "\(rate.shortText)/s"]
        let errors = reasons
        if !errors.isEmpty { parts.append(errors) }
        guard let share else { return parts.joined(separator: ", ") }
        let left = share > 0 ? seconds / share - seconds : 0
        if share < 1, seconds >= 1 { parts.append("\(left.shortText) s left") }
        let filled = Int(share * Double(Self.barWidth))
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: Self.barWidth - filled)
        return "\(bar) \(Int(share * 100)) %  " + parts.joined(separator: ", ")
    }

    /// The three most frequent reasons with their counts.
    private var reasons: String {
        var reasons = tally.refusals.map { (name: $0.key, count: $0.value) }
        if tally.unanswered > 0 { reasons.append(("unanswered", tally.unanswered)) }
        if tally.notSent > 0 { reasons.append(("not sent", tally.notSent)) }
        return reasons.sorted { ($1.count, $0.name) < ($0.count, $1.name) }.prefix(3)
            .map { "\($0.count.grouped) \($0.name)" }.joined(separator: ", ")
    }
}
