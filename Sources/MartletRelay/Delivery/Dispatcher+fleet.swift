// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// Coordination with the other relays that share the outbox.
extension Dispatcher {
    /// Handles the events of the shared outbox for as long as the relay runs.
    func followFleet() {
        guard let shared = context.sharedOutbox else { return }
        Task { [weak self] in
            for await event in shared.events { await self?.handle(event) }
        }
    }

    private func handle(_ event: OutboxEvent) {
        switch event {
        case .arrived(let lane, let urgency):
            machine.markReady(lane, urgency)
        case .claimsLost:
            context.log.warning(.claimsLost)
            machine.claimsLost()
        case .fleet(let size, let isLeader):
            guard fleet.update(size: size, isLeader: isLeader) else { return }
            context.log.info(.fleetChanged, ["relays": .whole(size), "leads": .string(isLeader ? "yes" : "no")])
            shareLimits()
        case .unreachable(let error):
            context.recordOutbox(error)
        case .notificationsLost:
            let action = "use session mode in the connection pooler between the relay and PostgreSQL"
            context.log.warning(.notificationsLost, ["action": .string(action)])
        case .drainRequested:
            guard !isDraining else { return }
            context.requestShutdown(by: nil)
        }
        actSoon()
    }
}
