// SPDX-License-Identifier: Apache-2.0

extension PushLint.Rule {
    static let activityTimestampMissing = PushLint.Rule("activity-timestamp-missing", .error, .liveActivity)
        .when("a push about a Live Activity has no timestamp")
    static let activityTimestampNotPositive = PushLint.Rule("activity-timestamp-not-positive", .error, .liveActivity)
        .when("timestamp is 0 or less")
    static let activityTimeInMilliseconds = PushLint.Rule("activity-time-in-milliseconds", .error, .liveActivity)
        .when("timestamp, stale-date or dismissal-date is so far ahead that it must be in milliseconds")
    static let activityTimestampAhead = PushLint.Rule("activity-timestamp-ahead", .warning, .liveActivity)
        .when("timestamp is more than ten minutes ahead of the clock")
    static let activityEventMissing = PushLint.Rule("activity-event-missing", .error, .liveActivity)
        .when("a push about a Live Activity has no event")
    static let activityEventUnknown = PushLint.Rule("activity-event-unknown", .error, .liveActivity)
        .when("event is not start, update or end")
    static let activityStartIncomplete = PushLint.Rule("activity-start-incomplete", .error, .liveActivity)
        .when("the start of a Live Activity lacks attributes-type, attributes or alert")
    static let activityAttributesTypeEmpty = PushLint.Rule("activity-attributes-type-empty", .error, .liveActivity)
        .when("the start of a Live Activity has an empty attributes-type")
    static let activityStateMissing = PushLint.Rule("activity-state-missing", .error, .liveActivity)
        .when("the start or update of a Live Activity has no content-state")
    static let activityEndWithoutState = PushLint.Rule("activity-end-without-state", .warning, .liveActivity)
        .when("the end of a Live Activity that stays on the Lock Screen has no content-state")
    static let activityDismissalLate = PushLint.Rule("activity-dismissal-late", .warning, .liveActivity)
        .when("dismissal-date is more than four hours after timestamp")
    static let activityDismissalBeforeEnd = PushLint.Rule("activity-dismissal-before-end", .warning, .liveActivity)
        .when("a push that does not end the Live Activity has a dismissal-date")
    static let activityAttributesAfterStart = PushLint.Rule("activity-attributes-after-start", .warning, .liveActivity)
        .when("a push that does not start the Live Activity has attributes or attributes-type")
    static let activityBroadcastStart = PushLint.Rule("activity-broadcast-start", .error, .liveActivity)
        .when("a broadcast has the event start")
    static let activityInputTwice = PushLint.Rule("activity-input-twice", .warning, .liveActivity)
        .when("a start has both input-push-token and input-push-channel")
    static let activityInputAfterStart = PushLint.Rule("activity-input-after-start", .warning, .liveActivity)
        .when("a push that does not start the Live Activity has input-push-token or input-push-channel")
    static let activityKeyIgnored = PushLint.Rule("activity-key-ignored", .warning, .liveActivity)
        .when("a push about a Live Activity has badge, content-available, or a sound beside its alert")
    static let activityUpdateImmediate = PushLint.Rule("activity-update-immediate", .warning, .liveActivity)
        .when("an update without an alert has priority 10")
}

/// The rules about Live Activities ("Starting and updating Live Activities with ActivityKit push notifications").
enum LiveActivityRules {
    static let all: [PushLint.Rule] = [
        .activityTimestampMissing, .activityTimestampNotPositive, .activityTimeInMilliseconds, .activityTimestampAhead,
        .activityEventMissing, .activityEventUnknown, .activityStartIncomplete, .activityAttributesTypeEmpty,
        .activityStateMissing, .activityEndWithoutState, .activityDismissalLate, .activityDismissalBeforeEnd,
        .activityAttributesAfterStart, .activityBroadcastStart, .activityInputTwice, .activityInputAfterStart,
        .activityKeyIgnored, .activityUpdateImmediate,
    ]

    private static let events = ["start", "update", "end"]
    /// The tolerance in seconds for differences between clocks and for servers that increase the timestamp with each
    /// push.
    private static let clockTolerance: Double = 10 * 60
    /// The maximum time in seconds that an ended activity stays on the Lock Screen.
    private static let longestStay: Double = 4 * 60 * 60

