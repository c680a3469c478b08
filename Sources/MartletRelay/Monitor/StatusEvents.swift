// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// An event in the operation of a relay, for the marks in the plots of its status page.
struct StatusEvent: Sendable, Hashable {
    enum Kind: String, Sendable, CaseIterable {
        case started
        case reloaded
        case reloadRejected = "reload-rejected"
        case outageBegan = "outage-began"
        case outageEnded = "outage-ended"
        case paused
        case resumed
        case storageFailed = "storage-failed"
        case storageRecovered = "storage-recovered"
        case leaderChanged = "leader-changed"
        case relayJoined = "relay-joined"
        case relayLeft = "relay-left"
        case clockJumped = "clock-jumped"
        case draining
    }

    /// The time in milliseconds since 1970.
    var time: Int64
    var kind: Kind
    /// The lane that the event is about; nil for the relay as a whole.
    var lane: Lane?
    /// The event as text for people, without a final period.
    var text: String

    var json: JSONValue {
        .members([
            "time": .whole(time), "kind": .string(kind.rawValue), "app": lane.map { .string($0.app) },
            "environment": lane.map { .string($0.environment.rawValue) }, "text": .string(text),
        ])
    }
}

/// The latest events of a relay, in memory only.
struct StatusEvents: Sendable {
    /// The maximum number of stored events.
    static let limit = 500

    private var events: [StatusEvent] = []

    /// Adds events and removes the oldest when there are too many.
    mutating func add(_ new: [StatusEvent]) {
        events += new
        if events.count > StatusEvents.limit { events.removeFirst(events.count - StatusEvents.limit) }
    }

    /// Returns the events of some apps and of the relay as a whole, oldest first.
    func list(of apps: Set<String>) -> [StatusEvent] {
        events.filter { $0.lane.map { apps.contains($0.app) } ?? true }.sorted { $0.time < $1.time }
    }
}
