// SPDX-License-Identifier: Apache-2.0

import MartletOutbox
import TestSupport
import Testing

/// Phones that change users, with relays whose clocks differ and are corrected, each from its own seed; `make simulate
/// SEED=n` replays one.
@Suite(.timeLimit(.minutes(SeededWorlds.timeLimit))) struct InstallationSimulationTests {
    @Test func `no push reaches a former user, whatever the clocks show`() async throws {
        let scratch = try ScratchDirectory()
        let options = SQLiteOutbox.Options(durability: .relaxed)
        let outbox = try await SQLiteOutbox(file: scratch.path + "/relay.sqlite", options: options)
        // Only one process can use the file, so the relays share what holds it.
        let relays = try (0..<2).map { _ in try InstallationWorld.Relay(over: outbox) }
        let violations = await SeededWorlds("phones that change users", count: 300).violations { seed, tell in
            var world = InstallationWorld(seed: seed, relays, tell: tell)
            try await world.run()
        }
        #expect(violations == [])
        await outbox.close(isInOrder: true)
    }

    @Test func `no push reaches a former user of relays that share a database`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let address = server.address(of: try await server.makeDatabase())
        try await OutboxSchema.create(in: address)
        var outboxes: [PostgreSQLOutbox] = []
        for name in ["one", "two"] {
            let options = PostgreSQLOutbox.Options(lease: .seconds(3_600), name: name)
            let outbox = try await PostgreSQLOutbox(address: address, options: options)
            outboxes.append(outbox)
        }
        let relays = try outboxes.map { try InstallationWorld.Relay(over: $0) }
        let worlds = SeededWorlds("phones of users with two relays", count: 30, costing: 10)
        let violations = await worlds.violations { seed, tell in
            var world = InstallationWorld(seed: seed, relays, tell: tell)
            try await world.run()
        }
        #expect(violations == [])
        for outbox in outboxes { await outbox.close(isInOrder: true) }
    }

    @Test(arguments: FaultyOutbox.Fault.allCases)
    func `the simulation finds a planted fault`(fault: FaultyOutbox.Fault) async throws {
        let outbox = FaultyOutbox(fault)
        let relays = try (0..<2).map { _ in try InstallationWorld.Relay(over: outbox) }
        let isFound = try await SeededWorlds.hasViolation(InstallationWorld.Violation.self, seeds: 3_000) { seed in
            var world = InstallationWorld(seed: seed, relays)
            try await world.run()
        }
        #expect(isFound)
    }
}
