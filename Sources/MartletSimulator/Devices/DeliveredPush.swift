// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The parts of a push that its delivery depends on.
struct DeliveredPush: Sendable, Hashable {
    let number: Int
    let time: Int64
    let topic: String
    /// The channel or the topic, for each of which at most one push is stored for an offline device.
    let slot: String
    let expiration: Int64?
    let collapseID: String?
    let isLiveActivity: Bool
    let isBroadcast: Bool
    let payload: JSONValue?
    /// Whether the device shows a notification for the push.
    let isShown: Bool

    init(_ push: ReceivedPush) {
        number = push.number
        time = push.time
        topic = push.headers.topic ?? ""
        slot = push.channel?.rawValue ?? topic
        expiration = push.headers.expiration.flatMap { Int64($0) }
        collapseID = push.headers.collapseID
        isLiveActivity = push.isLiveActivity
        isBroadcast = push.app != nil
        payload = try? JSONReader.readPayload(push.payload)
        isShown = NotificationPresentation.isVisible(push.headers, payload)
    }

    /// The maximum time in seconds for which APNs stores a push: thirty days.
    private static let storageLimit: Int64 = 30 * 24 * 60 * 60

    /// Returns the time until which APNs stores a push that arrived at another time, in seconds since 1970.
    static func storageEnd(expiration: Int64?, arrival: Int64) -> Int64 {
        let (limit, overflows) = arrival.addingReportingOverflow(storageLimit)
        return min(expiration ?? .max, overflows ? .max : limit)
    }

    /// Returns whether the push has expired, at a time in seconds since 1970.
    func isLate(at now: Int64) -> Bool { DeliveredPush.storageEnd(expiration: expiration, arrival: time) < now }
}
