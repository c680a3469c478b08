// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

/// The texts that a failed expectation prints.
@Suite struct DescriptionTests {
    @Test func `a notification prints its headers and its payload`() throws {
        let custom = try PushNotification.CustomData(["order": 42])
        let notification = PushNotification.alert(
            "Ready",
            custom: custom,
            priority: .powerAware,
            expiration: .attemptOnce,
            collapseID: "order-42"
        )
        let payload = #"{"aps":{"alert":{"body":"Ready"}},"order":42}"#
        #expect("\(notification)" == "alert, priority 5, expiration 0, collapse-id order-42: \(payload)")
        let opaque = PushNotification.opaque("{}".utf8, pushType: nil)
        #expect("\(opaque)" == "no push type: {}")
        #expect("\(custom)" == #"{"order":42}"#)
        let infinite = PushNotification.alert("Ready", relevanceScore: .infinity)
        #expect("\(infinite)".hasPrefix("alert, priority 10: no JSON ("))
    }

    @Test func `an update of a Live Activity prints its event and its values`() throws {
        let end = LiveActivityUpdate.end(dismissal: .immediate)
        #expect("\(end)" == "end, dismissal immediate")
        let update = try LiveActivityUpdate.update(["minutes": 5], relevanceScore: 2)
        #expect("\(update)" == #"update, content-state {"minutes":5}, relevance-score 2.0"#)
    }

    @Test func `a JSON value prints as JSON`() {
        let value: JSONValue = ["name": "Ada", "tags": [1, true, .null]]
        #expect("\(value)" == #"{"name":"Ada","tags":[1,true,null]}"#)
    }
}
