// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import Testing

/// The turns of apps where a limited number of surfaces, events or sessions is read, on every engine.
@Suite(.timeLimit(.minutes(10))) struct AppTurnTests {
    /// The places of rows in the order of their turns: of five rows of one app, and then one of another, by the limit.
    private static let turns = [
        1: [0], 2: [0, 5], 3: [0, 5, 4], 4: [0, 5, 4, 1], 5: [0, 5, 4, 1, 3], 6: [0, 5, 4, 1, 3, 2],
        9: [0, 5, 4, 1, 3, 2],
    ]

    @Test(arguments: OutboxEngine.allCases)
    func `apps take turns in pages, events and sessions`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        var stored: [StoredSurface] = []
        var phones: [StoredInstallation] = []
        for number in 1...6 {
            let app = number < 6 ? "orders" : "rides"
            stored.append(try await surfaces.putNew(.numbered(number, app: app), at: 10 + Int64(number)))
        }
        for number in 1...6 as ClosedRange<UInt64> {
            phones.append(try await outbox.installations.add(.numbered(number, app: number < 6 ? "orders" : "rides")))
        }
        for (limit, places) in Self.turns {
            let unfinished = try await surfaces.unfinishedSurfaces(limit: limit)
            #expect(unfinished == places.map { stored[$0] }, "limit \(limit)")
            let events = try await surfaces.installationEvents(limit: limit)
            #expect(events.map(\.installation) == places.sorted().map { phones[$0] }, "limit \(limit)")
        }
        for (place, surface) in stored.enumerated() {
            #expect(try await surfaces.finish(surface, on: [phones[place]], at: 20 + Int64(place)))
        }
        for (limit, places) in Self.turns {
            let due = try await surfaces.dueSessions(at: 30, limit: limit)
            #expect(due.map(\.surface.number) == places.sorted().map { stored[$0].number }, "limit \(limit)")
        }
        let early = try await surfaces.dueSessions(at: 22, limit: 2)
        #expect(early.map(\.surface.number) == [stored[0].number, stored[2].number])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `the longest waiting are first among more apps than the limit`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        for number in 1...4 {
            try await outbox.surfaces.putNew(.numbered(number, app: "app \(number)"), at: 20 - Int64(number))
        }
        let found = try await outbox.surfaces.unfinishedSurfaces(limit: 2)
        #expect(found.map(\.surface.app) == ["app 4", "app 3"])
        await outbox.close(isInOrder: true)
    }
}
