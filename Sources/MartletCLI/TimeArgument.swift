// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import Martlet
import MartletCommands
import MartletCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A time on the command line: seconds since 1970, a date of RFC 3339, or a duration from now such as `+1h30m`.
struct TimeArgument: ArgumentValue, Equatable {
    private enum Time: Equatable {
        case at(Date)
        case after(Duration)
    }

    /// The help of `--expiration`, shared by all commands.
    static let expirationHelp =
        "Time until which APNs stores the push: seconds since 1970, a date and time such as 2030-01-01T00:00:00Z, "
        + "or a duration such as +1h; "
        + "0 for one attempt"

    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
    /// The longest duration from now, in days, which prevents overflow of any sum.
    private static let longestDays: Int64 = 36_500

    private let time: Time

    /// Parses a time.
    init(argument: String) throws(UsageError) {
        if argument.hasPrefix("+") {
            guard let seconds = TimeArgument.seconds(of: argument.dropFirst()) else {
                throw TimeArgument.rule(argument)
            }
            time = .after(.seconds(seconds))
        } else if let seconds = Int64(argument), seconds >= 0 {
            time = .at(Date(timeIntervalSince1970: Double(seconds)))
        } else if let date = SurfaceDate(rawValue: argument).date {
            time = .at(date)
        } else {
            throw TimeArgument.rule(argument)
        }
    }

    static var valueName: String { "time" }

    /// Returns the date, for a command that runs at `now`.
    func date(at now: Date = Date()) -> Date {
        switch time {
        case .at(let date): date
        case .after(let duration): now + Double(duration.components.seconds)
        }
    }

    /// The time until which APNs stores a push; 0 for a single attempt.
    var expiration: PushNotification.Expiration { .at(date()) }

    /// Returns the sum of numbers with units, as in `1h30m`; nil for other text.
    private static func seconds(of text: Substring) -> Int64? {
        var sum: Int64 = 0
        var digits = ""
        guard !text.isEmpty else { return nil }
        for character in text {
            if character.isASCII, character.isNumber {
                digits.append(character)
                continue
            }
            guard let unit = units[character], let number = Int64(digits), number <= longestDays * 86_400 else {
                return nil
            }
            let (product, overflows) = number.multipliedReportingOverflow(by: unit)
            guard !overflows, product <= longestDays * 86_400 else { return nil }
            sum += product
            digits = ""
        }
        return digits.isEmpty && sum <= longestDays * 86_400 ? sum : nil
    }

    private static func rule(_ text: String) -> UsageError {
        UsageError(
            "must be seconds since 1970, a date and time such as 2026-11-22T18:30:00Z, or a duration such as +1h30m "
                + "(found \(ShownValue.quoted(text)))"
        )
    }
}
