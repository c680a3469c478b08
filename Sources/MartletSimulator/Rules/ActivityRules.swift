// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

extension Lint.Rule {
    static let activityTimestampOlder = Lint.Rule("activity-timestamp-older", .error, .liveActivity)
        .when("the timestamp of a Live Activity push is before that of the content on screen")
    static let activityTimestampRepeated = Lint.Rule("activity-timestamp-repeated", .error, .liveActivity)
        .when("the timestamp of a Live Activity push is that of the content on screen")
    static let activityAfterEnd = Lint.Rule("activity-after-end", .error, .liveActivity)
        .when("a push about a Live Activity comes after its end")
    static let activityTokenWrong = Lint.Rule("activity-token-wrong", .error, .liveActivity)
        .when(
            "a start goes to the token of a Live Activity, an update or end to a push-to-start token, or a push to a"
                + " Live Activity that only broadcasts update"
        )
}

/// The rules whose violation makes a Live Activity ignore a push; ``SimulatedDevice`` applies them.
enum ActivityRules {
    static let all: [Lint.Rule] = [
        .activityTimestampOlder, .activityTimestampRepeated, .activityAfterEnd, .activityTokenWrong,
    ]

    /// Returns the place of a violation.
    static func place(of rule: Lint.Rule) -> Lint.Place {
        switch rule {
        case .activityAfterEnd: .payload("/aps/event")
        case .activityTokenWrong: .header(":path")
        default: .payload("/aps/timestamp")
        }
    }
}
