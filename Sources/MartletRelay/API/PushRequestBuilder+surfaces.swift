// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

/// The check of the pushes to which a surface leads.
extension PushRequestBuilder {
    /// Builds the pushes of a surface, of which none is sent, so that a mistake is reported when the surface is stored.
    mutating func checkPushes(of content: SurfaceContent, in app: RelayConfiguration.App) throws(APIProblem) {
        timeOfJob = now
        defer { timeOfJob = nil }
        for (index, snapshot) in content.snapshots.enumerated() {
            for request in content.requests(of: snapshot, at: now) {
                do throws(APIProblem) {
                    try checkPush(of: PushRequest(request), in: app)
                } catch {
                    if error.pointer == "/channel", let id = content.channel?.id.rawValue {
                        let found = JSONValue.string(id).excerpt
                        throw APIProblem(error.status, "channel.id: \(error.detail): found \(found)", at: "/channel/id")
                    }
                    throw APIProblem(
                        error.status,
                        "snapshots[\(index)]: \(error.detail)",
                        at: "/snapshots/\(index)",
                        retryAfter: error.retryAfter
                    )
                }
            }
        }
    }
}

extension SurfaceContent {
    /// The requests of the pushes that show a snapshot, to a token that stands for all others.
    fileprivate func requests(of snapshot: SurfaceSnapshot, at now: Int64) -> [JSONValue] {
        guard snapshot.kind == .liveActivity else { return [["to": "00", "snapshot": snapshot.json]] }
        var requests = SnapshotRequest.events.map { event in
            JSONValue.members([
                "to": .string("00"), "snapshot": snapshot.json, "event": .string(event), "priority": .integer(10),
                // Each time has as many digits.
                "stale-date": .whole(now / 1_000),
                "attributes-type": event == "start" ? .string(attributesType) : nil,
            ])
        }
        if let channel {
            requests += ["update", "end"].map { event in
                JSONValue.members([
                    "channel": .string(channel.id.rawValue), "snapshot": snapshot.json, "event": .string(event),
                    "priority": .integer(10), "stale-date": .whole(now / 1_000),
                ])
            }
        }
        // The one of the surface is checked as a snapshot of its own.
        if self.snapshot(.notification) == nil, let notification {
            requests.append(["to": "00", "snapshot": notification.json])
        }
        return requests
    }
}