    static func check(_ aps: JSONValue, of push: PushFacts) -> [PushLint.Finding] {
        guard push.type == .liveActivity else { return [] }
        let event = aps["event"]?.stringValue
        let findings = [
            timestamp(aps), timestampAhead(aps, at: push.time), self.event(aps), attributesType(aps, at: event),
            stateMissing(aps, at: event), dismissal(aps, at: event), inputTwice(aps, at: event),
            immediateUpdate(aps, at: event, of: push),
        ]
        return findings.compactMap(\.self) + milliseconds(aps) + startParts(aps, at: event)
            + startPartsAfterwards(aps, at: event) + ignoredKeys(aps) + LiveActivityContentRules.check(aps)
    }

    // MARK: Times

    private static func timestamp(_ aps: JSONValue) -> PushLint.Finding? {
        guard let value = aps["timestamp"] else {
            let text = "without a timestamp, in seconds since 1970, the phone cannot order the push, and drops it"
            return PushLint.Finding(.activityTimestampMissing, .payload("/aps"), text)
        }
        guard let timestamp = value.doubleValue, timestamp <= 0 else { return nil }
        let text = "timestamp must be the time of sending in seconds since 1970: the phone drops the push as outdated"
        return PushLint.Finding(.activityTimestampNotPositive, .payload("/aps/timestamp"), text)
    }

    private static func isInMilliseconds(_ time: Double) -> Bool { time > Double(HeaderRules.farFuture) }

    private static func milliseconds(_ aps: JSONValue) -> [PushLint.Finding] {
        let consequences = [
            ("timestamp", "the phone drops the push"),
            ("stale-date", "the content never counts as outdated"),
            ("dismissal-date", "the system decides when to remove the activity"),
        ]
        return consequences.filter { key, _ in aps[key]?.doubleValue.map(isInMilliseconds) == true }
            .map { key, consequence in
                let message = "\(key) must be in seconds since 1970, and this looks like milliseconds: \(consequence)"
                return PushLint.Finding(.activityTimeInMilliseconds, .payload("/aps/\(key)"), message)
            }
    }

    private static func timestampAhead(_ aps: JSONValue, at time: Int64?) -> PushLint.Finding? {
        guard let time, let timestamp = aps["timestamp"]?.doubleValue, !isInMilliseconds(timestamp),
            timestamp > Double(time) + clockTolerance
        else { return nil }
        let message =
            "timestamp is more than \(Int(clockTolerance) / 60) minutes ahead: until then the phone drops every push"
            + " with the correct time as outdated"
        return PushLint.Finding(.activityTimestampAhead, .payload("/aps/timestamp"), message)
    }

    private static func dismissal(_ aps: JSONValue, at event: String?) -> PushLint.Finding? {
        guard let date = aps["dismissal-date"]?.doubleValue, !isInMilliseconds(date) else { return nil }
        if event == "start" || event == "update" {
            let message = "the phone reads dismissal-date only when the event is end: the activity stays"
            return PushLint.Finding(.activityDismissalBeforeEnd, .payload("/aps/dismissal-date"), message)
        }
        guard let timestamp = aps["timestamp"]?.doubleValue, date > timestamp + longestStay else { return nil }
        let message = "the phone removes the activity four hours after its end at the latest"
        return PushLint.Finding(.activityDismissalLate, .payload("/aps/dismissal-date"), message)
    }

    // MARK: Events and required keys

    private static func event(_ aps: JSONValue) -> PushLint.Finding? {
        guard let event = aps["event"] else {
            let message =
                "without an event the phone does not know whether to start, update or end the activity, and does"
                + " nothing"
            return PushLint.Finding(.activityEventMissing, .payload("/aps"), message)
        }
        guard let text = event.stringValue, !events.contains(text) else { return nil }
        let message =
            "event must be start, update or end; the phone drops any other" + NearestName.hint(for: text, among: events)
        return PushLint.Finding(.activityEventUnknown, .payload("/aps/event"), message)
    }

