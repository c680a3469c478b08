// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The change that a push makes to a Live Activity ("Starting and updating Live Activities with ActivityKit push
/// notifications").
struct ActivityChange {
    /// The event that the push reports.
    let event: ActivityPush.Event
    /// The value of `timestamp`, in seconds since 1970.
    let timestamp: Int64
    /// The new content; nil for an end that leaves the content as it is.
    let contentState: JSONValue?

    /// Reads the change from a push.
    ///
    /// - Throws: ``ActivityPushError`` when the device ignores the push, whatever the state of the activity.
    init(_ push: DeliveredPush) throws(ActivityPushError) {
        guard let payload = push.payload else { throw ActivityPushError(cause: "its payload repeats a name") }
        guard let aps = payload["aps"], aps.members != nil else {
            throw ActivityPushError(cause: "it has no aps object")
        }
        timestamp = try ActivityChange.timestamp(in: aps)
        event = try ActivityChange.event(in: aps)
        if event == .start {
            guard !push.isBroadcast else { throw ActivityPushError(cause: "a broadcast cannot start an activity") }
            try ActivityChange.checkStart(aps)
        }
        let state = aps["content-state"]
        let hasContent = state?.members != nil
        guard hasContent || event == .end else {
            let cause = state == nil ? "it has no content-state" : "its content-state is not an object"
            throw ActivityPushError(cause: cause)
        }
        contentState = hasContent ? state : nil
    }

    private static func timestamp(in aps: JSONValue) throws(ActivityPushError) -> Int64 {
        guard let value = aps["timestamp"] else { throw ActivityPushError(cause: "it has no timestamp") }
        guard let timestamp = value.wholeValue else {
            throw ActivityPushError(cause: "its timestamp \(excerpt(value)) is not a whole number of seconds")
        }
        guard timestamp > 0 else { throw ActivityPushError(cause: "its timestamp \(timestamp) is not after 1970") }
        guard timestamp <= PushLint.latestPlausibleTime else {
            throw ActivityPushError(cause: "its timestamp \(timestamp) is in milliseconds, not in seconds")
        }
        return timestamp
    }

    private static func event(in aps: JSONValue) throws(ActivityPushError) -> ActivityPush.Event {
        guard let value = aps["event"] else { throw ActivityPushError(cause: "it has no event") }
        guard let event = value.stringValue.flatMap(ActivityPush.Event.init(rawValue:)) else {
            throw ActivityPushError(cause: "its event \(excerpt(value)) is not start, update or end")
        }
        return event
    }

    private static func checkStart(_ aps: JSONValue) throws(ActivityPushError) {
        let alert = aps["alert"]
        let parts = [
            ("attributes-type", aps["attributes-type"]?.stringValue != nil),
            ("attributes", aps["attributes"]?.members != nil),
            ("alert", alert?.stringValue != nil || alert?.members != nil),
        ]
        if let (name, _) = parts.first(where: { !$0.1 }) {
            let cause = aps[name] == nil ? "a start needs \(name)" : "its \(name) has the wrong type"
            throw ActivityPushError(cause: cause)
        }
        guard aps["attributes-type"] != "" else { throw ActivityPushError(cause: "its attributes-type is empty") }
    }

    /// Returns the first 40 characters of a value as JSON, because a value of the wrong type can be long.
    private static func excerpt(_ value: JSONValue) -> String {
        let limit = 40
        let text = String(decoding: value.encoded(), as: UTF8.self)
        return text.count > limit ? text.prefix(limit) + "…" : text
    }
}

/// The reason a device ignores a push for a Live Activity.
struct ActivityPushError: Error {
    /// The cause, in a clause without the final stop.
    let cause: String
}
