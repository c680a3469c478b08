// SPDX-License-Identifier: Apache-2.0

import MartletCore

extension RuleCase {
    private static let aps = "payload/aps"

    /// Cases of rules about Live Activities, widgets and controls.
    static let activities: [RuleCase] = [
        RuleCase(
            "activity-timestamp-missing",
            aps,
            .activity(#""event":"update","content-state":{}"#),
            near: .activity(#""timestamp":1,"event":"update","content-state":{}"#)
        ),
        RuleCase(
            "value-wrong-type",
            "\(aps)/timestamp",
            .activity(#""timestamp":"1700000000","event":"update","content-state":{}"#),
            near: .activity(#""timestamp":1700000000,"event":"update","content-state":{}"#)
        ),
        RuleCase(
            "value-wrong-type",
            "\(aps)/timestamp",
            .activity(#""timestamp":1700000000.5,"event":"update","content-state":{}"#),
            near: .activity(#""timestamp":1700000001,"event":"update","content-state":{}"#)
        ),
        RuleCase(
            "activity-timestamp-not-positive",
            "\(aps)/timestamp",
            .activity(#""timestamp":0,"event":"update","content-state":{}"#),
            near: .activity(#""timestamp":1,"event":"update","content-state":{}"#)
        ),
        RuleCase(
            "activity-timestamp-not-positive",
            "\(aps)/timestamp",
            .activity(#""timestamp":-1700000000,"event":"update","content-state":{}"#),
            near: .activity(#""timestamp":1700000000,"event":"update","content-state":{}"#)
        ),
        RuleCase(
            "activity-attributes-type-empty",
            "\(aps)/attributes-type",
            .start(#""attributes-type":"","attributes":{},"alert":"x""#),
            near: .start(#""attributes-type":"A","attributes":{},"alert":"x""#)
        ),
        RuleCase(
            "activity-time-in-milliseconds",
            "\(aps)/timestamp",
            .activity(#""timestamp":1700000000000,"event":"update","content-state":{}"#),
            near: .activity(#""timestamp":1700000000,"event":"update","content-state":{}"#)
        ),
        RuleCase(
            "activity-time-in-milliseconds",
            "\(aps)/stale-date",
            .update(#""stale-date":1700000600000"#),
            near: .update(#""stale-date":64092211200"#)
        ),
        RuleCase(
            "activity-time-in-milliseconds",
            "\(aps)/dismissal-date",
            end(#""dismissal-date":1700000600000"#),
            near: end(#""dismissal-date":1700000600"#)
        ),
        RuleCase(
            "value-wrong-type",
            "\(aps)/stale-date",
            .update(#""stale-date":"soon""#),
            near: .update(#""stale-date":1"#)
        ),
        RuleCase(
            "value-wrong-type",
            "\(aps)/dismissal-date",
            end(#""dismissal-date":"2026-05-12T18:31:00Z""#),
            near: end(#""dismissal-date":1"#)
        ),
        RuleCase(
            "activity-timestamp-ahead",
            "\(aps)/timestamp",
            .update(#""stale-date":1"#, time: 1_700_000_000 - 601),
            near: .update(#""stale-date":1"#, time: 1_700_000_000 - 600)
        ),
        RuleCase(
            "activity-timestamp-ahead",
            "\(aps)/timestamp",
            .update(#""stale-date":1"#, time: .min),
            near: .update(#""stale-date":1"#)
        ),
        RuleCase(
            "activity-event-missing",
            aps,
            .activity(#""timestamp":1,"content-state":{}"#),
            near: .activity(#""timestamp":1,"event":"update","content-state":{}"#)
        ),
        RuleCase(
            "activity-event-unknown",
            "\(aps)/event",
            .activity(#""timestamp":1,"event":"Update","content-state":{}"#),
            near: end(#""stale-date":1"#)
        ),
        RuleCase(
            "value-wrong-type",
            "\(aps)/event",
            .activity(#""timestamp":1,"event":1,"content-state":{}"#),
            near: end(#""alert":"x""#)
        ),
        RuleCase("activity-start-incomplete", aps, .start(#""attributes":{},"alert":"x""#), near: whole),
        RuleCase("activity-start-incomplete", aps, .start(#""attributes-type":"A","alert":"x""#), near: whole),
        RuleCase("activity-start-incomplete", aps, .start(#""attributes-type":"A","attributes":{}"#), near: whole),
        RuleCase(
            "value-wrong-type",
            "\(aps)/attributes-type",
            .start(#""attributes-type":1,"attributes":{},"alert":"x""#),
            near: whole
        ),
        RuleCase(
            "value-wrong-type",
            "\(aps)/attributes",
            .start(#""attributes-type":"A","attributes":"B","alert":"x""#),
            near: whole
        ),
        RuleCase(
            "value-wrong-type",
            "\(aps)/input-push-channel",
            .start(#""attributes-type":"A","attributes":{},"alert":"x","input-push-channel":1"#),
            near: .start(#""attributes-type":"A","attributes":{},"alert":"x","input-push-channel":"YQ==""#)
        ),
        RuleCase(
            "activity-state-missing",
            aps,
            .activity(#""timestamp":1,"event":"update""#),
            near: .activity(#""timestamp":1,"event":"end","dismissal-date":1"#)
        ),
        RuleCase(
            "value-wrong-type",
            "\(aps)/content-state",
            .activity(#""timestamp":1,"event":"update","content-state":"x""#),
            near: .activity(#""timestamp":1,"event":"update","content-state":{"x":"y"}"#)
        ),
        RuleCase(
            "activity-end-without-state",
            aps,
            .activity(#""timestamp":1,"event":"end""#),
            near: .activity(#""timestamp":1,"event":"end","dismissal-date":0"#)
        ),
        RuleCase(
            "activity-dismissal-late",
            "\(aps)/dismissal-date",
            end(#""dismissal-date":1700014401"#),
            near: end(#""dismissal-date":1700014400"#)
        ),
        RuleCase(
            "activity-dismissal-before-end",
            "\(aps)/dismissal-date",
            .update(#""dismissal-date":1700000600"#),
            near: end(#""dismissal-date":1700000600"#)
        ),
        RuleCase("activity-attributes-after-start", "\(aps)/attributes", .update(#""attributes":{}"#), near: whole),
        RuleCase(
            "activity-attributes-after-start",
            "\(aps)/attributes-type",
            end(#""attributes-type":"A""#),
            near: whole
        ),
        RuleCase(
            "activity-update-immediate",
            "apns-priority",
            .update(#""stale-date":1"#).with(\.priority, "10"),
            near: .update(#""alert":{"title":"x","body":"y"}"#).with(\.priority, "10")
        ),
        RuleCase(
            "activity-update-immediate",
            "apns-priority",
            .update(#""stale-date":1"#).with(\.priority, nil),
            near: end(#""stale-date":1"#).with(\.priority, nil)
        ),
        RuleCase(
            "activity-input-twice",
            "\(aps)/input-push-channel",
            .start(wholeStart + #","input-push-token":1,"input-push-channel":"YQ==""#),
            near: .start(wholeStart + #","input-push-channel":"YQ==""#)
        ),
        RuleCase(
            "activity-input-twice",
            "\(aps)/input-push-channel",
            .start(wholeStart + #","input-push-token":1,"input-push-channel":"YQ==""#),
            near: .start(wholeStart + #","input-push-token":1"#)
        ),
        RuleCase(
            "activity-input-after-start",
            "\(aps)/input-push-token",
            .update(#""input-push-token":1"#),
            near: .start(wholeStart + #","input-push-token":1"#)
        ),
        RuleCase(
            "activity-input-after-start",
            "\(aps)/input-push-channel",
            end(#""input-push-channel":"YQ==""#),
            near: .start(wholeStart + #","input-push-channel":"YQ==""#)
        ),
        RuleCase("activity-key-ignored", "\(aps)/badge", .update(#""badge":1"#), near: .beside(#""badge":1"#)),
        RuleCase(
            "activity-key-ignored",
            "\(aps)/content-available",
            .update(#""content-available":1"#),
            near: .beside(#""content-available":1"#)
        ),
        RuleCase(
            "activity-key-ignored",
            "\(aps)/sound",
            .update(#""sound":"default","alert":{"title":"x","body":"y"}"#),
            near: .update(#""alert":{"title":"x","body":"y","sound":"default"}"#)
        ),
        RuleCase(
            "activity-state-missing",
            aps,
            LintedPush(nil, #"{"aps":{"timestamp":1,"event":"update"}}"#, priority: "5", topic: activityTopic),
            near: LintedPush(
                nil,
                #"{"aps":{"timestamp":1,"event":"update","content-state":{}}}"#,
                priority: "5",
                topic: activityTopic
            ),
            others: ["push-type-missing"]
        ),
        RuleCase(
            "activity-timestamp-missing",
            aps,
            LintedPush("liveactivity", "{}"),
            near: .activity(#""timestamp":1,"event":"update","content-state":{}"#),
            others: ["aps-missing", "activity-event-missing"]
        ),
        RuleCase(
            "activity-event-missing",
            aps,
            LintedPush("liveactivity", #"{"n":1}"#),
            near: .activity(#""timestamp":1,"event":"update","content-state":{}"#),
            others: ["aps-missing", "activity-timestamp-missing"]
        ),
        RuleCase(
            "reload-without-content-changed",
            aps,
            LintedPush("widgets", "{}"),
            near: .aps(#""content-changed":true"#, "widgets"),
            others: ["aps-missing"]
        ),
        RuleCase(
            "reload-without-content-changed",
            aps,
            LintedPush("controls", "{}"),
            near: .aps(#""content-changed":true"#, "controls"),
            others: ["aps-missing"]
        ),
        RuleCase(
            "activity-attributes-equal-state",
            "\(aps)/attributes",
            .start(#""attributes-type":"A","attributes":{"n":1},"alert":"x""#),
            near: whole
        ),
        RuleCase(
            "activity-attributes-keyed-as-state",
            "\(aps)/attributes",
            .start(#""attributes-type":"A","attributes":{"n":2},"alert":"x""#),
            near: .start(#""attributes-type":"A","attributes":{"n":1,"m":2},"alert":"x""#)
        ),
        RuleCase(
            "activity-null",
            "\(aps)/content-state/a/1/b",
            .state(#""a":[{},{"b":null}]"#),
            near: .state(#""a":[{},{}]"#)
        ),
        RuleCase(
            "activity-null",
            "\(aps)/attributes/a",
            .start(#""attributes-type":"A","attributes":{"a":null},"alert":"x""#),
            near: .start(#""attributes-type":"A","attributes":{"a":0},"alert":"x""#)
        ),
        RuleCase(
            "activity-date-text",
            "\(aps)/content-state/at",
            .state(#""at":"2026-05-12T18:31:00.000Z""#),
            near: .state(#""at":"2026-05-12 18:31 in the hall""#)
        ),
        RuleCase(
            "activity-date-text",
            "\(aps)/content-state/at",
            .state(#""at":"2026-05-12T18:31:00+02:00""#),
            near: .state(#""at":800000000.5,"day":"2026-05-12""#)
        ),
        RuleCase(
            "activity-date-epoch",
            "\(aps)/content-state/countdownEnd",
            .state(#""countdownEnd":1795874187"#),
            near: .state(#""countdownEnd":817566987,"orderNumber":1795874187"#)
        ),
        RuleCase(
            "activity-date-epoch",
            "\(aps)/content-state/stops/0/arrival_time",
            .state(#""stops":[{"arrival_time":1795874187000}]"#),
            near: .state(#""stops":[{"arrival_time_ms":1795874187000,"eta":12,"update":1795874187}]"#)
        ),
        RuleCase(
            "activity-date-epoch",
            "\(aps)/attributes/startedAt",
            .start(#""attributes-type":"A","attributes":{"startedAt":1795874187.5},"alert":"x""#),
            near: .start(#""attributes-type":"A","attributes":{"startedAt":817566987.5},"alert":"x""#)
        ),
        RuleCase(
            "reload-without-content-changed",
            aps,
            .aps("", "widgets"),
            near: .aps(#""content-changed":true"#, "widgets")
        ),
        RuleCase(
            "reload-with-content",
            "\(aps)/alert",
            .aps(#""content-changed":true,"alert":"x""#, "controls"),
            near: .aps(#""content-changed":true"#, "controls")
        ),
        RuleCase(
            "reload-with-content",
            "payload/entry",
            LintedPush("widgets", #"{"aps":{"content-changed":true},"entry":{}}"#),
            near: .aps(#""content-changed":true"#, "widgets")
        ),
    ]

    private static let activityTopic = "com.example.app.push-type.liveactivity"
    private static let wholeStart = #""attributes-type":"A","attributes":{"id":1},"alert":{"title":"x","body":"y"}"#
    private static let whole = LintedPush.start(wholeStart)

    private static func end(_ members: String) -> LintedPush {
        .activity(#""timestamp":1700000000,"event":"end","content-state":{"n":1},\#(members)"#)
    }
}
