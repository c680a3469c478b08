// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

extension PushLint.Rule {
    static let activityTimestampOlder = PushLint.Rule("activity-timestamp-older", .error, .liveActivity)
        .when("the timestamp of an update of a Live Activity is before that of the content on screen")
    static let activityTimestampRepeated = PushLint.Rule("activity-timestamp-repeated", .error, .liveActivity)
        .when("the timestamp of an update of a Live Activity is that of the content on screen")
    static let activityEndNotNewer = PushLint.Rule("activity-end-not-newer", .warning, .liveActivity)
        .when(
            "the timestamp of an end of a Live Activity is not after that of the content on screen; Apple does not"
                + " document its effect"
        )
    static let activityAfterEnd = PushLint.Rule("activity-after-end", .error, .liveActivity)
        .when("a push about a Live Activity comes after its end")
    static let activityTokenWrong = PushLint.Rule("activity-token-wrong", .error, .liveActivity)
        .when(
            "a start goes to the token of a Live Activity, an update or end to a push-to-start token, or a push to a"
                + " Live Activity that only broadcasts update"
        )
    static let activityDeviceToken = PushLint.Rule("activity-device-token", .error, .liveActivity)
        .when("a push for a Live Activity goes to the token of a device")
}

/// The rules that ``SimulatedDevice`` applies to a push for a Live Activity, besides those of contracts: the activity
/// ignores a push that breaks one of them, except `activityEndNotNewer`.
enum ActivityRules {
    static let all: [PushLint.Rule] = [
        .activityTimestampOlder, .activityTimestampRepeated, .activityEndNotNewer, .activityAfterEnd,
        .activityTokenWrong, .activityDeviceToken,
    ]

    /// Returns the place of a violation of one of these rules, or of a contract.
    static func place(of rule: PushLint.Rule) -> PushLint.Place {
        switch rule {
        case .activityAfterEnd: .payload("/aps/event")
        case .activityTokenWrong, .activityDeviceToken: .header(":path")
        case .contractContentState: .payload("/aps/content-state")
        case .contractAttributes: .payload("/aps/attributes")
        default: .payload("/aps/timestamp")
        }
    }
}
