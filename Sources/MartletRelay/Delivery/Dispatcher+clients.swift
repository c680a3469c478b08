// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletOutbox

/// The clients of the lanes.
extension Dispatcher {
    /// Uses new clients, and adds the lanes of the configuration.
    func open(_ fresh: [Lane: LaneClient]) {
        let now = context.now
        for (lane, client) in fresh {
            follow(client, of: lane)
            clients.use(client, for: lane)
            machine.tryAgain(lane, at: now)
        }
        for lane in context.configuration.lanes { machine.add(lane, at: now) }
        shareLimits()
    }

    /// Limits each lane to this relay's share of its app's limits.
    func shareLimits() {
        for app in context.configuration.apps {
            for lane in app.lanes {
                machine.limit(lane, to: app.rate.map(fleet.share), at: context.now)
                clients[lane]?.limitConnections(to: app.connections.map(fleet.share))
            }
        }
    }

    /// Counts and logs the events of a lane's client until it is closed.
    private func follow(_ client: LaneClient, of lane: Lane) {
        let events = client.client.events()
        Task { [weak self] in
            for await event in events { await self?.record(event, of: lane) }
        }
    }

    private func record(_ event: ClientEvent, of lane: Lane) {
        connections[lane, default: LaneConnections()].record(event)
        context.log.clientEvent(event, of: lane)
    }
}
