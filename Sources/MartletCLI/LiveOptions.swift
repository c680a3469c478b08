// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Option where Value == String {
    /// The option for the app of a push or a channel.
    static var topic: Option<String> { Option("--topic", "Bundle identifier of the app") }
}

/// The options for the running activity that a push updates.
struct LiveTarget: Sendable {
    let token: DeviceToken
    let topic: Topic

    static let declared = Group(
        Option<DeviceToken>("--to", "Token of the activity, hexadecimal"),
        Option<String>.topic
    ) { LiveTarget(token: $0, topic: Topic($1)) }
}

/// The options that accompany the content of a Live Activity.
struct LiveContentOptions: Sendable {
    var staleDate: TimeArgument?
    var relevanceScore: Double?

    static let declared = Group(
        Option<TimeArgument?>(
            "--stale-date",
            "Time from which the content is outdated: seconds since 1970, a date and time such as "
                + "2030-01-01T00:00:00Z, or a duration such as +1h"
        ),
        Option<FiniteNumber?>("--relevance-score", "Relevance score; the activity with the highest score is shown")
    ) { LiveContentOptions(staleDate: $0, relevanceScore: $1?.value) }
}

/// The options for the delivery of a push about a Live Activity.
struct LiveDeliveryOptions: Sendable {
    var priority: LiveActivityPriority?
    var expiration: TimeArgument?
    var timestamp: TimeArgument?

    static let declared = Group(
        Option<LiveActivityPriority?>(
            "--priority",
            "10 immediately, 5 considering power; by default 10 to start an activity, otherwise 5"
        ),
        Option<TimeArgument?>("--expiration", TimeArgument.expirationHelp),
        Option<TimeArgument?>(
            "--timestamp",
            "Timestamp, later than that of the previous update; by default the current time"
        )
    ) { LiveDeliveryOptions(priority: $0, expiration: $1, timestamp: $2) }

    /// Prints the findings about the expiration of a push that is sent.
    func printNotes() {
        let headers = PushHeaders(expiration: expiration.map { String($0.expiration.secondsSince1970) })
        for finding in PushLint.notes(headers: headers, at: Date()) where finding.place == .header("apns-expiration") {
            Terminal.errors.write("\(finding)\n")
        }
    }
}

/// The whole seconds that are the timestamps of Live Activities.
enum LiveTimestamp {
    /// Waits for the next second, so that a command that runs after this one sends a later timestamp.
    ///
    /// A device ignores an update with the timestamp of the one before.
    static func waitForNext() async throws {
        let now = Date().timeIntervalSince1970
        try await Task.sleep(for: .seconds(now.rounded(.down) + 1 - now))
    }
}

/// The time at which an ended activity is removed from the Lock Screen.
enum DismissalTime: String, CaseIterable, ArgumentValue {
    case now
    case system
}

/// A JSON object on the command line.
struct JSONObject: ArgumentValue {
    let value: JSONValue

    init(argument: String) throws(UsageError) {
        value = try JSONValue(Array(argument.utf8))
        guard value.members != nil else { throw UsageError("must be a JSON object") }
    }

    static var valueName: String { "json" }
}
