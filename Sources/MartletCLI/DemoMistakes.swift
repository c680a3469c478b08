// SPDX-License-Identifier: Apache-2.0

import Martlet

/// Common mistakes.
enum DemoMistakes {
    /// Returns pushes that APNs accepts, each with the rule that finds its mistake.
    static func accepted(at now: Int64) throws -> [DemoPush] {
        [
            wrong("the badge is a text", #"{"aps":{"alert":"3 orders","badge":"3"}}"#, "badge-not-a-number"),
            wrong(
                "a misspelled interruption level",
                #"{"aps":{"alert":"Your courier is here","interruption-level":"time-senstive"}}"#,
                "interruption-level-unknown"
            ),
            wrong(
                "a silent push with push type alert",
                #"{"aps":{"content-available":1}}"#,
                "alert-should-be-background"
            ),
            DemoPush(
                "a background push with an alert",
                .push(
                    .opaque(
                        Array(#"{"aps":{"content-available":1,"alert":"Sync"}}"#.utf8),
                        pushType: .background,
                        priority: .powerAware
                    ),
                    to: DemoScenario.phone
                ),
                rule: "background-with-alert"
            ),
            wrong(
                "a Live Activity's update sent as an alert",
                #"{"aps":{"event":"update","timestamp":\#(now),"content-state":{"minutesLeft":2}}}"#,
                "push-type-mismatch"
            ),
            DemoPush(
                "an update after the end",
                .update(try .update(DemoOrder.state("Delivered", 0, 1))),
                rule: "activity-after-end"
            ),
            DemoPush(
                "attributes that equal the content-state",
                .start(
                    try LiveActivityStart(
                        attributesType: DemoOrder.attributesType,
                        attributes: DemoOrder.state("In the kitchen", 25, 0.1),
                        state: DemoOrder.state("In the kitchen", 25, 0.1),
                        alert: LiveActivityAlert(title: "Order 43", body: "Follow it here.")
                    ),
                    on: DemoScenario.starter
                ),
                rule: "activity-attributes-equal-state"
            ),
            late("a timestamp in milliseconds", now * 1_000, "activity-time-in-milliseconds"),
            late("a timestamp of an hour ago", now - 3_600, "activity-timestamp-older"),
        ]
    }

    /// Returns pushes that are refused, each with the expected answer.
    static func refused() -> [DemoPush] {
        let hello = PushNotification.alert("Hello")
        let large = PushNotification.alert(PushNotification.Alert(body: String(repeating: "long ", count: 900)))
        let urgent = PushNotification.opaque(
            Array(#"{"aps":{"content-available":1}}"#.utf8),
            pushType: .background,
            priority: .immediate
        )
        return [
            DemoPush(
                "to a device of the production environment",
                .push(hello, to: DemoScenario.production),
                .refused(400, .badDeviceToken)
            ),
            DemoPush(
                "to a device of another app",
                .push(hello, to: DemoScenario.otherApp),
                .refused(400, .deviceTokenNotForTopic)
            ),
            DemoPush(
                "to a device that removed the app",
                .push(hello, to: DemoScenario.removed),
                .refused(410, .unregistered)
            ),
            DemoPush(
                "a background push with priority 10",
                .push(urgent, to: DemoScenario.phone),
                .refused(400, .badPriority),
                from: .unchecked
            ),
            DemoPush(
                "more than 4096 bytes",
                .push(large, to: DemoScenario.phone),
                .refused(413, .payloadTooLarge),
                from: .unchecked
            ),
            DemoPush(
                "from a machine whose clock is two hours slow",
                .push(hello, to: DemoScenario.phone),
                .refused(403, .expiredProviderToken),
                from: .late
            ),
            DemoPush("more than 4096 bytes, checked before sending", .push(large, to: DemoScenario.phone), .notSent),
        ]
    }

    private static func wrong(_ title: String, _ payload: String, _ rule: String) -> DemoPush {
        DemoPush(title, .push(.opaque(Array(payload.utf8), pushType: .alert), to: DemoScenario.phone), rule: rule)
    }

    private static func late(_ title: String, _ timestamp: Int64, _ rule: String) -> DemoPush {
        let payload = #"{"aps":{"event":"update","timestamp":\#(timestamp),"content-state":{"status":"In the oven"}}}"#
        return DemoPush(title, .activity(.opaque(Array(payload.utf8), pushType: .liveActivity)), rule: rule)
    }
}
