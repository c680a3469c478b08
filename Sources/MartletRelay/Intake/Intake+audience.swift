// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

/// The look-ups for pushes to users, within the bounds of acceptance.
extension Intake {
    /// Returns the installations of audiences, by app.
    ///
    /// Those of a batch may wait for capacity.
    func members(
        of queries: [String: [AudienceQuery]],
        from caller: Callers.Caller,
        waitingForRoom limit: Duration
    ) async -> Result<[String: [[AudienceMember]]], OutboxError> {
        let numbers = queries.mapValues { queries in queries.reduce(0) { $0 + $1.audience.count } }
        let store = context.outbox.installations
        return await callOutbox(for: numbers, from: caller, waitingForRoom: limit) {
            (continued) async throws(OutboxError) -> [String: [[AudienceMember]]] in
            var found: [String: [[AudienceMember]]] = [:]
            for (app, queries) in queries { found[app] = try await store.allMembers(of: queries, in: app, continued) }
            return found
        }
    }

    /// Returns the positions of the pushes whose identifiers other stored pushes have.
    ///
    /// Those of a batch may wait for capacity.
    func conflicts(
        with pushes: [HashedPush],
        from caller: Callers.Caller,
        waitingForRoom limit: Duration
    ) async -> Result<Set<Int>, OutboxError> {
        let outbox = context.outbox
        return await callOutbox(for: pushes.countsByApp, from: caller, waitingForRoom: limit) {
            (continued) async throws(OutboxError) -> Set<Int> in
            var found: Set<Int> = []
            // In steps, because a store reads and writes on one thread.
            for start in stride(from: 0, to: pushes.count, by: IncomingPushes.groupSize) {
                let group = Array(pushes[start..<min(start + IncomingPushes.groupSize, pushes.count)])
                for place in try await outbox.conflicts(with: group) { found.insert(start + place) }
                await continued()
            }
            return found
        }
    }
}
