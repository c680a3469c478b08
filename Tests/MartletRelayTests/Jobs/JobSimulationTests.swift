// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletOutbox
import OutboxModel
import TestSupport
import Testing

@testable import MartletRelay

/// Jobs, with phones that change and relays that are killed, each from its own seed; `make simulate SEED=n` replays
/// one.
@Suite(.timeLimit(.minutes(SeededWorlds.timeLimit))) struct JobSimulationTests {
    private let app: RelayConfiguration.App

    init() throws {
        app = RelayConfiguration.App(name: "orders", bundleIDs: ["com.example.orders"], key: try .ephemeral())
    }

    @Test func `each phone of a job has one outcome, whatever fails`() async throws {
        let violations = await SeededWorlds("jobs", count: 300).violations { seed, tell in
            let disk = ModelOutbox.Disk()
            var world = JobWorld(
                seed: seed,
                app: app,
                over: ModelOutbox(on: disk, limit: 1_000),
                reopen: { ModelOutbox(on: disk, limit: 1_000) },
                tell: tell
            )
            try await world.run()
        }
        #expect(violations == [])
    }

    @Test func `with a file, each phone of a job has one outcome`() async throws {
        let scratch = try ScratchDirectory()
        func open() async throws -> any OutboxStore {
            try await SQLiteOutbox(file: scratch.path + "/relay.sqlite", options: .init(durability: .relaxed))
        }
        var outbox = try await open()
        let violations = await SeededWorlds("jobs with a file", count: 30, costing: 10).violations { seed, tell in
            var world = JobWorld(seed: seed, app: app, over: outbox, reopen: open, tell: tell)
            defer { outbox = world.outbox }
            try await world.run()
        }
        #expect(violations == [])
        await outbox.close(isInOrder: true)
    }

    @Test func `with a database, each phone of a job has one outcome`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let address = server.address(of: try await server.makeDatabase())
        try await OutboxSchema.create(in: address)
        let options = PostgreSQLOutbox.Options(lease: .seconds(3_600))
        let outbox = try await PostgreSQLOutbox(address: address, options: options)
        let worlds = SeededWorlds("jobs with a database", count: 10, costing: 30)
        let violations = await worlds.violations { seed, tell in
            var world = JobWorld(seed: seed, app: app, over: outbox, tell: tell)
            try await world.run()
        }
        #expect(violations == [])
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: JobWorld.Fault.allCases)
    func `the simulation finds a planted fault`(fault: JobWorld.Fault) async throws {
        try await expectViolation(fault) { ModelOutbox(on: ModelOutbox.Disk(), limit: 1_000) }
    }

    @Test func `the simulation finds pushes to former users`() async throws {
        try await expectViolation(nil) { FaultyOutbox(.sendsToFormerUsers) }
    }

    private func expectViolation(_ fault: JobWorld.Fault?, over make: () -> any OutboxStore) async throws {
        let isFound = try await SeededWorlds.hasViolation(JobWorld.Violation.self, seeds: 3_000) { seed in
            var world = JobWorld(seed: seed, app: app, over: make(), fault: fault)
            try await world.run()
        }
        #expect(isFound)
    }
}
