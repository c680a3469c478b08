// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The forms of numbers, times and names in the texts about the state of a relay.
package enum StatusText {
    /// The maximum number of names in a list; further ones are counted.
    private static let nameLimit = 4

    /// Returns names as a list, such as `orders, rides and 3 more`.
    static func list(_ names: [String]) -> String {
        var names = names
        if names.count > nameLimit {
            names = names.prefix(nameLimit - 1) + ["\(names.count - nameLimit + 1) more"]
        }
        guard let last = names.last, names.count > 1 else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " and " + last
    }

    /// Returns a number per second, below ten to a tenth.
    package static func rate(_ rate: Double) -> String {
        // The bound is far above any rate, and prevents the conversions from trapping.
        let rate = min(max(0, rate), 1e15)
        let (whole, tenth) = Int((rate * 10).rounded()).quotientAndRemainder(dividingBy: 10)
        return whole >= 10 ? Int(rate.rounded()).grouped : tenth == 0 ? "\(whole)" : "\(whole).\(tenth)"
    }

    /// Returns a share from 0 to 1 in percent; only none and all are shown as 0 and 100.
    static func percentage(_ share: Double) -> String {
        guard share > 0, share < 1 else { return share < 1 ? "0 %" : "100 %" }
        return share < 0.01 ? "<1 %" : share > 0.99 ? ">99 %" : "\(Int((share * 100).rounded())) %"
    }

    /// Returns a duration in milliseconds, rounded to its largest units; a negative one is 0.
    package static func duration(_ milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds) / 1_000
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3_600: return "\(seconds / 60) min"
        case ..<86_400:
            let minutes = seconds % 3_600 / 60
            return "\(seconds / 3_600) h" + (minutes == 0 ? "" : " \(minutes) min")
        default: return (seconds / 86_400).counted("day")
        }
    }

    /// Returns a duration in milliseconds, below ten seconds to a tenth of a second, such as `0.4 s`.
    static func shortDuration(_ milliseconds: Int64) -> String {
        guard milliseconds < 10_000 else { return duration(milliseconds) }
        return milliseconds < 100 ? "<0.1 s" : rate(Double(milliseconds) / 1_000) + " s"
    }

    /// Returns a duration in milliseconds, below an hour to a second, such as `2 min 59 s`.
    static func exactDuration(_ milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds) / 1_000
        guard (60..<3_600).contains(seconds), seconds % 60 != 0 else { return duration(milliseconds) }
        return "\(seconds / 60) min \(seconds % 60) s"
    }

    /// Returns a time in milliseconds since 1970, in UTC, with its date if that is another one than today's.
    static func time(_ time: Int64, at now: Int64) -> String {
        let (text, today) = (Timestamp.text(time), Timestamp.text(now))
        let clock = text.dropFirst(11).prefix(5)
        return text.prefix(10) == today.prefix(10) ? "\(clock) UTC" : "\(text.prefix(10)) \(clock) UTC"
    }

    /// Returns a text with an upper-case first letter and a final period.
    static func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + (text.hasSuffix(".") ? "" : ".")
    }
}
