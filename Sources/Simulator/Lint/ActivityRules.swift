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

/// The rules about pushes that a Live Activity on a simulated device ignores; ``SimulatedDevice`` applies them.
enum ActivityRules {
    static let all: [Lint.Rule] = [.activityTimestampOlder, .activityTimestampRepeated, .activityAfterEnd]
}
