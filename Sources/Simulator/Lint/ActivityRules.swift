internal import APNs

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
}

/// A rule that a push breaks which a Live Activity ignores; ``SimulatedDevice`` applies them.
enum ActivityRule: CaseIterable {
    case timestampOlder
    case timestampRepeated
    case afterEnd

    var rule: Lint.Rule {
        switch self {
        case .timestampOlder: .activityTimestampOlder
        case .timestampRepeated: .activityTimestampRepeated
        case .afterEnd: .activityAfterEnd
        }
    }

    var place: Lint.Place { .payload(self == .afterEnd ? "/aps/event" : "/aps/timestamp") }
}
