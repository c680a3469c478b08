// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The names of the query language, for the parser, its errors, and help.
extension PushQuery {
    /// The property of a push that a term matches.
    enum Field: String, Sendable, Hashable, CaseIterable {
        case text, number, app, topic, device, channel, type, title, subtitle, body, id, status, reason, priority
        case collapse, thread, key, verdict, rule, has, `is`, tag, after, before, ns, size, connection

        /// The values that the field accepts; nil for any.
        var values: [String]? {
            switch self {
            case .verdict: PushVerdict.Kind.allCases.map(\.rawValue)
            case .has: ["warning", "error"]
            case .is:
                [
                    "silent", "faulted", "accepted", "refused", "broadcast", "composed", "stored", "ignored", "shown",
                    "pinned", "unanswered", "duplicate", "no-sound",
                ]
            default: nil
            }
        }

        /// The meaning of the field.
        var summary: String {
            switch self {
            case .text:
                "text in the payload, a tag, a nickname, a channel, a collapse identifier, an apns-id or a device token"
            case .number: "numbers and ranges of pushes"
            case .app: "the bundle identifier"
            case .topic: "apns-topic"
            case .device: "the device token or its nickname"
            case .channel: "the channel of a broadcast"
            case .type: "apns-push-type"
            case .title: "the title of the alert"
            case .subtitle: "the subtitle of the alert"
            case .body: "the body of the alert"
            case .id: "the whole apns-id"
            case .status: "the status of the answer, 0 for none"
            case .reason: "the reason of a refusal"
            case .priority: "apns-priority"
            case .collapse: "apns-collapse-id"
            case .thread: "the thread identifier"
            case .key: "a path in the payload, and its value after ="
            case .verdict: "the result of the push"
            case .rule: "the name of a rule that the push breaks"
            case .has: "findings of a severity"
            case .is: "a property of the push"
            case .tag: "a tag"
            case .after: "received at or after a time: a date, a time, or how long ago"
            case .before: "received before a time: a date, a time, or how long ago"
            case .ns: "the whole name of the namespace"
            case .size: "the size of the payload in bytes: numbers and ranges"
            case .connection: "the number of the connection, 0 for the HTTP interface"
            }
        }

        /// A term with the field.
        var example: String {
            switch self {
            case .text: "ready"
            case .number: "number:3,7-9"
            case .app: "app:com.example.app"
            case .topic: "topic:voip"
            case .device: "device:5d3a"
            case .channel: "channel:c2NvcmVz"
            case .type: "type:alert"
            case .title: #"title:"Order ready""#
            case .subtitle: "subtitle:table"
            case .body: "body:coffee"
            case .id: "id:8f14e45f-ceea-467f-a0e6-8e5b2f0d2b11"
            case .status: "status:200"
            case .reason: "reason:BadDeviceToken"
            case .priority: "priority:5"
            case .collapse: "collapse:=order-4"
            case .thread: "thread:=order-4"
            case .key: "key:aps.badge=3"
            case .verdict: "verdict:not-shown"
            case .rule: "rule:badge-type"
            case .has: "has:error"
            case .is: "is:stored"
            case .tag: "tag:checkout"
            case .after: "after:10m"
            case .before: "before:2026-11-25T08:00"
            case .ns: "ns:5d3a6a1c"
            case .size: "size:3000-"
            case .connection: "connection:4"
            }
        }

        /// The description of the field as the HTTP interface returns it.
        var json: JSONValue {
            .members([
                "name": .string(rawValue), "summary": .string(summary), "values": values.map(JSONValue.strings),
                "example": .string(example),
            ])
        }
    }
}
