// SPDX-License-Identifier: Apache-2.0

extension RuleCase {
    private static let aps = "payload/aps"
    private static let type = "apns-push-type"

    /// Cases of rules about keys, their values, and the push type that they suit.
    static let keys: [RuleCase] = [
        RuleCase("aps-key-outside", "payload/badge", outside(#""badge":1"#), near: outside(#""badges":1"#)),
        RuleCase("aps-key-outside", "payload/sound", outside(#""sound":"x""#), near: outside(#""category":"x""#)),
        RuleCase(
            "aps-key-outside",
            "payload/alert",
            LintedPush("alert", #"{"alert":"Hi"}"#),
            near: LintedPush("alert", #"{"aps":{"alert":"Hi"},"alert":"Hi"}"#)
        ),
        RuleCase(
            "aps-key-outside",
            "payload/content-available",
            outside(#""content-available":1"#),
            near: LintedPush("voip", #"{"content-available":1}"#)
        ),
        RuleCase(
            "key-for-simctl",
            "payload/Simulator Target Bundle",
            outside(#""Simulator Target Bundle":"com.example.app""#),
            near: outside(#""target":"com.example.app""#)
        ),
        RuleCase("aps-key-unknown", "\(aps)/Badge", .beside(#""Badge":1"#), near: .beside(#""badge":1"#)),
        RuleCase("aps-key-unknown", "\(aps)/a~1b~0c", .beside(#""a/b~c":1"#), near: outside(#""a/b~c":1"#)),
        RuleCase("aps-key-unknown", "\(aps)/title", .beside(#""title":"x""#), near: .alert(#""title":"x""#)),
        RuleCase("alert-key-unknown", "\(aps)/alert/titel", .alert(#""titel":"x""#), near: .alert(#""action":"x""#)),
        RuleCase("alert-key-unknown", "\(aps)/alert/sound", .alert(#""sound":"x""#), near: .beside(#""sound":"x""#)),
        RuleCase(
            "alert-key-unknown",
            "\(aps)/alert/title/key",
            .update(#""alert":{"title":{"key":"x"}}"#),
            near: .update(#""alert":{"title":{"loc-key":"x","loc-args":["y"]},"body":"z","sound":"default"}"#)
        ),
        RuleCase(
            "sound-key-unknown",
            "\(aps)/sound/file",
            .beside(#""sound":{"file":"x"}"#),
            near: .beside(#""sound":{"name":"x"}"#)
        ),
        RuleCase("alert-wrong-type", "\(aps)/alert", .aps(#""alert":1"#), near: .aps(#""alert":{"body":"x"}"#)),
        RuleCase("badge-not-a-number", "\(aps)/badge", .aps(#""badge":"1""#), near: .aps(#""badge":1"#)),
        RuleCase("badge-not-a-number", "\(aps)/badge", .aps(#""badge":1.5"#), near: .aps(#""badge":0"#)),
        RuleCase("badge-not-a-number", "\(aps)/badge", .aps(#""badge":null"#), near: .aps(#""badge":7"#)),
        RuleCase(
            "relevance-score-not-a-number",
            "\(aps)/relevance-score",
            .beside(#""relevance-score":"0.5""#),
            near: .beside(#""relevance-score":0.5"#)
        ),
        RuleCase(
            "flag-not-one",
            "\(aps)/content-available",
            .beside(#""content-available":true"#),
            near: .beside(#""content-available":1"#)
        ),
        RuleCase(
            "flag-not-one",
            "\(aps)/mutable-content",
            .beside(#""mutable-content":"1""#),
            near: .beside(#""mutable-content":1"#)
        ),
        RuleCase(
            "flag-not-one",
            "\(aps)/input-push-token",
            .start(#""attributes-type":"A","attributes":{},"alert":"x","input-push-token":true"#),
            near: .start(#""attributes-type":"A","attributes":{},"alert":"x","input-push-token":1"#)
        ),
        RuleCase(
            "content-changed-not-true",
            "\(aps)/content-changed",
            .aps(#""content-changed":false"#, "widgets"),
            near: .aps(#""content-changed":true"#, "widgets")
        ),
        RuleCase(
            "push-type-mismatch",
            type,
            .beside(#""content-state":{}"#),
            near: .update(#""alert":{"title":"x","body":"y"}"#)
        ),
        RuleCase(
            "push-type-mismatch",
            type,
            .beside(#""content-changed":true"#),
            near: .aps(#""content-changed":true"#, "controls")
        ),
        RuleCase(
            "push-type-mismatch",
            type,
            .beside(#""ptt-push-type":"service-update""#),
            near: .aps(#""ptt-push-type":"service-update""#, "pushtotalk")
        ),
        RuleCase(
            "alert-should-be-background",
            type,
            .aps(#""content-available":1"#),
            near: .aps(#""content-available":1,"badge":2"#)
        ),
        RuleCase("alert-shows-nothing", aps, .aps(""), near: .aps(#""sound":"default""#)),
        RuleCase("alert-shows-nothing", aps, .aps(#""category":"x""#), near: .aps(#""badge":0"#)),
        RuleCase("alert-empty", "\(aps)/alert", .aps(#""alert":"""#), near: .aps(#""alert":" ""#)),
        RuleCase("alert-empty", "\(aps)/alert", .aps(#""alert":{},"badge":3"#), near: .alert(#""title":"x""#)),
        RuleCase(
            "alert-empty",
            "\(aps)/alert",
            .start(#""attributes-type":"A","attributes":{},"alert":"""#),
            near: .start(#""attributes-type":"A","attributes":{},"alert":"x""#)
        ),
        RuleCase(
            "push-type-mismatch",
            type,
            .aps(#""ptt-push-type":"service-update""#, "voip"),
            near: .aps(#""alert":"x""#, "voip")
        ),
        RuleCase(
            "background-without-content-available",
            aps,
            .aps("", "background"),
            near: .aps(#""content-available":1"#, "background")
        ),
        RuleCase(
            "background-without-content-available",
            aps,
            LintedPush("background", #"{"n":1}"#),
            near: .aps(#""content-available":1"#, "background"),
            others: ["aps-missing"]
        ),
        RuleCase(
            "background-without-content-available",
            aps,
            LintedPush("background", "{}"),
            near: .aps(#""content-available":1"#, "background"),
            others: ["aps-missing"]
        ),
        RuleCase(
            "background-with-alert",
            "\(aps)/alert",
            background(#""alert":"x""#),
            near: .aps(#""content-available":1,"alert":"x""#)
        ),
        RuleCase(
            "background-with-badge",
            "\(aps)/badge",
            background(#""badge":1"#),
            near: .aps(#""content-available":1,"badge":1"#)
        ),
        RuleCase(
            "background-with-sound",
            "\(aps)/sound",
            background(#""sound":"x""#),
            near: LintedPush("background", #"{"aps":{"content-available":1},"jingle":"x"}"#)
        ),
        RuleCase(
            "background-with-other-key",
            "payload/aps/thread-id",
            .aps(#""content-available":1,"thread-id":"x""#, "background"),
            near: LintedPush("background", #"{"aps":{"content-available":1},"thread":"x"}"#)
        ),
        RuleCase(
            "background-with-other-key",
            "payload/aps/interruption-level",
            .aps(#""content-available":1,"interruption-level":"passive""#, "background"),
            near: .aps(#""alert":"x","interruption-level":"passive""#)
        ),
    ]

    /// A value of the wrong type for each key of Apple's tables that has no rule of its own.
    static let types: [RuleCase] =
        [
            ("sound", "1", #""x""#), ("thread-id", "7", #""7""#), ("category", "null", #""x""#),
            ("target-content-id", "1", #""x""#), ("filter-criteria", "{}", #""x""#),
        ].map { key, wrong, right in
            RuleCase(
                "value-wrong-type",
                "\(aps)/\(key)",
                .beside(#""\#(key)":\#(wrong)"#),
                near: .beside(#""\#(key)":\#(right)"#)
            )
        }
        + [
            ("title", "1", #""x""#), ("subtitle", "null", #""x""#), ("body", "[]", #""x""#),
            ("body", #"{"loc-key":"x"}"#, #""x""#), ("launch-image", "true", #""x""#),
            ("title-loc-key", "1", #""x""#), ("title-loc-args", #"["x",1]"#, #"["x"]"#),
            ("subtitle-loc-key", "1", #""x""#), ("subtitle-loc-args", #""x""#, "[]"), ("loc-key", "{}", #""x""#),
            ("loc-args", #"[null]"#, #"["x","y"]"#), ("action", "1", #""x""#),
        ].map { key, wrong, right in
            RuleCase(
                "value-wrong-type",
                "\(aps)/alert/\(key)",
                .alert(#""\#(key)":\#(wrong)"#),
                near: .alert(#""\#(key)":\#(right)"#)
            )
        }
        + [("critical", "true", "1"), ("name", "1", #""x""#), ("volume", #""1""#, #"0.5,"critical":1"#)].map {
            key,
            wrong,
            right in
            RuleCase(
                "value-wrong-type",
                "\(aps)/sound/\(key)",
                .beside(#""sound":{"\#(key)":\#(wrong)}"#),
                near: .beside(#""sound":{"\#(key)":\#(right)}"#)
            )
        }
        + [
            RuleCase(
                "value-wrong-type",
                "\(aps)/url-args",
                LintedPush(nil, #"{"aps":{"alert":{"title":"x"},"url-args":[1]}}"#),
                near: LintedPush(nil, #"{"aps":{"alert":{"title":"x"},"url-args":["1"]}}"#)
            ),
            RuleCase(
                "value-wrong-type",
                "\(aps)/ptt-push-type",
                .aps(#""ptt-push-type":1"#, "pushtotalk"),
                near: .aps(#""ptt-push-type":"service-update""#, "pushtotalk")
            ),
            RuleCase(
                "value-wrong-type",
                "\(aps)/alert/body/loc-args",
                .update(#""alert":{"body":{"loc-key":"x","loc-args":"y"}}"#),
                near: .update(#""alert":{"body":{"loc-key":"x","loc-args":["y"]}}"#)
            ),
            RuleCase(
                "value-wrong-type",
                "\(aps)/alert/sound/name",
                .update(#""alert":{"title":"x","sound":{"critical":1,"name":7}}"#),
                near: .update(#""alert":{"title":"x","sound":{"critical":1,"name":"x"}}"#)
            ),
        ]

    /// Cases of rules about what a person sees and hears.
    static let alerts: [RuleCase] = [
        RuleCase("badge-negative", "\(aps)/badge", .aps(#""badge":-1"#), near: .aps(#""badge":0"#)),
        RuleCase(
            "mutable-without-alert",
            "\(aps)/mutable-content",
            .aps(#""sound":"x","mutable-content":1"#),
            near: .beside(#""mutable-content":1"#)
        ),
        RuleCase(
            "interruption-level-unknown",
            "\(aps)/interruption-level",
            .beside(#""interruption-level":"timeSensitive""#),
            near: .beside(#""interruption-level":"time-sensitive""#)
        ),
        RuleCase(
            "interruption-level-unknown",
            "\(aps)/interruption-level",
            .beside(#""interruption-level":2"#),
            near: .beside(#""interruption-level":"passive""#)
        ),
        RuleCase(
            "critical-without-sound",
            aps,
            .beside(#""interruption-level":"critical""#),
            near: .beside(#""interruption-level":"critical","sound":{"critical":1}"#)
        ),
        RuleCase(
            "critical-without-sound",
            "\(aps)/sound",
            .beside(#""interruption-level":"critical","sound":"alarm""#),
            near: .beside(#""sound":{"critical":1,"name":"alarm"}"#)
        ),
        RuleCase(
            "relevance-score-out-of-range",
            "\(aps)/relevance-score",
            .beside(#""relevance-score":1.1"#),
            near: .update(#""relevance-score":100"#)
        ),
        RuleCase(
            "volume-without-critical",
            "\(aps)/sound/volume",
            .beside(#""sound":{"name":"x","volume":0.5}"#),
            near: .beside(#""sound":{"critical":1,"name":"x","volume":0.5}"#)
        ),
        RuleCase(
            "volume-out-of-range",
            "\(aps)/sound/volume",
            .beside(#""sound":{"critical":1,"volume":2}"#),
            near: .beside(#""sound":{"critical":1,"volume":1}"#)
        ),
        RuleCase(
            "volume-out-of-range",
            "\(aps)/alert/sound/volume",
            .update(#""alert":{"title":"x","sound":{"critical":1,"volume":-1}}"#),
            near: .update(#""alert":{"title":"x","sound":{"critical":1,"volume":0}}"#)
        ),
        RuleCase(
            "sound-format-unsupported",
            "\(aps)/sound",
            .beside(#""sound":"ding.MP3""#),
            near: .beside(#""sound":"ding.caf""#)
        ),
        RuleCase(
            "sound-format-unsupported",
            "\(aps)/sound/name",
            .beside(#""sound":{"critical":1,"name":"ding.m4a"}"#),
            near: .beside(#""sound":{"critical":1,"name":"mp3"}"#)
        ),
        RuleCase(
            "sound-format-unsupported",
            "\(aps)/alert/sound",
            .update(#""alert":{"title":"x","sound":"ding.ogg"}"#),
            near: .update(#""alert":{"title":"x","sound":"ding"}"#)
        ),
        RuleCase(
            "title-cut",
            "\(aps)/alert/title",
            .alert(#""title":"\#(long(41))""#),
            near: .alert(#""title":"\#(long(40))""#)
        ),
        RuleCase(
            "body-cut",
            "\(aps)/alert/body",
            .alert(#""body":"\#(long(181))""#),
            near: .alert(#""body":"\#(long(180))""#)
        ),
        RuleCase(
            "body-cut",
            "\(aps)/alert",
            .aps(#""alert":"\#(long(181))""#),
            near: .aps(#""alert":"\#(long(180))""#)
        ),
    ]

    /// An alert with these members beside `aps`.
    private static func outside(_ members: String) -> LintedPush {
        LintedPush("alert", #"{"aps":{"alert":"Hi"},\#(members)}"#)
    }

    private static func background(_ members: String) -> LintedPush {
        .aps(#""content-available":1,\#(members)"#, "background")
    }

    /// As many characters, each of several bytes.
    private static func long(_ count: Int) -> String {
        String(repeating: "\u{3042}", count: count)
    }
}
