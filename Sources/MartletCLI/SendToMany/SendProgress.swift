import MartletCommands

/// The progress of a bulk send, shown as a line of text.
struct SendProgress {
    /// The state that a line shows.
    struct Moment {
        var tally: SendTally
        /// The fraction of the list that has been read; nil if its length is not known.
        var share: Double?
        var seconds: Double
    }

    private static let barWidth = 24

    /// Returns the line: progress, rate, errors and the estimated remaining time.
    static func line(_ moment: Moment) -> String {
        let tally = moment.tally
        let done = tally.answered + tally.unanswered + tally.notSent
        let rate = moment.seconds > 0 ? Double(done) / moment.seconds : 0
        var parts = ["\(done.grouped) sent", "\(rate.shortText)/s"]
        let errors = reasons(of: tally)
        if !errors.isEmpty { parts.append(errors) }
        guard let share = moment.share else { return parts.joined(separator: ", ") }
        let left = share > 0 ? moment.seconds / share - moment.seconds : 0
        if share < 1, moment.seconds >= 1 { parts.append("\(left.shortText) s left") }
        let filled = Int(share * Double(barWidth))
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: barWidth - filled)
        return "\(bar) \(Int(share * 100)) %  " + parts.joined(separator: ", ")
    }

    /// Returns the three most frequent reasons with their counts.
    private static func reasons(of tally: SendTally) -> String {
        var reasons = tally.refusals.map { (name: $0.key, count: $0.value) }
        if tally.unanswered > 0 { reasons.append(("unanswered", tally.unanswered)) }
        if tally.notSent > 0 { reasons.append(("not sent", tally.notSent)) }
        return reasons.sorted { ($1.count, $0.name) < ($0.count, $1.name) }.prefix(3)
            .map { "\($0.count.grouped) \($0.name)" }.joined(separator: ", ")
    }

    /// Shows the line until the task is cancelled: in place on a terminal every 100 ms, otherwise as a new line every 5
    /// s.
    static func show(on terminal: Terminal, _ moment: @Sendable () throws -> Moment) async throws {
        while !Task.isCancelled {
            try? await Task.sleep(for: terminal.isInteractive ? .milliseconds(100) : .seconds(5))
            let line = line(try moment())
            if Task.isCancelled { break }
            terminal.write(terminal.isInteractive ? "\r\u{1B}[2K\(line)" : line + "\n")
        }
        if terminal.isInteractive { terminal.write("\r\u{1B}[2K") }
    }
}
