internal import MartletCore

extension Lint.Rule {
    static let activityTimestampOlder = Lint.Rule(
        "activity-timestamp-older",
        .error,
        .liveActivity,
        "the timestamp of a Live Activity push is before that of the content on screen"
    )
    static let activityTimestampRepeated = Lint.Rule(
        "activity-timestamp-repeated",
        .error,
        .liveActivity,
        "the timestamp of a Live Activity push is that of the content on screen"
    )
    static let activityAfterEnd = Lint.Rule(
        "activity-after-end",
        .error,
        .liveActivity,
        "a push about a Live Activity comes after its end"
    )
    static let activityTokenWrong = Lint.Rule(
        "activity-token-wrong",
        .error,
        .liveActivity,
        "a start goes to the token of a Live Activity, an update or end to a push-to-start token, or a push to a Live"
            + " Activity that only broadcasts update"
    )
}

/// A rule whose violation makes a Live Activity ignore a push; ``SimulatedDevice`` applies these rules.
enum ActivityRule: CaseIterable {
    case timestampOlder
    case timestampRepeated
    case afterEnd
    case tokenWrong

    var rule: Lint.Rule {
        switch self {
        case .timestampOlder: .activityTimestampOlder
        case .timestampRepeated: .activityTimestampRepeated
        case .afterEnd: .activityAfterEnd
        case .tokenWrong: .activityTokenWrong
        }
    }

    var place: Lint.Place {
        switch self {
        case .timestampOlder, .timestampRepeated: .payload("/aps/timestamp")
        case .afterEnd: .payload("/aps/event")
        case .tokenWrong: .header(":path")
        }
    }
}
