// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The origin of a Live Activity.
public enum ActivityStarter: String, Sendable, Hashable, CaseIterable, Codable {
    /// The app.
    case app
    /// A push.
    case push
    /// A push that started it with a channel, so that it has no token.
    case channel
}

/// The cause of the end of a Live Activity.
///
/// Source: "Displaying live data with Live Activities".
public enum ActivityEndCause: String, Sendable, Hashable, CaseIterable, Codable {
    /// The user has removed it.
    case user
    /// The app, or a push, has ended it.
    case app
    /// The system has ended it, as it does after eight hours.
    case system

    /// The time after which an activity has been ended by the system, in milliseconds: eight hours without five
    /// minutes, because an app learns later of an activity that a push has started.
    private static let longestTime: Int64 = 8 * 3_600_000 - 300_000

    /// Derives the cause of an end that the app has not reported itself.
    ///
    /// - Parameters:
    ///   - isDismissed: Whether the activity was removed from the screen without an end before, as the user does it. An
    ///     ended activity stays on the screen.
    ///   - start: The time of the start in milliseconds since 1970; nil if it is not known.
    ///   - end: The time of the end in milliseconds since 1970.
    init(isDismissed: Bool, startedAt start: Int64?, endedAt end: Int64) {
        let (time, overflows) = end.subtractingReportingOverflow(start ?? end)
        self = !overflows && time >= Self.longestTime ? .system : isDismissed ? .user : .app
    }
}

/// A Live Activity as the phone reports it.
struct ReportedActivity: Sendable, Hashable, Codable {
    /// The end of an activity.
    struct End: Sendable, Hashable, Codable {
        let cause: ActivityEndCause
        /// Milliseconds since 1970.
        let time: Int64
    }

    var surface: String
    /// Milliseconds since 1970.
    var startedAt: Int64?
    var startedBy: ActivityStarter?
    /// The digits of the token; nil while the system has issued none.
    var token: String?
    /// The end; nil while the activity runs.
    var end: End?

    /// The activity as a JSON Merge Patch, in which null takes back an end.
    var json: JSONValue {
        .members([
            "surface": .string(surface), "token": token.map { JSONValue.string($0) },
            "started-at": startedAt.map { JSONValue.integer($0) },
            "started-by": startedBy.map { JSONValue.string($0.rawValue) },
            "ended": end.map { JSONValue.members(["cause": .string($0.cause.rawValue), "at": .integer($0.time)]) }
                ?? JSONValue.null,
        ])
    }
}

extension ReportedActivity {
    /// Reads an activity that runs from an installation in an answer of the relay; nil for another one.
    init?(reading value: JSONValue) {
        guard let surface = value["surface"]?.stringValue, value["ended"]?.members == nil else { return nil }
        self.init(
            surface: surface,
            startedAt: value["started-at"]?.integerValue,
            startedBy: value["started-by"]?.stringValue.flatMap(ActivityStarter.init(rawValue:)),
            token: value["token"]?.stringValue
        )
    }
}
