// SPDX-License-Identifier: Apache-2.0

import MartletOutbox
import OutboxModel
import TestSupport
import Testing

@testable import MartletRelay

/// Changes of a phone's user while pushes are sent slowly; `make simulate SEED=n` replays one.
@Suite(.timeLimit(.minutes(SeededWorlds.timeLimit))) struct OwnerChangeTests {
    @Test func `with a file, no former user gets a push after the answer`() async throws {
        let scratch = try ScratchDirectory()
        let options = SQLiteOutbox.Options(durability: .relaxed)
        let outbox = try await SQLiteOutbox(file: scratch.path + "/relay.sqlite", options: options)
        let worlds = SeededWorlds("changes of users with a file", count: 60, costing: 10)
        let violations = await worlds.violations { seed, tell in
            var world = OwnerChangeWorld(seed: seed, over: outbox, tell: tell)
            try await world.run()
            #expect(world.sentCount > 0)
        }
        #expect(violations == [])
        await outbox.close(isInOrder: true)
    }

    @Test func `with a database, no former user gets a later push`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let address = server.address(of: try await server.makeDatabase())
        try await OutboxSchema.create(in: address)
        let options = PostgreSQLOutbox.Options(lease: .seconds(3_600))
        let outbox = try await PostgreSQLOutbox(address: address, options: options)
        let worlds = SeededWorlds("changes of users with a database", count: 10, costing: 30)
        let violations = await worlds.violations { seed, tell in
            var world = OwnerChangeWorld(seed: seed, over: outbox, tell: tell)
            try await world.run()
        }
        #expect(violations == [])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: OwnerChangeWorld.Fault.allCases)
    func `the simulation finds a planted fault`(fault: OwnerChangeWorld.Fault) async throws {
        let outbox = ModelOutbox(on: ModelOutbox.Disk(), limit: 10_000)
        try await expectViolation(over: outbox, fault)
    }

    @Test func `the simulation finds pushes whose users claims do not check`() async throws {
        try await expectViolation(over: FaultyOutbox(.sendsToFormerUsers), nil)
    }

    private func expectViolation(over outbox: any OutboxStore, _ fault: OwnerChangeWorld.Fault?) async throws {
        let isFound = try await SeededWorlds.hasViolation(OwnerChangeWorld.Violation.self, seeds: 300) { seed in
            var world = OwnerChangeWorld(seed: seed, over: outbox, fault: fault)
            try await world.run()
        }
        #expect(isFound)
    }
}