    /// Checks that a broadcast does not start Live Activities.
    static func broadcastStart(_ payload: JSONValue?) -> PushLint.Finding? {
        guard payload?["aps"]?["event"]?.stringValue == "start" else { return nil }
        let message =
            "a broadcast can update or end Live Activities, and the phone drops a start: send it to the push-to-start"
            + " token of each device"
        return PushLint.Finding(.activityBroadcastStart, .payload("/aps/event"), message)
    }

    private static func stateMissing(_ aps: JSONValue, at event: String?) -> PushLint.Finding? {
        guard aps["content-state"] == nil else { return nil }
        switch event {
        case "start", "update":
            let message = "without content-state the phone has nothing to show, and drops the push"
            return PushLint.Finding(.activityStateMissing, .payload("/aps"), message)
        case "end":
            // An activity that is removed from the Lock Screen immediately needs no final content.
            let timestamp = aps["timestamp"]?.doubleValue ?? 0
            if let date = aps["dismissal-date"]?.doubleValue, date <= timestamp { return nil }
            let message =
                "without a final content-state the Lock Screen shows the previous content for up to four hours"
            return PushLint.Finding(.activityEndWithoutState, .payload("/aps"), message)
        default: return nil
        }
    }

    private static func startParts(_ aps: JSONValue, at event: String?) -> [PushLint.Finding] {
        guard event == "start" else { return [] }
        return ["attributes-type", "attributes", "alert"].filter { aps[$0] == nil }.map { key in
            let message = "a start needs \(key): without it the phone starts no activity"
            return PushLint.Finding(.activityStartIncomplete, .payload("/aps"), message)
        }
    }

    private static func attributesType(_ aps: JSONValue, at event: String?) -> PushLint.Finding? {
        guard event == "start", aps["attributes-type"]?.stringValue?.isEmpty == true else { return nil }
        let text = "attributes-type must be the name of the app's type: with an empty name the phone starts no activity"
        return PushLint.Finding(.activityAttributesTypeEmpty, .payload("/aps/attributes-type"), text)
    }

    private static func startPartsAfterwards(_ aps: JSONValue, at event: String?) -> [PushLint.Finding] {
        guard event == "update" || event == "end" else { return [] }
        let keys: [(String, PushLint.Rule)] = [
            ("attributes-type", .activityAttributesAfterStart), ("attributes", .activityAttributesAfterStart),
            ("input-push-token", .activityInputAfterStart), ("input-push-channel", .activityInputAfterStart),
        ]
        return keys.filter { aps[$0.0] != nil }.map { key, rule in
            PushLint.Finding(rule, .payload("/aps/\(key)"), "\(key) belongs to the start: the phone ignores it here")
        }
    }

    private static func ignoredKeys(_ aps: JSONValue) -> [PushLint.Finding] {
        ["badge", "content-available", "sound"].filter { aps[$0] != nil }.map { key in
            let text = "a push about a Live Activity has no \(key) in aps: the phone ignores it"
            let hint = key == "sound" ? "; the sound belongs in alert" : ""
            return PushLint.Finding(.activityKeyIgnored, .payload("/aps/\(key)"), text + hint)
        }
    }

    private static func inputTwice(_ aps: JSONValue, at event: String?) -> PushLint.Finding? {
        guard event == "start", aps["input-push-token"] != nil, aps["input-push-channel"] != nil else { return nil }
        let message =
            "a start asks for a token (input-push-token) or for a channel (input-push-channel): with both, Apple does"
            + " not say which of them updates the activity"
        return PushLint.Finding(.activityInputTwice, .payload("/aps/input-push-channel"), message)
    }

    private static func immediateUpdate(_ aps: JSONValue, at event: String?, of push: PushFacts) -> PushLint.Finding? {
        let priority = push.priority
        guard event == "update", aps["alert"] == nil, priority == nil || priority == "10" else { return nil }
        // APNs refuses a broadcast without a priority, so another rule reports it.
        guard priority != nil || !push.isBroadcast else { return nil }
        let message =
            (priority == nil ? "without a priority the update has 10, which" : "priority 10")
            + " counts against the activity's budget: over it the phone delays updates; most of those without an"
            + " alert can have priority 5"
        return PushLint.Finding(.activityUpdateImmediate, .header("apns-priority"), message)
    }
}
